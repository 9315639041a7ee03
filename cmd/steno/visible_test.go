package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatATerminalShowsOfAnError(t *testing.T) {
	cause := errors.New("told\x1b[2J\n\u202esteno: all is well")
	err := fmt.Errorf("run: %w", visible{cause})
	require.Equal(t, "run: told␛[2J ⟨U+202E⟩steno: all is well", err.Error())
	require.ErrorIs(t, err, cause)
}

func TestEscapedJSONSaysTheSame(t *testing.T) {
	text := "café 😀 👩\u200d🌾 \x7f\u0085\u009b2J \u202e\u2066 \U000e0041 \ufeff"
	whole, err := json.Marshal(text)
	require.NoError(t, err)
	got := escaped(append(whole, '\n'))
	require.Equal(t, `"café 😀 👩`+"\u200d"+`🌾 \u007f\u0085\u009b2J \u202e\u2066 \udb40\udc41 \ufeff"`+"\n", string(got))
	var same string
	require.NoError(t, json.Unmarshal(got, &same))
	require.Equal(t, text, same)
}
