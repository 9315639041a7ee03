package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

func TestAppendNumbersAndChains(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j")
	head, err := a.Resume(deadline(t))
	require.NoError(t, err)
	require.Equal(t, Head{}, head)

	in := frames(5)
	in[0].From, in[0].Type, in[0].End = schema.FromControl, schema.TypeOpen, schema.EndNone
	in[1].End = schema.EndNone
	in[2].Data = nil // an empty line
	in[3].Exchange, in[3].No, in[3].Chan, in[3].HTTP = "e1", 4, schema.ChanStream, []byte(`{"status":200}`)
	require.NoError(t, a.Append(deadline(t), in[:2]))
	require.NoError(t, a.Append(deadline(t), in[2:]))

	got := r.stored(t, capture)
	require.Len(t, got, 5)
	salts := map[string]bool{}
	for i, f := range got {
		require.Equal(t, schema.Writer{Journal: "j", Offset: start + uint64(i) + 1}, f.Writer)
		require.True(t, f.At.Equal(in[i].At))
		salts[f.Salt] = true
		want := in[i]
		want.Seq, want.At, want.Salt, want.Chain, want.Writer.Journal = f.Seq, f.At, f.Salt, f.Chain, "j"
		if len(want.Data) == 0 {
			want.Data = f.Data
			require.Empty(t, f.Data)
		}
		require.Equal(t, want, f)
	}
	require.Len(t, salts, 5)
	head = a.Head()
	require.Equal(t, uint64(5), head.Frames)
	require.Equal(t, uint64(start+5), head.Offset)
	require.Equal(t, got[4].Chain, head.Chain)
	require.False(t, head.Foreign)
}

func TestAppendInBatches(t *testing.T) {
	r := newRig(t)
	var sizes []int
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 10 })
	a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
		sizes = append(sizes, len(m))
		for i := range m {
			require.Equal(t, i == 0, m[i].Header.Get(jetstream.ExpectedLastSubjSeqHeader) != "", "the fence is on the first message")
		}
		return a.publish(ctx, m)
	}
	require.NoError(t, a.Append(deadline(t), frames(1009)))
	require.Equal(t, []int{500, 500, 1, 1, 1, 1, 1, 1, 1, 1, 1}, sizes)
	require.Equal(t, numbers("j", 1009), texts(r.stored(t, capture)))
}

func TestBatchesAreBoundedInBytes(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 2 })
	in := frames(12)
	for i := range in {
		in[i].Data = make([]byte, 500<<10)
	}
	require.Equal(t, 8, a.batch(in))
	in[0].Data = make([]byte, 64<<20) // goes to the blobs, one by one
	require.Equal(t, 9, a.batch(in))
	require.Equal(t, 1, a.batch(in[:1]))
}

// Every append fails twice: refused with nothing stored, and stored with the answer lost.
func TestAppendFails(t *testing.T) {
	failures := []struct {
		name string
		err  error
	}{
		{"timeout", context.DeadlineExceeded},
		{"no responders", jetstream.ErrNoStreamResponse},
		{"disk", &jetstream.APIError{Code: 503, ErrorCode: 10077, Description: "write error"}},
		{"busy", &jetstream.APIError{Code: 400, ErrorCode: 10164, Description: "wrong last sequence"}},
		{"batch abandoned", &jetstream.APIError{Code: 400, ErrorCode: 10176, Description: "batch is incomplete"}},
		{"too many batches", &jetstream.APIError{Code: 429, ErrorCode: 10210, Description: "too many inflight"}},
		{"fenced", &jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: 7"}},
	}
	for _, f := range failures {
		for _, batchFrom := range []int{1000, 2} {
			for _, lost := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/batch from %d/answer lost %t", f.name, batchFrom, lost), func(t *testing.T) {
					r := newRig(t)
					var heard int
					a := r.appender(t, "j", func(o *AppenderOptions) {
						o.BatchFrom, o.Retry = batchFrom, func(error) { heard++ }
					})
					calls := map[string]int{}
					a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
						// each append fails the first time that it is tried in this size
						key := fmt.Sprint(m[0].Header.Get("Steno-Seq"), "+", len(m))
						if calls[key]++; calls[key] > 1 {
							return a.publish(ctx, m)
						}
						if lost {
							_, err := a.publish(ctx, m)
							require.NoError(t, err)
						}
						return 0, f.err
					}
					in := frames(20)
					for from := 0; from < len(in); from += 4 {
						require.NoError(t, a.Append(deadline(t), in[from:from+4]))
					}
					require.Equal(t, numbers("j", 20), texts(r.stored(t, capture)))
					require.Equal(t, uint64(20), a.Head().Frames)
					if !lost && f.name != "too many batches" {
						require.Positive(t, heard)
					}
				})
			}
		}
	}
}

