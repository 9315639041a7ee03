package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
)

// A command whose reader goes away gives the directory back as any other does.
func TestOutputThatNobodyReadsEndsTheCommandInOrder(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("goose-1.37.0.json"))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	cmd := stenoCommand(t.Context(), "show", "--json", "--data", data)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &errs
	require.Error(t, cmd.Run())
	require.NoError(t, write.Close())
	require.Equal(t, exitPipe, cmd.ProcessState.ExitCode(), errs.String())
	require.Empty(t, errs.String())
	require.True(t, holder.Dir(data).Left(), "it has left, and was not killed")
}
