package holder

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// A stream that lost the frames of a journal which is marked as stored gets them again from the next
// holder; one that did not lose any keeps its mark.
func TestWhatAStreamLostIsGivenAgain(t *testing.T) {
	server := natstest.Start(t)
	dir := Dir(t.TempDir())
	lost, kept := record(t, dir, server.URL(), true, hello, hello), record(t, dir, server.URL(), true, hello)
	frames := func(h journal.Head) (texts []string) {
		subject := schema.RawSubject(h.Identity, server.Info.Partitions)
		for m, err := range topology.Read(within(t), server.JS, topology.Raw, subject, 1) {
			require.NoError(t, err)
			texts = append(texts, string(m.Data))
		}
		return texts
	}
	mark := func(h journal.Head) journal.Mark {
		m, err := journal.ReadMark(dir.Journals(), h.ID)
		if err != nil {
			return journal.Mark{}
		}
		return m
	}
	first := start(t, options(t, dir, Up))
	require.Eventually(t, func() bool { return mark(lost).Done && mark(kept).Done }, 30*time.Second, 20*time.Millisecond)
	first.end(t)
	before, stays := frames(lost), mark(kept)
	require.Len(t, before, 4)

	stream, err := server.JS.Stream(within(t), topology.Raw)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(within(t), jetstream.WithPurgeSubject(schema.RawSubject(lost.Identity, server.Info.Partitions))))
	start(t, options(t, dir, Up))
	require.Eventually(t, func() bool { return len(frames(lost)) == 4 && mark(lost).Done }, 30*time.Second, 20*time.Millisecond)
	require.Equal(t, before, frames(lost))
	require.Equal(t, stays, mark(kept))
}
