package publish

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

func TestResumeAtEveryFrame(t *testing.T) {
	r := newRig(t)
	const n = 12
	for k := range n + 1 {
		id := capture
		id.Activity = 100 + uint64(k)
		at := func(o *AppenderOptions) { o.Identity, o.BatchFrom = id, 1+k%3 }
		require.NoError(t, r.appender(t, "j", at).Append(deadline(t), frames(n)[:k]))

		a := r.appender(t, "j", at)
		head, err := a.Resume(deadline(t))
		require.NoError(t, err)
		require.Equal(t, uint64(k), head.Frames)
		require.Equal(t, k > 0, head.Own)
		if k > 0 {
			require.Equal(t, uint64(start+k), head.Offset)
		}
		require.NoError(t, a.Append(deadline(t), frames(n)), "from the beginning again")
		require.Equal(t, numbers("j", n), texts(r.stored(t, id)))
	}
}

func TestResumeBehindAnotherJournal(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(3)))
	require.NoError(t, r.appender(t, "operator").Append(deadline(t), frames(1)))
	a := r.appender(t, "j")
	head, err := a.Resume(deadline(t))
	require.NoError(t, err)
	require.True(t, head.Own)
	require.True(t, head.Foreign)
	require.Equal(t, uint64(start+3), head.Offset)
	require.Equal(t, uint64(4), head.Frames)
	require.NoError(t, a.Append(deadline(t), frames(5)))
	require.Equal(t, []string{"j:1", "j:2", "j:3", "operator:1", "j:4", "j:5"}, texts(r.stored(t, capture)))
}

func TestExclusive(t *testing.T) {
	r := newRig(t)
	exclusive := func(o *AppenderOptions) { o.Exclusive = true }
	require.NoError(t, r.appender(t, "first", exclusive).Append(deadline(t), frames(2)))

	err := r.appender(t, "second", exclusive).Append(deadline(t), frames(1))
	require.ErrorIs(t, err, ErrTaken)
	require.NoError(t, r.appender(t, "operator").Append(deadline(t), frames(1)))
	require.NoError(t, r.appender(t, "first", exclusive).Append(deadline(t), frames(3)), "who was there goes on")

	// The other journal comes between the look and the first append.
	id := capture
	id.Attempt = 2
	late := r.appender(t, "late", exclusive, func(o *AppenderOptions) { o.Identity = id })
	_, err = late.Resume(deadline(t))
	require.NoError(t, err)
	require.NoError(t, r.appender(t, "early", func(o *AppenderOptions) { o.Identity = id }).Append(deadline(t), frames(1)))
	require.ErrorIs(t, late.Append(deadline(t), frames(1)), ErrTaken)
	require.Equal(t, []string{"early:1"}, texts(r.stored(t, id)))
}

func TestStoredFramesAreGivenBack(t *testing.T) {
	r := newRig(t)
	in := frames(4)
	in[2].Data = make([]byte, schema.MaxInline+1)
	require.NoError(t, r.appender(t, "j").Append(deadline(t), in))
	require.NoError(t, r.appender(t, "operator").Append(deadline(t), frames(1)))

	var got []schema.Frame
	compare := func(o *AppenderOptions) {
		o.Stored = func(f schema.Frame) error { got = append(got, f); return nil }
	}
	_, err := r.appender(t, "j", compare).Resume(deadline(t))
	require.NoError(t, err)
	require.Len(t, got, 4)
	require.Equal(t, in[2].Data, got[2].Data)
	require.Equal(t, uint64(start+4), got[3].Writer.Offset)

	other := errors.New("other bytes")
	_, err = r.appender(t, "j", func(o *AppenderOptions) {
		o.Stored = func(f schema.Frame) error {
			if f.Seq == 2 {
				return other
			}
			return nil
		}
	}).Resume(deadline(t))
	require.ErrorIs(t, err, other)
	require.ErrorContains(t, err, "compare frame 2 of n/w/r/7/1")
}

