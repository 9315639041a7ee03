package main

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsSaidBesideAScreenIsSaidBehindIt(t *testing.T) {
	var out bytes.Buffer
	h := &heldBack{to: &out}
	fmt.Fprintln(h, "before")
	h.hold()
	for i := range heldLines + 3 {
		fmt.Fprintln(h, "line", i)
	}
	require.Equal(t, "before\n", out.String())
	require.NoError(t, h.release())
	require.Equal(t, heldLines+2, strings.Count(out.String(), "\n"))
	require.True(t, strings.HasPrefix(out.String(), "before\nsteno: warning: 3 lines before these were left out\nline 3\n"))
	require.True(t, strings.HasSuffix(out.String(), "\nline 202\n"))
	fmt.Fprintln(h, "behind")
	require.True(t, strings.HasSuffix(out.String(), "\nbehind\n"))

	h = &heldBack{to: full{}}
	h.hold()
	fmt.Fprintln(h, "line")
	require.ErrorIs(t, h.release(), syscall.ENOSPC)
}
