package main

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// TestSealingReadsUpToWhatIsNoFrame has a stream with an odd control frame and, behind all, a message that is no
// frame: what is before it can be sealed, from any frame on.
func TestSealingReadsUpToWhatIsNoFrame(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	id := schema.Identity{Namespace: "default", Workflow: "support", Run: "run-7", Attempt: 1}
	var frames []schema.Frame
	for i, payload := range []string{`{"protocol":"acp"}`, "no JSON", `{"protocol":"a2a"}`} {
		frames = append(frames, schema.Frame{
			At: time.Unix(int64(i), 0).UTC(), From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone,
			Data: []byte(payload), Writer: schema.Writer{Offset: uint64(i) + 1},
		})
	}
	store(t, s, id, frames...)
	for _, header := range []nats.Header{{schema.HeaderSeq: {"4"}, schema.HeaderType: {"tomorrow"}}, {}} {
		_, err := s.JS.PublishMsg(minute(t), &nats.Msg{Subject: schema.RawSubject(id, s.Info.Partitions), Header: header, Data: []byte("x")})
		require.NoError(t, err)
	}
	blobs, err := topology.OpenBlobs(minute(t), s.JS)
	require.NoError(t, err)
	source := topology.Frames{JS: s.JS, Blobs: blobs, Partitions: s.Info.Partitions}
	for first := range uint64(len(frames)) {
		var read []string
		var failed error
		for f, err := range source.Frames(minute(t), id, first+1) {
			if failed = err; err == nil {
				require.Equal(t, first+uint64(len(read))+1, f.Seq)
				read = append(read, string(f.Data))
			}
		}
		require.Error(t, failed)
		require.Len(t, read, len(frames)-int(first))
		require.Equal(t, string(frames[2].Data), read[len(read)-1])
	}
}