func TestAppendAcrossARestart(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 20 })
	in := frames(300)
	done := make(chan error)
	go func() {
		for len(in) > 0 {
			n := min(len(in), 1+len(in)%30)
			if err := a.Append(deadline(t), in[:n]); err != nil {
				done <- err
				return
			}
			in = in[n:]
		}
		done <- nil
	}()
	for range 2 {
		r.Restart(t)
	}
	require.NoError(t, <-done)
	require.Equal(t, numbers("j", 300), texts(r.stored(t, capture)))
}

func TestAppendNoticesAReplacedStream(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j")
	require.NoError(t, a.Append(deadline(t), frames(3)))
	require.NoError(t, r.JS.DeleteStream(deadline(t), topology.Raw))
	_, err := topology.Apply(deadline(t), r.JS, topology.Config{})
	require.NoError(t, err)

	err = a.Append(deadline(t), frames(5))
	require.ErrorIs(t, err, ErrReplaced)
	require.Empty(t, r.stored(t, capture))
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(5)))
	require.Equal(t, numbers("j", 5), texts(r.stored(t, capture)))
}

func TestAppendRefusesADamagedSubject(t *testing.T) {
	r := newRig(t)
	subject := schema.RawSubject(capture, r.Info.Partitions)
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(1)))
	_, err := r.JS.Publish(deadline(t), subject, []byte("no frame"))
	require.NoError(t, err)
	_, err = r.appender(t, "j").Resume(deadline(t))
	require.ErrorIs(t, err, ErrSubject)

	id := capture
	id.Attempt = 9
	for _, seq := range []string{"1", "3"} {
		f := frames(1)[0]
		f.Seq, f.Salt, f.Chain, f.Writer.Journal = 1, strings.Repeat("0", 32), strings.Repeat("0", 64), "x"
		header := nats.Header(f.Header())
		header.Set(schema.HeaderSeq, seq)
		_, err = r.JS.PublishMsg(deadline(t), &nats.Msg{Subject: schema.RawSubject(id, r.Info.Partitions), Header: header})
		require.NoError(t, err)
	}
	_, err = r.appender(t, "j", func(o *AppenderOptions) { o.Identity = id }).Resume(deadline(t))
	require.ErrorIs(t, err, ErrSubject)
	require.ErrorContains(t, err, "number 3 behind number 1")
}

// After sealing only the last message is left, and it may be another's.
func TestResumeBehindASeal(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(4)))
	require.NoError(t, r.appender(t, "operator").Append(deadline(t), frames(1)))
	stream, err := r.JS.Stream(deadline(t), topology.Raw)
	require.NoError(t, err)
	subject := schema.RawSubject(capture, r.Info.Partitions)
	require.NoError(t, stream.Purge(deadline(t), jetstream.WithPurgeSubject(subject), jetstream.WithPurgeKeep(1)))

	a := r.appender(t, "j", func(o *AppenderOptions) { o.Mark = start + 4 })
	head, err := a.Resume(deadline(t))
	require.NoError(t, err)
	require.Equal(t, uint64(5), head.Frames)
	require.Equal(t, uint64(start+4), head.Offset)
	require.NoError(t, a.Append(deadline(t), frames(6)))
	m, ok, err := topology.Last(deadline(t), r.JS, topology.Raw, subject)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "7", m.Header.Get(schema.HeaderSeq))
	require.Equal(t, "6", string(m.Data))
}

// A mark that leads a stream that has its beginning is not believed.
func TestResumeBelievesTheStream(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.appender(t, "j").Append(deadline(t), frames(2)))
	a := r.appender(t, "j", func(o *AppenderOptions) { o.Mark = start + 90 })
	require.NoError(t, a.Append(deadline(t), frames(6)))
	require.Equal(t, numbers("j", 6), texts(r.stored(t, capture)))
}

func TestNewAppenderChecksItsOptions(t *testing.T) {
	for _, o := range []AppenderOptions{
		{Identity: schema.Identity{}, Journal: "j", Partitions: 1},
		{Identity: capture, Journal: "j:1", Partitions: 1},
		{Identity: capture, Journal: "j"},
	} {
		_, err := NewAppender(o)
		require.ErrorContains(t, err, "make appender", fmt.Sprintf("%+v", o))
	}
}