// A message may be stored after its writer looked for it and found nothing.
func TestAppendStoredLate(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 3 })
	var late []*nats.Msg
	a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
		if late == nil {
			late = m
			return 0, context.DeadlineExceeded
		}
		if late[0] != nil { // now it arrives, just before the second try
			_, err := a.publish(ctx, late)
			require.NoError(t, err)
			late = []*nats.Msg{nil}
		}
		return a.publish(ctx, m)
	}
	require.NoError(t, a.Append(deadline(t), frames(10)))
	require.Equal(t, numbers("j", 10), texts(r.stored(t, capture)))
}

// A cluster that has no time for batches takes single frames.
func TestAppendFallsBackWhereBatchesAreNotAnswered(t *testing.T) {
	r := newRig(t)
	var batches int
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 4 })
	a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
		if len(m) > 1 {
			batches++
			return 0, context.DeadlineExceeded
		}
		return a.publish(ctx, m)
	}
	require.NoError(t, a.Append(deadline(t), frames(100)))
	require.Equal(t, 1, batches)
	require.Equal(t, numbers("j", 100), texts(r.stored(t, capture)))
}

func TestAppendFallsBackWhileBatchesAreTaken(t *testing.T) {
	r := newRig(t)
	for i := range 50 { // as many as the server takes
		b, err := jetstreamext.NewBatchPublisher(r.JS)
		require.NoError(t, err)
		require.NoError(t, b.Add(fmt.Sprintf("steno.raw.1.n.w.other%d.0.1", i), nil))
	}
	var refused int
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 2 })
	a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
		seq, err := a.publish(ctx, m)
		if topology.Classify(err) == topology.TooMany {
			refused++
		}
		return seq, err
	}
	require.NoError(t, a.Append(deadline(t), frames(100)))
	require.Equal(t, 1, refused, "one refusal, then one by one")
	require.Equal(t, numbers("j", 100), texts(r.stored(t, capture)))
}

func TestTwoJournalsOnOneSubject(t *testing.T) {
	r := newRig(t)
	const each = 150
	var group sync.WaitGroup
	for i, journal := range []string{"a", "b"} {
		_, js := r.Connect(t)
		a := r.appender(t, journal, func(o *AppenderOptions) { o.JS, o.BatchFrom = js, 3+100*i })
		group.Go(func() {
			in := frames(each)
			for len(in) > 0 {
				n := min(len(in), 5)
				require.NoError(t, a.Append(deadline(t), in[:n]))
				in = in[n:]
			}
		})
	}
	group.Wait()
	got := map[string][]string{}
	all := r.stored(t, capture) // checks number order and chain
	for _, text := range texts(all) {
		journal, _, _ := strings.Cut(text, ":")
		got[journal] = append(got[journal], text)
	}
	require.Len(t, all, 2*each)
	require.Equal(t, numbers("a", each), got["a"])
	require.Equal(t, numbers("b", each), got["b"])
}

