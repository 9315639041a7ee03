package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// TestSealedByItself: an up seals what has ended, and what is given back then is read out of the archive by
// every command, which finds it without being told where it is.
func TestSealedByItself(t *testing.T) {
	t.Parallel()
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	said := ok(t, "doctor", "--data", data, "--archive", t.TempDir(), "--json")
	require.Contains(t, said, `"captures":1,"unsealed":1,"behind":0,"frames_unsealed":23}`)
	reads := [][]string{
		{"show", "Sacks"}, {"show", "Sacks", "--json"}, {"replay", "Sacks", "--idle-limit", "1ms"}, {"export", "Sacks", "--frames"},
		{"verify"},
	}
	before := make([]string, len(reads))
	for i, args := range reads {
		before[i] = ok(t, append(args, "--data", data)...)
	}

	up := startUp(t, data, "--archive", place, "--seal-idle", "1s")
	require.Eventually(t, func() bool {
		notes, err := filepath.Glob(filepath.Join(place, "*", "*", "*", "*", "seal-*.note")) // which come last
		return err == nil && len(notes) > 0
	}, time.Minute, 50*time.Millisecond)
	require.Contains(t, ok(t, "verify", place), "verified: 1 seal of 1 capture, 23 frames, 28 events, 0 unaccounted")
	require.Contains(t, ok(t, "doctor", "--data", data, "--archive", place, "--json"), `"captures":1,"unsealed":0,"behind":0,"frames_unsealed":0}`)

	giveBack(t, data, place)
	for i, args := range reads {
		require.Equal(t, before[i], ok(t, append(args, "--data", data)...), args)
	}
	require.Contains(t, ok(t, "doctor", "--data", data, "--json"), `"problems":[]`)
	_, stderr, code := steno(t, "export", "Sacks", "--frames", "--data", data, "--archive", t.TempDir())
	require.Equal(t, exitRuntime, code)
	require.Contains(t, stderr, "they were archived and given back")
	require.Equal(t, exitOK, up.stop(t))
}

// giveBack takes the frames of the only capture away but for the last, as the keeper does once they are old.
func giveBack(t *testing.T, data, place string) {
	t.Helper()
	client, err := holder.Dir(data).Connect(minute(t), "test")
	require.NoError(t, err)
	defer client.Close()
	js, err := jetstream.New(client.Conn)
	require.NoError(t, err)
	var last topology.Message
	for m, err := range topology.Read(minute(t), js, topology.Raw, schema.RawSubjects, 1) {
		require.NoError(t, err)
		last = m
	}
	_, id, err := schema.ParseSubject(last.Subject)
	require.NoError(t, err)
	require.NoError(t, topology.WriteReturned(minute(t), js, id, topology.Returned{Frame: 22, Archive: place}))
	require.NoError(t, topology.Purge(minute(t), js, topology.Raw, last.Subject, last.Seq, func(topology.Message) error { return nil }))
}

// TestTheArchiveThatHasThem is the one that the frames were given back to, before the one that is sealed into now.
func TestTheArchiveThatHasThem(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	first, now := t.TempDir(), t.TempDir()
	r := &archives{js: func() jetstream.JetStream { return s.JS }}
	_, err := r.open(minute(t), id)
	require.ErrorContains(t, err, "nothing says which archive has them")
	r.otherwise = now
	store, err := r.open(minute(t), id)
	require.NoError(t, err)
	require.Equal(t, now, store.String())
	require.NoError(t, topology.WriteReturned(minute(t), s.JS, id, topology.Returned{Frame: 9, Archive: first}))
	store, err = r.open(minute(t), id)
	require.NoError(t, err)
	require.Equal(t, first, store.String())

	require.NoError(t, os.Remove(first))
	r.opened = nil
	store, err = r.open(minute(t), id)
	require.NoError(t, err)
	require.Equal(t, now, store.String(), "it is not there, and was perhaps moved")
	r.otherwise, r.opened = "", nil
	_, err = r.open(minute(t), id)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotErrorIs(t, err, topology.ErrAway, "which asking again does not mend")
	require.NoError(t, os.WriteFile(first, []byte("neither"), 0o600))
	_, err = r.open(minute(t), id)
	require.ErrorContains(t, err, "is neither an archive's directory nor a bundle")
	require.NotErrorIs(t, err, topology.ErrAway)
}

func TestKeepSaysWhatItNeeds(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"up --give-back 24h", "nothing is given back that is not sealed: give --archive"},
		{"up --archive x --give-back 1m", "--give-back 1m0s: want at least 1h0m0s, or 0"},
		{"up --archive x --seal-idle -1s", "want more than 0"},
		{"up --archive x --give-back soon", "want how long, such as 30d or 720h"},
		{"up --archive x --give-back 0.01d", "want at least 1h0m0s, or 0"},
		{"up --give-back 30d", "nothing is given back that is not sealed: give --archive"},
		{"up --drop-sealed 180d", "--drop-sealed: nothing is dropped that is not sealed: give --archive"},
		{"up --archive x --drop-sealed 1m", "--drop-sealed 1m0s: want at least 1h0m0s, or 0"},
		{"up --archive x --drop-sealed soon", "want how long, such as 180d or 720h"},
		{"up --seal-idle 1m", "it is for --archive"},
		{"up --signing-key x", "--signing-key: it is for --archive"},
		{"up --object-lock 30d", "--object-lock: it is for --archive"},
		{"up --object-lock-mode compliance", "--object-lock-mode: it is for --archive"},
		{"up --legal-hold", "--legal-hold: it is for --archive"},
		{"worker sink --nats nats://127.0.0.1:1 --ledger postgres://x --archive x", "all sinks need the same --signing-key"},
	} {
		_, stderr, code := steno(t, strings.Fields(tt.args)...)
		require.Equal(t, exitUsage, code, "%s: %s", tt.args, stderr)
		require.Contains(t, stderr, tt.says, tt.args)
	}
}
