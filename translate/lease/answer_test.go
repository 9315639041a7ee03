package lease_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate/lease"
)

const subject = "$KV." + topology.Leases + ".partition.7"

// deaf is a JetStream whose writes of one partition's lease are stored, and whose answers are lost: of the
// Create or of the first renewal.
type deaf struct {
	jetstream.JetStream
	create, renewal sync.Once
	lost            chan struct{} // has one element more for each answer that was lost
}

var errLost = errors.New("read answer: injected")

func (d *deaf) Publish(ctx context.Context, on string, data []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := d.JetStream.Publish(ctx, on, data, opts...)
	if on == subject && err == nil {
		d.renewal.Do(func() { ack, err = nil, errLost; d.lost <- struct{}{} })
	}
	return ack, err
}

func (d *deaf) KeyValue(ctx context.Context, bucket string) (jetstream.KeyValue, error) {
	kv, err := d.JetStream.KeyValue(ctx, bucket)
	return deafBucket{kv, d}, err
}

type deafBucket struct {
	jetstream.KeyValue
	d *deaf
}

func (b deafBucket) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	revision, err := b.KeyValue.Create(ctx, key, value, opts...)
	if strings.HasSuffix(subject, key) && err == nil {
		b.d.create.Do(func() { revision, err = 0, errLost; b.d.lost <- struct{}{} })
	}
	return revision, err
}

// A lease whose making or whose renewal is stored, and the answer lost, is the worker's: it is served
// without a pause, and given back at the end.
func TestAnAnswerIsLost(t *testing.T) {
	for name, told := range map[string]func(*deaf){
		"of the making":  func(d *deaf) { d.renewal.Do(func() {}) },
		"of the renewal": func(d *deaf) { d.create.Do(func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t)
			_, js := s.Connect(t)
			d := &deaf{JetStream: js, lost: make(chan struct{}, 2)}
			told(d)
			w := newWorker()
			var err error
			w.leases, err = lease.New(lease.Options{JS: d, Partitions: partitions, Worker: "w", TTL: lease.MaxTTL})
			if name == "of the renewal" {
				w.leases, err = lease.New(lease.Options{JS: d, Partitions: partitions, Worker: "w"})
			}
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { w.done <- w.leases.Run(ctx, w) }()
			<-d.lost
			require.Eventually(t, func() bool { return len(w.partitions()) == partitions }, 10*time.Second, 10*time.Millisecond)
			if name == "of the renewal" { // two more are written, and nothing is dropped
				renewals := watch(t, s, 3)
				for range 2 {
					<-renewals
				}
				require.Zero(t, w.dropped())
			}
			cancel()
			require.NoError(t, <-w.done)
			owners, err := lease.Owners(t.Context(), s.JS)
			require.NoError(t, err)
			require.Empty(t, owners)
		})
	}
}

// watch tells of each write of partition 7's lease from now on.
func watch(t *testing.T, s *natstest.Server, n int) <-chan struct{} {
	t.Helper()
	kv, err := s.JS.KeyValue(t.Context(), topology.Leases)
	require.NoError(t, err)
	w, err := kv.Watch(t.Context(), "partition.7", jetstream.UpdatesOnly())
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Stop() }) // the server may be gone
	out := make(chan struct{}, n)
	go func() {
		for range n {
			if e := <-w.Updates(); e == nil {
				return
			}
			out <- struct{}{}
		}
	}()
	return out
}

// A lease that bears the worker's name, but is another process's, is not the worker's.
func TestANameIsNotTheOwner(t *testing.T) {
	s := natstest.Start(t)
	w := start(t, s, "w")
	spread(t, 20*time.Second, w)
	owns, err := w.leases.Owns(t.Context(), 7)
	require.NoError(t, err)
	require.True(t, owns)
	kv, err := s.JS.KeyValue(t.Context(), topology.Leases)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "partition.7", []byte("w another"))
	require.NoError(t, err)
	owns, err = w.leases.Owns(t.Context(), 7)
	require.NoError(t, err)
	require.False(t, owns)
	require.Eventually(t, func() bool { return !w.partitions()[7] }, 10*time.Second, 10*time.Millisecond)
	owners, err := lease.Owners(t.Context(), s.JS)
	require.NoError(t, err)
	require.Equal(t, "w", owners[7])
}
