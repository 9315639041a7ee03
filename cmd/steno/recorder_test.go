package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// passing is a recorder over a directory in which no journal can be made before open is called.
func passing(t *testing.T) (r *recorder, said *strings.Builder, open func(), close func() []schema.GapInfo) {
	t.Helper()
	data := t.TempDir()
	journals := holder.Dir(data).Journals()
	require.NoError(t, os.WriteFile(journals, nil, 0o600)) // a file in the directory's place
	said = &strings.Builder{}
	a := &app{stdio: stdio{err: said}, data: data}
	f := &proxyFlags{upstream: "http://x", namespace: "default", whenFull: "pass", journalMax: journal.DefaultMax}
	head, err := a.proxyHead(f)
	require.NoError(t, err)
	series, err := a.proxySeries(f, head, t.Context())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer func() { done <- struct{}{} }(); series.Run(ctx) }()
	return &recorder{app: a, series: series, pass: true}, said,
		func() { require.NoError(t, os.Remove(journals)) },
		func() (gaps []schema.GapInfo) {
			stop()
			<-done
			files, err := filepath.Glob(journals + "/*.journal")
			require.NoError(t, err)
			for _, path := range files {
				j, err := journal.Open(path)
				require.NoError(t, err)
				for {
					e, err := j.Next(t.Context())
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
					if e.Type == schema.TypeGap {
						var g schema.GapInfo
						require.NoError(t, json.Unmarshal(e.Data, &g))
						gaps = append(gaps, g)
					}
				}
				require.NoError(t, j.Close())
			}
			return gaps
		}
}

// TestWhatPassedUnrecordedIsOneGap, said once when it begins and once when it ends.
func TestWhatPassedUnrecordedIsOneGap(t *testing.T) {
	r, said, open, end := passing(t)
	require.NoError(t, r.try(t.Context()))
	for range 3 {
		j, done, err := r.Begin(t.Context())
		require.NoError(t, err)
		require.Nil(t, j)
		require.Nil(t, done)
	}
	require.Equal(t, 1, strings.Count(said.String(), "NOT RECORDING: "))
	open()
	for range 2 {
		j, done, err := r.Begin(t.Context())
		require.NoError(t, err)
		require.NotNil(t, j)
		done()
	}
	require.Equal(t, 1, strings.Count(said.String(), "recording again; 3 exchanges passed unrecorded\n"))
	r.settle(t.Context())
	gaps := end()
	require.Len(t, gaps, 1)
	require.EqualValues(t, 3, gaps[0].Chunks)
	require.Contains(t, gaps[0].Reason, "journal")
	require.Equal(t, 2, strings.Count(said.String(), "\n"))
}

// TestAtTheEndSomebodyHearsWhatPassedUnrecorded: a journal, if there is one to be had, or the operator.
func TestAtTheEndSomebodyHearsWhatPassedUnrecorded(t *testing.T) {
	for _, opened := range []bool{true, false} {
		r, said, open, end := passing(t)
		_, _, err := r.Begin(t.Context())
		require.NoError(t, err)
		if opened {
			open()
		}
		r.settle(t.Context())
		gaps := end()
		require.Equal(t, opened, len(gaps) == 1)
		require.Equal(t, !opened, strings.Contains(said.String(), "1 exchange passed unrecorded, and no journal says so"))
	}
}
