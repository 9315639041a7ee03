package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestTheDemoShowsBothProtocols(t *testing.T) {
	data := t.TempDir()
	text := ok(t, "demo", "--data", data, "--speed", "0")
	for _, said := range []string{"  Seven <b>open</b> orders in Łódź.\n", "[data · count 7, ids [1,2]]\n"} { // where the ledger lags, apart
		require.Contains(t, text, said)
	}
	require.Contains(t, text, "■ end of turn\n")
	require.Regexp(t, `\nverified: [\d,]+ frames, [\d,]+ events, 0 unaccounted\n$`, text)
	protocols := map[schema.Protocol]bool{}
	for _, s := range list(t, data) {
		protocols[s.Protocol] = true
	}
	require.Equal(t, map[schema.Protocol]bool{schema.ACP: true, schema.A2A: true}, protocols)
}
