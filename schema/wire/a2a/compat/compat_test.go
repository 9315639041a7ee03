package compat_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// rewriter is one of the package's functions on bytes.
type rewriter func([]byte) ([]byte, error)

func responseUp(method string) rewriter {
	return func(body []byte) ([]byte, error) { return compat.ResponseUp(method, body) }
}

func responseDown(method string) rewriter {
	return func(body []byte) ([]byte, error) { return compat.ResponseDown(method, body) }
}

// must rewrites text, and checks what holds of every rewriting: the input is not written to, and
// rewriting again changes nothing.
func must(t require.TestingT, f rewriter, text string) string {
	body := []byte(text)
	got, err := f(body)
	require.NoError(t, err, text)
	require.Equal(t, text, string(body), "the input was written to")
	require.True(t, json.Valid(got), "%s", got)
	once := string(got)
	again, err := f(got)
	require.NoError(t, err)
	require.Equal(t, once, string(again), "rewriting again")
	return once
}

// canonical is a JSON text with sorted keys and the numbers' text as written.
func canonical(t require.TestingT, text string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), text)
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func same(t require.TestingT, want, got string) {
	require.Equal(t, canonical(t, want), canonical(t, got))
}

// pair is one meaning in both versions.
type pair struct{ name, method, v03, v10 string }

// check rewrites in both directions.
func (p pair) check(t *testing.T, up, down rewriter) {
	t.Helper()
	same(t, p.v10, must(t, up, p.v03))
	same(t, p.v03, must(t, down, p.v10))
}
