package topology_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// deadline is a context that ends with the test or after a minute.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestApplyThenCheck(t *testing.T) {
	ctx := deadline(t)
	s := natstest.StartWith(t, natstest.Options{Bare: true})

	_, err := topology.Check(ctx, s.JS)
	require.ErrorIs(t, err, topology.ErrMissing)
	require.ErrorContains(t, err, topology.Raw)

	changes, err := topology.Plan(ctx, s.JS, topology.Config{Partitions: 7})
	require.NoError(t, err)
	require.Len(t, changes, 7)
	for _, c := range changes {
		require.True(t, c.Create, c.String())
	}
	_, err = topology.Apply(ctx, s.JS, topology.Config{Partitions: 7})
	require.NoError(t, err)

	info, err := topology.Check(ctx, s.JS)
	require.NoError(t, err)
	require.Equal(t, uint32(7), info.Partitions)
	require.Equal(t, 1, info.Replicas)
	require.Len(t, info.Created, 7)
	for name, at := range info.Created {
		require.WithinDuration(t, time.Now(), at, time.Minute, name)
	}

	changes, err = topology.Apply(ctx, s.JS, topology.Config{})
	require.NoError(t, err)
	require.Empty(t, changes, "a second apply without a number changes nothing")
}

// unanswered is a JetStream whose creations and updates are not answered the first time: on every other
// stream the server had made the change.
type unanswered struct {
	jetstream.JetStream
	asked map[string]int
}

func (u *unanswered) fail(name string, do func() (jetstream.Stream, error)) (jetstream.Stream, error) {
	u.asked[name]++
	if u.asked[name] > 1 {
		return do()
	}
	if len(u.asked)%2 == 0 {
		if _, err := do(); err != nil {
			return nil, err
		}
	}
	return nil, context.DeadlineExceeded
}

func (u *unanswered) CreateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	return u.fail("create "+c.Name, func() (jetstream.Stream, error) { return u.JetStream.CreateStream(ctx, c) })
}

func (u *unanswered) UpdateStream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	return u.fail("update "+c.Name, func() (jetstream.Stream, error) { return u.JetStream.UpdateStream(ctx, c) })
}

func TestApplyAsksAgainWhereNobodyAnswers(t *testing.T) {
	ctx := deadline(t)
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	for _, c := range []topology.Config{{}, {MaxBytes: 1 << 30}} {
		want, err := topology.Plan(ctx, s.JS, c)
		require.NoError(t, err)
		require.NotEmpty(t, want)
		js := &unanswered{s.JS, map[string]int{}}
		done, err := topology.Apply(ctx, js, c)
		require.NoError(t, err)
		require.Greater(t, len(js.asked), 1)
		for _, change := range want {
			require.Contains(t, done, change)
		}
		_, err = topology.Check(ctx, s.JS)
		require.NoError(t, err)
	}
}

func TestApplyRefusesOtherPartitions(t *testing.T) {
	ctx := deadline(t)
	s := natstest.StartWith(t, natstest.Options{Config: topology.Config{Partitions: 4}})
	_, err := topology.Plan(ctx, s.JS, topology.Config{Partitions: 5})
	require.ErrorIs(t, err, topology.ErrPartitions)
	_, err = topology.Apply(ctx, s.JS, topology.Config{Partitions: 5})
	require.ErrorIs(t, err, topology.ErrPartitions)
	require.ErrorContains(t, err, "STENO_RAW has 4 partitions, wanted are 5")
	_, err = topology.Apply(ctx, s.JS, topology.Config{Partitions: 4})
	require.NoError(t, err)
}

func TestConfigIsChecked(t *testing.T) {
	ctx := deadline(t)
	s := natstest.StartWith(t, natstest.Options{Bare: true})
	for _, c := range []topology.Config{{Replicas: 2}, {Replicas: -1}, {MaxBytes: -2}} {
		_, err := topology.Apply(ctx, s.JS, c)
		require.Error(t, err, "%+v", c)
	}
}

