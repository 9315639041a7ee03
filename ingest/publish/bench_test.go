package publish

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

const (
	benchCaptures = 16
	benchBytes    = 1 << 10
)

// benchRig has one in-process connection, as the embedded pipeline has, or one over TCP.
func benchRig(b *testing.B, always, tcp bool) (*rig, jetstream.JetStream) {
	s := natstest.StartWith(b, natstest.Options{SyncAlways: always})
	js := s.JS
	if !tcp {
		_, js = s.InProcess(b)
	}
	blobs, err := topology.OpenBlobs(b.Context(), js)
	require.NoError(b, err)
	return &rig{s, blobs}, js
}

// BenchmarkRawIngest appends the frames of 16 captures at once, beside bare asynchronous publishing
// of the stored messages under the same sync setting. Compare frames/s within one run.
func BenchmarkRawIngest(b *testing.B) {
	data := bytes.Repeat([]byte{'x'}, benchBytes)
	for _, always := range []bool{false, true} {
		for _, tcp := range []bool{false, true} {
			name := fmt.Sprintf("always=%t/tcp=%t", always, tcp)
			b.Run(name+"/bare", func(b *testing.B) {
				r, js := benchRig(b, always, tcp)
				begin := time.Now()
				b.ResetTimer()
				bare(b, js, data)
				b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "frames/s")
				_ = r
			})
			for _, backlog := range []int{1, 20, 500} {
				b.Run(fmt.Sprintf("%s/append=%d", name, backlog), func(b *testing.B) {
					r, js := benchRig(b, always, tcp)
					begin := time.Now()
					b.ResetTimer()
					appendAll(b, r, js, data, backlog, always)
					b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "frames/s")
				})
			}
		}
	}
}

func bare(b *testing.B, js jetstream.JetStream, data []byte) {
	async, err := jetstream.New(js.Conn(), jetstream.WithPublishAsyncMaxPending(4096))
	require.NoError(b, err)
	a, err := NewAppender(AppenderOptions{Identity: capture, Partitions: 32, Journal: "j"})
	require.NoError(b, err)
	stored, _, err := a.messages(b.Context(), []schema.Frame{{
		At: began, From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: data, Writer: schema.Writer{Offset: 1},
	}})
	require.NoError(b, err)
	stored[0].Header.Del(jetstream.ExpectedLastSubjSeqHeader)
	stored[0].Header.Del(jetstream.ExpectedStreamHeader)
	for i := range b.N {
		m := &nats.Msg{Subject: fmt.Sprintf("steno.raw.1.n.w.r.%d.1", i%benchCaptures), Header: stored[0].Header, Data: data}
		if _, err := async.PublishMsgAsync(m, jetstream.WithStallWait(time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
	<-async.PublishAsyncComplete()
}

func appendAll(b *testing.B, r *rig, js jetstream.JetStream, data []byte, backlog int, always bool) {
	var group sync.WaitGroup
	for i := range benchCaptures {
		id := capture
		id.Activity = uint64(i)
		a := r.appender(b, "j", func(o *AppenderOptions) {
			o.JS, o.Identity = js, id
			if always {
				o.BatchFrom = BatchAlways
			}
		})
		n := b.N / benchCaptures
		if i < b.N%benchCaptures {
			n++
		}
		group.Go(func() {
			offset := uint64(0)
			for n > 0 {
				in := make([]schema.Frame, min(n, backlog))
				for i := range in {
					offset += benchBytes
					in[i] = schema.Frame{At: began, From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
						Data: data, Writer: schema.Writer{Offset: offset}}
				}
				n -= len(in)
				if err := a.Append(b.Context(), in); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkMessages makes an append's messages: what it costs a frame beside the server's answer.
func BenchmarkMessages(b *testing.B) {
	a, err := NewAppender(AppenderOptions{Identity: capture, Partitions: 32, Journal: "j"})
	require.NoError(b, err)
	frames := make([]schema.Frame, 100)
	for i := range frames {
		frames[i] = schema.Frame{
			At: time.Unix(1, 23456), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
			Data: bytes.Repeat([]byte{'x'}, benchBytes/2), Writer: schema.Writer{Offset: uint64(i) + 1},
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		messages, _, err := a.messages(b.Context(), frames)
		if err != nil || len(messages) != len(frames) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
}
