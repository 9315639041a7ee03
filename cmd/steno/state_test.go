package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/translatetest"
)

func TestBundledRecordingsHaveTheProperties(t *testing.T) {
	all, err := benchRecordings()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			tr, err := protocols().ByProtocol(r.Protocol)
			require.NoError(t, err)
			translatetest.Properties(t, tr, r.Frames)
		})
	}
}

// BenchmarkState saves and restores captures that have folded the bundled recordings.
func BenchmarkState(b *testing.B) {
	all, err := benchRecordings()
	require.NoError(b, err)
	for _, r := range all {
		id := schema.Identity{Namespace: "bench", Workflow: "state", Run: "0", Attempt: 1}
		capture := translate.NewCapture(id, protocols(), "")
		for i := range r.Frames {
			_, err := capture.Step(nil, &r.Frames[i])
			require.NoError(b, err)
		}
		b.Run("save/"+r.Name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = capture.AppendState(dst[:0])
			}
			b.ReportMetric(float64(len(dst)), "bytes")
		})
		b.Run("restore/"+r.Name, func(b *testing.B) {
			b.ReportAllocs()
			state := capture.AppendState(nil)
			for b.Loop() {
				if _, err := translate.RestoreCapture(id, protocols(), state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