func TestCheckNamesEachDifference(t *testing.T) {
	tests := []struct {
		stream  string
		setting string
		change  func(*jetstream.StreamConfig)
	}{
		{topology.Raw, "max_age: want 0s, got 1h0m0s", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
		{topology.Raw, "discard: want DiscardNew, got DiscardOld", func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }},
		{topology.Raw, "allow_direct: want false, got true", func(c *jetstream.StreamConfig) { c.AllowDirect = true }},
		{topology.Raw, "allow_atomic: want true, got false", func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false }},
		{topology.Raw, "subjects: want steno.raw.>, got steno.raw.>,other", func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "other") }},
		{topology.Raw, "max_msgs_per_subject: want none, got 9", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 9 }},
		{topology.Raw, "partitions: want 32, got 31", nil}, // see below
		{topology.Events, "allow_rollup_hdrs: want false, got true", func(c *jetstream.StreamConfig) { c.AllowRollup = true; c.DenyPurge = false }},
		{topology.Events, "duplicate_window: want 100ms, got 2m0s", func(c *jetstream.StreamConfig) { c.Duplicates = 2 * time.Minute }},
		{topology.Events, "max_msg_size: want none, got 100", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 }},
		{topology.State, "max_msgs_per_subject: want 1, got 2", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 2 }},
		{"KV_" + topology.Parked, "max_age: want 0s, got 1h0m0s", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
		{"KV_" + topology.Filed, "allow_direct: want false, got true", func(c *jetstream.StreamConfig) { c.AllowDirect = true }},
		{"OBJ_" + topology.Blob, "max_age: want 0s, got 1h0m0s", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }},
	}
	for _, tt := range tests {
		t.Run(tt.stream+" "+tt.setting, func(t *testing.T) {
			ctx := deadline(t)
			s := natstest.Start(t)
			stream, err := s.JS.Stream(ctx, tt.stream)
			require.NoError(t, err)
			c := stream.CachedInfo().Config
			if tt.change == nil { // the metadata of one stream disagrees with the others
				c.Metadata["steno-partitions"] = "31"
			} else {
				tt.change(&c)
			}
			_, err = s.JS.UpdateStream(ctx, c)
			require.NoError(t, err)

			_, err = topology.Check(ctx, s.JS)
			require.ErrorIs(t, err, topology.ErrDrifted)
			if tt.change == nil {
				// STENO_RAW's number counts, so the others are the ones that differ.
				require.ErrorContains(t, err, "partitions: want 31, got 32")
				_, err = topology.Apply(ctx, s.JS, topology.Config{})
				require.ErrorIs(t, err, topology.ErrPartitions)
				return
			}
			require.ErrorContains(t, err, tt.stream)
			require.ErrorContains(t, err, tt.setting)

			changes, err := topology.Apply(ctx, s.JS, topology.Config{})
			require.NoError(t, err)
			require.Len(t, changes, 1)
			require.Contains(t, changes[0].String(), tt.setting)
			_, err = topology.Check(ctx, s.JS)
			require.NoError(t, err)
		})
	}
}

func TestBoundRefusesAndForgetsNothing(t *testing.T) {
	ctx := deadline(t)
	s := natstest.StartWith(t, natstest.Options{Config: topology.Config{MaxBytes: 10_000}})
	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	subject := schema.RawSubject(id, s.Info.Partitions)
	var stored int
	var err error
	for range 100 {
		if _, err = s.JS.Publish(ctx, subject, make([]byte, 1000)); err != nil {
			break
		}
		stored++
	}
	require.Error(t, err)
	require.Equal(t, topology.Unknown, topology.Classify(err), "a full stream may have room later")
	var read int
	for _, err := range topology.Read(ctx, s.JS, topology.Raw, subject, 1) {
		require.NoError(t, err)
		read++
	}
	require.Positive(t, stored)
	require.Equal(t, stored, read)

	_, err = topology.Apply(ctx, s.JS, topology.Config{MaxBytes: 1 << 20})
	require.NoError(t, err)
	_, err = s.JS.Publish(ctx, subject, make([]byte, 1000))
	require.NoError(t, err)

	changes, err := topology.Apply(ctx, s.JS, topology.Config{})
	require.NoError(t, err)
	require.Empty(t, changes, "a bound that is not named stays")
	changes, err = topology.Apply(ctx, s.JS, topology.Config{MaxBytes: topology.Unbounded})
	require.NoError(t, err)
	require.Len(t, changes, 2, "the bound of both streams is taken away")
	require.Contains(t, changes[0].String(), "max_bytes: want none, got 1048576")
	changes, err = topology.Plan(ctx, s.JS, topology.Config{MaxBytes: topology.Unbounded})
	require.NoError(t, err)
	require.Empty(t, changes)
}