// A tap and the holder of the directory may publish the same journal at once.
func TestOneJournalPublishedTwice(t *testing.T) {
	r := newRig(t)
	var group sync.WaitGroup
	for i := range 3 {
		_, js := r.Connect(t)
		a := r.appender(t, "j", func(o *AppenderOptions) { o.JS, o.BatchFrom = js, 2+5*i })
		group.Go(func() {
			in := frames(300)
			for len(in) > 0 {
				n := min(len(in), 3+2*i)
				require.NoError(t, a.Append(deadline(t), in[:n]))
				in = in[n:]
			}
		})
	}
	group.Wait()
	require.Equal(t, numbers("j", 300), texts(r.stored(t, capture)))
}

func TestAppendLargeFrames(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 3 })
	in := frames(7)
	in[1].Data = bytes.Repeat([]byte("2 MB "), 400<<10)
	in[2].Data = bytes.Repeat([]byte("x"), schema.MaxInline)
	in[3].Data = bytes.Repeat([]byte("y"), schema.MaxInline+1)
	in[6].Data = in[1].Data // the same content again
	require.NoError(t, a.Append(deadline(t), in[:2]))
	require.NoError(t, a.Append(deadline(t), in[2:]))
	got := r.stored(t, capture)
	require.Len(t, got, 7)
	for i := range in {
		require.True(t, bytes.Equal(in[i].Data, got[i].Data), "frame %d", i+1)
		require.Equal(t, len(in[i].Data) > schema.MaxInline, got[i].Blob != "", "frame %d", i+1)
	}
	require.Equal(t, got[1].Blob, got[6].Blob)
}

func TestAppendRefusesWhatCannotBeStored(t *testing.T) {
	tests := []struct {
		name   string
		want   string
		change func(*schema.Frame)
	}{
		{"headers", "want at most 128 characters", func(f *schema.Frame) { f.Exchange = strings.Repeat("e", schema.MaxHeader) }},
		{"evidence", "want at most 16384 bytes, got 16385", func(f *schema.Frame) { f.HTTP = make([]byte, schema.MaxHTTP+1) }},
		{"side", `from "nobody"`, func(f *schema.Frame) { f.From = "nobody" }},
	}
	for _, tt := range tests {
		for _, batchFrom := range []int{2, 100} {
			t.Run(fmt.Sprintf("%s/batch from %d", tt.name, batchFrom), func(t *testing.T) {
				r := newRig(t)
				a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = batchFrom })
				in := frames(5)
				tt.change(&in[3])
				err := a.Append(deadline(t), in)
				require.ErrorIs(t, err, ErrUnstorable)
				require.ErrorContains(t, err, tt.want)
				require.ErrorContains(t, err, "append frame 4 of n/w/r/7/1")
				require.Equal(t, numbers("j", 3), texts(r.stored(t, capture)), "what came before it is stored")
			})
		}
	}
}

// A payload above the server's bound is named, not tried for ever.
func TestAppendRefusesWhatTheServerRefuses(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j", func(o *AppenderOptions) { o.BatchFrom = 2 })
	a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
		for _, m := range m {
			if m.Header.Get("Steno-Seq") == "3" {
				return 0, nats.ErrMaxPayload
			}
		}
		return a.publish(ctx, m)
	}
	err := a.Append(deadline(t), frames(4))
	require.ErrorIs(t, err, ErrUnstorable)
	require.ErrorIs(t, err, nats.ErrMaxPayload)
	require.Equal(t, numbers("j", 2), texts(r.stored(t, capture)))
}

func TestAppendEndsWithItsContext(t *testing.T) {
	r := newRig(t)
	a := r.appender(t, "j")
	require.NoError(t, a.Append(deadline(t), frames(1)))
	ctx, cancel := context.WithCancel(deadline(t))
	broken := errors.New("broken")
	a.store = func(context.Context, []*nats.Msg) (uint64, error) { cancel(); return 0, broken }
	err := a.Append(ctx, frames(2))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, broken, "it says why it was still trying")
}
