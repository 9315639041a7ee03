package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/postgres"
	"github.com/steno-io/steno/sink/postgres/pgtest"
	"github.com/steno-io/steno/sink/rebuild"
	"github.com/steno-io/steno/sink/sqlite"
)

// rows gives all that a ledger holds, by what it is of. added: with when transcripts were added.
func rows(t *testing.T, l ledger, added bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	put := func(name string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out[name] = string(text)
	}
	infos, err := l.Captures(minute(t), "", 1000)
	require.NoError(t, err)
	for _, c := range infos {
		c.ID = 0 // the ledger's own
		put("capture "+c.Capture.Capture.String(), c)
	}
	list, err := l.Transcripts(minute(t), sink.Query{})
	require.NoError(t, err)
	for _, s := range list.Transcripts {
		if !added {
			s.AddedAt = time.Time{}
			if s.LastAt.IsZero() {
				s.IdleSince = time.Time{}
			}
		}
		put("transcript "+s.Key, s)
		for e, err := range l.Events(minute(t), s.Transcript, 0, 0) {
			require.NoError(t, err)
			out[fmt.Sprintf("event %s#%d", s.Key, e.Seq)] = string(e.Bytes)
		}
	}
	for _, text := range []string{"the", "permission dialog", "orders", "sacks", "changelog.md"} {
		var found []string
		for q := (sink.SearchQuery{Text: text, Limit: sink.MaxHits}); ; {
			page, err := l.Search(minute(t), q)
			require.NoError(t, err)
			require.Zero(t, page.Indexing.Behind, "all of it is in the search")
			for _, h := range page.Hits {
				found = append(found, fmt.Sprint(h.Summary.Key, "#", h.Seq, h.At, h.Kind, h.Role, h.Tool, h.Snippet))
			}
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		slices.Sort(found)
		put("search "+text, found)
	}
	return out
}

// rowsOf gives what the ledger of a data directory holds.
func rowsOf(t *testing.T, data string, added bool) map[string]string {
	t.Helper()
	l, err := sqlite.Open(holder.Dir(data).Ledger(), sqlite.Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return rows(t, l, added)
}

// loseLedger takes the ledger of a data directory away.
func loseLedger(t *testing.T, data string) {
	t.Helper()
	files, err := filepath.Glob(holder.Dir(data).Ledger() + "*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		require.NoError(t, os.Remove(f))
	}
}

// alone works on the streams of a data directory.
func alone(t *testing.T, data string, do func(ctx context.Context, h holder.Held)) {
	t.Helper()
	o := holder.Options{Dir: holder.Dir(data), Kind: holder.Command, Catalogue: protocols(), SyncInterval: time.Second, Log: zerolog.Nop()}
	require.NoError(t, holder.Alone(minute(t), o, func(ctx context.Context, h holder.Held) error {
		do(ctx, h)
		return nil
	}))
}

// purgeSealed purges from the streams what the archive has of each capture, but the last message of each
// subject.
func purgeSealed(t *testing.T, data, place string) {
	t.Helper()
	store, err := archive.OpenDir(place, false)
	require.NoError(t, err)
	sealed, err := archive.Open(t.Context(), store, nil)
	require.NoError(t, err)
	defer sealed.Close()
	infos, err := sealed.Captures(t.Context(), "", 1000)
	require.NoError(t, err)
	alone(t, data, func(ctx context.Context, h holder.Held) {
		for _, c := range infos {
			id, last := c.Capture.Capture, c.Last.Frame
			purge(ctx, t, h.JS, topology.Events, schema.EventSubject(id, h.Info.Partitions), func(m topology.Message) bool {
				r, err := schema.RecordFromHeader(m.Header)
				require.NoError(t, err)
				return r.Last.Frame <= last
			})
			purge(ctx, t, h.JS, topology.Raw, schema.RawSubject(id, h.Info.Partitions), func(m topology.Message) bool {
				f, err := schema.FrameFromHeader(m.Header, nil)
				require.NoError(t, err)
				return f.Seq <= last
			})
		}
	})
}

func purge(ctx context.Context, t *testing.T, js jetstream.JetStream, name, subject string, covered func(topology.Message) bool) {
	t.Helper()
	stream, err := js.Stream(ctx, name)
	require.NoError(t, err)
	var first uint64 // that stays
	last := uint64(0)
	for m, err := range topology.Read(ctx, js, name, subject, 1) {
		require.NoError(t, err)
		last = m.Seq
		if first == 0 && !covered(m) {
			first = m.Seq
		}
	}
	if first == 0 {
		first = last
	}
	require.NoError(t, stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(first)))
}

// TestALostLedgerIsRebuilt loses a ledger, with the streams whole and with what is sealed purged from them, and
// has it made again, in SQLite and in PostgreSQL.
func TestALostLedgerIsRebuilt(t *testing.T) {
	t.Parallel()
	data, place := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	in := func(args ...string) (stdout, stderr string, code int) {
		return steno(t, append(args, "--data", data, "--sync", "1s")...)
	}
	good := func(args ...string) string {
		stdout, stderr, code := in(args...)
		require.Zero(t, code, "%v: %s%s", args, stdout, stderr)
		return stdout
	}
	const open, tapped = "half", "01932f5e-0000-7000-8000-000000000001"
	good("import", recording("codex-acp-0.16.0.json"), recording("gemini-cli-0.46.0.json"), recording("a2a-go-2.4.0.jsonl"))
	_, _, code := in("import", "--run", open, halfOf(t, "testdata/sacks.jsonl", 9))
	require.Equal(t, exitRuntime, code, "it breaks off in the middle of a turn")
	good("import", "--run", tapped, "testdata/sacks.jsonl")
	good("seal", "--all", "--archive", place)
	good("close", "default/import/"+open+"/0/1")                  // goes on behind its seal
	good("import", "--workflow", "later", "testdata/sacks.jsonl") // is in no archive

	l, err := sqlite.Open(holder.Dir(data).Ledger(), sqlite.Options{})
	require.NoError(t, err)
	for n := 1; n > 0; { // what the holders had no time for
		n, err = l.Index(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, l.Close())
	want, plain := rowsOf(t, data, true), rowsOf(t, data, false)
	require.Greater(t, len(want), 100)

	stdout, stderr, code := in("rebuild", "--archive", place)
	require.Equal(t, exitConfig, code, stdout)
	require.Contains(t, stderr, "the ledger is not empty: 6 captures")
	require.Contains(t, stderr, "ledger.db away")

	loseLedger(t, data)
	said := good("rebuild", "--archive", place)
	require.Contains(t, said, "rebuilt: 6 captures, ")
	require.Contains(t, said, " events, 0 of them from 5 seals")
	require.Equal(t, want, rowsOf(t, data, true), "what the streams have whole is as it was")

	purgeSealed(t, data, place)
	loseLedger(t, data)
	var report struct{ Incomplete []string }
	text := good("rebuild", "--archive", place, "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	require.Empty(t, report.Incomplete)
	require.NotContains(t, text, `"sealed_events":0`)
	got := rowsOf(t, data, true)
	tappedKey := "transcript default/import/" + tapped + "/0/1/0"
	require.Equal(t, want[tappedKey], got[tappedKey], "what a tap records is as old as its frames")
	require.Equal(t, plain, rowsOf(t, data, false))

	database := pgtest.Database(t)
	alone(t, data, func(ctx context.Context, h holder.Held) {
		l, err := postgres.Open(ctx, database, postgres.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, l.Close()) }()
		store, err := archive.OpenDir(place, false)
		require.NoError(t, err)
		o := rebuild.Options{
			Archive: store, Check: archive.CheckOptions{NewFold: newFold}, Ledger: l, JS: h.JS, Info: h.Info, Log: zerolog.Nop(),
		}
		result, err := rebuild.Run(ctx, o)
		require.NoError(t, err)
		require.Empty(t, result.Parked)
		require.Positive(t, result.Sealed)
		require.Equal(t, plain, rows(t, l, false))
		_, err = rebuild.Run(ctx, o)
		require.ErrorIs(t, err, rebuild.ErrNotEmpty)
	})

	// The streams are lost as well: what is in the archive is there again.
	elsewhere := natstest.Start(t)
	args := []string{"rebuild", "--archive", place, "--nats", elsewhere.URL(), "--ledger", pgtest.Database(t)}
	stdout, stderr, code = steno(t, args...)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "rebuilt: 5 captures, ")
	sealed, err := postgres.Open(t.Context(), args[len(args)-1], postgres.Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, sealed.Close()) }()
	for name, row := range rows(t, sealed, false) {
		if strings.HasPrefix(name, "event ") || !strings.HasPrefix(name, "search ") && !strings.Contains(name, open) {
			require.Equal(t, plain[name], row)
		}
	}
	_, stderr, code = steno(t, args...)
	require.Equal(t, exitConfig, code)
	require.Contains(t, stderr, "name another database")

	// An archive that does not go far enough.
	require.NoError(t, os.RemoveAll(filepath.Join(place, "default", "import", open)))
	loseLedger(t, data)
	stdout, _, code = in("rebuild", "--archive", place)
	require.Equal(t, exitChanged, code)
	require.Contains(t, stdout, "/half/0-1/seal-")
	require.Contains(t, stdout, "it is missing: entry")
	require.Contains(t, stdout, "not whole: default/import/half/0/1: session ")
	require.Contains(t, stdout, "not wholly rebuilt: ")
}
