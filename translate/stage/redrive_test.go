package stage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/stage"
)

// onlyParked gives the one capture that is parked.
func onlyParked(t testing.TB, s *natstest.Server) stage.ParkedCapture {
	t.Helper()
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, 1)
	return listed[0]
}

// redrive asks for a parked capture and waits for the answer.
func redrive(t testing.TB, s *natstest.Server, p stage.ParkedCapture) *stage.Parked {
	t.Helper()
	revision, err := stage.Redrive(bounded(t), s.JS, p)
	require.NoError(t, err)
	again, err := stage.AwaitRedrive(bounded(t), s.JS, p.Identity, revision)
	require.NoError(t, err)
	return again
}

// missingBlob makes a capture that is parked because a frame's bytes are gone, and gives them.
func missingBlob(t testing.TB, s *natstest.Server, tp *tap) []byte {
	t.Helper()
	large := "title 1 " + strings.Repeat("x", schema.MaxInline)
	tp.say(t, script[:5]...)
	tp.say(t, large)
	store, err := s.JS.ObjectStore(bounded(t), topology.Blob)
	require.NoError(t, err)
	require.NoError(t, store.Delete(bounded(t), tp.id.String()+"/"+tp.frames[len(tp.frames)-1].Blob))
	tp.say(t, script[5:]...)
	return []byte(large)
}

// TestRedriveUnderALivingOwner: the blob comes back, the owner folds the capture again, and the next frames
// join. Before that it parks again, with its reason.
func TestRedriveUnderALivingOwner(t *testing.T) {
	t.Parallel()
	for _, idle := range []bool{false, true} {
		t.Run(fmt.Sprintf("parked before the owner came %t", idle), func(t *testing.T) {
			s := natstest.Start(t)
			tp := newTap(t, s.JS, identity(1))
			lost := missingBlob(t, s, tp)
			w, stop := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
			require.ErrorIs(t, w.Committed(bounded(t), tp.id, 7), stage.ErrParked)
			if idle {
				marked(t, w, tp)
				stop()
				w, _ = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
				until(t, w, func(p stage.Progress) bool { return p.Parked == 1 })
			}
			again := redrive(t, s, onlyParked(t, s))
			require.NotNil(t, again)
			require.Equal(t, stage.ReasonBlob, again.Reason)
			require.EqualValues(t, 7, again.Frame)

			_, err := tp.blobs.Put(bounded(t), tp.id, lost)
			require.NoError(t, err)
			require.Nil(t, redrive(t, s, onlyParked(t, s)))
			listed, err := stage.ListParked(bounded(t), s.JS)
			require.NoError(t, err)
			require.Empty(t, listed)
			tp.say(t, "end 1")
			require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
			require.Empty(t, ask(t, s.NC, tp.id).Parked)
			progress, err := w.Progress(bounded(t))
			require.NoError(t, err)
			require.Zero(t, progress.Parked)
			lines := foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines
			require.Equal(t, lines, storedLines(t, s.JS, tp.id))
		})
	}
}

// TestRedriveWithoutAnOwner: the request waits for whoever takes the partition, though the mark has passed
// the capture's frames.
func TestRedriveWithoutAnOwner(t *testing.T) {
	s := natstest.Start(t)
	old, new := words{version: "words/1"}, words{version: "words/2", loud: true}
	without := translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: new})
	with := translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: new}, old)
	tp := newTap(t, s.JS, identity(1))
	tp.say(t, script[:5]...)
	w, stop := run(t, stage.Options{JS: s.JS})
	require.NoError(t, w.Committed(bounded(t), tp.id, 6))
	stop()
	tp.say(t, script[5:]...)
	w, stop = run(t, often(stage.Options{JS: s.JS, Catalogue: without, Partitions: alone(tp)}))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 7), stage.ErrParked)
	marked(t, w, tp)
	stop()

	parked := onlyParked(t, s)
	require.Equal(t, stage.ReasonTranslator, parked.Reason)
	revision, err := stage.Redrive(bounded(t), s.JS, parked)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(bounded(t), 50e6)
	defer cancel()
	_, err = stage.AwaitRedrive(ctx, s.JS, tp.id, revision)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = stage.Redrive(bounded(t), s.JS, parked)
	require.ErrorIs(t, err, stage.ErrParkedChanged)
	same, err := stage.Redrive(bounded(t), s.JS, onlyParked(t, s))
	require.NoError(t, err)
	require.Equal(t, revision, same, "it is asked for already")

	w, stop = run(t, often(stage.Options{JS: s.JS, Catalogue: with, Partitions: alone(tp)}))
	again, err := stage.AwaitRedrive(bounded(t), s.JS, tp.id, revision)
	require.NoError(t, err)
	require.Nil(t, again)
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	stop()
	check(t, s.JS, tp)
}

// TestRedriveKeyGoesLast: an owner that ends before the capture's frames are covered leaves the request for
// the next one.
func TestRedriveKeyGoesLast(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	lost := missingBlob(t, s, tp)
	w, stop := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 7), stage.ErrParked)
	marked(t, w, tp)
	stop()
	_, err := tp.blobs.Put(bounded(t), tp.id, lost)
	require.NoError(t, err)
	revision, err := stage.Redrive(bounded(t), s.JS, onlyParked(t, s))
	require.NoError(t, err)

	// Its last message is open, and no snapshot can be stored that would cover it.
	js := &fault{JetStream: s.JS, on: "steno.state.", decide: func(int) how { return refused }}
	w, stop = run(t, often(stage.Options{JS: js, Partitions: alone(tp)}))
	require.NoError(t, w.Committed(bounded(t), tp.id, uint64(len(tp.frames))))
	until(t, w, func(p stage.Progress) bool { return p.Retries > 1 })
	require.True(t, onlyParked(t, s).Redrive)
	stop()
	w, stop = run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	again, err := stage.AwaitRedrive(bounded(t), s.JS, tp.id, revision)
	require.NoError(t, err)
	require.Nil(t, again)
	marked(t, w, tp)
	stop()
	lines := foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines
	require.Equal(t, lines, storedLines(t, s.JS, tp.id))
}

// TestAKeyDeletedByHand unparks the capture, too.
func TestAKeyDeletedByHand(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	tp := newTap(t, s.JS, identity(1))
	lost := missingBlob(t, s, tp)
	w, _ := run(t, often(stage.Options{JS: s.JS, Partitions: alone(tp)}))
	require.ErrorIs(t, w.Committed(bounded(t), tp.id, 7), stage.ErrParked)
	_, err := tp.blobs.Put(bounded(t), tp.id, lost)
	require.NoError(t, err)
	kv, err := s.JS.KeyValue(bounded(t), topology.Parked)
	require.NoError(t, err)
	require.NoError(t, kv.Delete(bounded(t), tp.id.Subject()))
	ctx := bounded(t)
	for {
		err := w.Committed(ctx, tp.id, uint64(len(tp.frames)))
		if !errors.Is(err, stage.ErrParked) { // it has not noticed yet
			require.NoError(t, err)
			break
		}
	}
	lines := foldOffline(words{version: "words/1"}, tp.id, tp.frames).lines
	require.Equal(t, lines, storedLines(t, s.JS, tp.id))
}

// TestRedriveOfEachReason redrives what is as damaged as before: it parks again for the same reason, and
// the captures beside it go on.
func TestRedriveOfEachReason(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t)
	beside := newTap(t, s.JS, identity(1))
	bad := map[stage.Reason]*tap{}
	for i, reason := range []stage.Reason{stage.ReasonPanic, stage.ReasonBlob, stage.ReasonSealed} {
		tp := newTap(t, s.JS, identity(10+i))
		tp.say(t, script[:4]...)
		bad[reason] = tp
	}
	bad[stage.ReasonPanic].say(t, "panic")
	missingBlob(t, s, bad[stage.ReasonBlob])
	purge(t, s.JS, bad[stage.ReasonSealed].id, bad[stage.ReasonSealed].last(t))
	w, _ := run(t, stage.Options{JS: s.JS})
	for _, tp := range bad {
		require.ErrorIs(t, w.Committed(bounded(t), tp.id, 100), stage.ErrParked)
	}
	listed, err := stage.ListParked(bounded(t), s.JS)
	require.NoError(t, err)
	require.Len(t, listed, len(bad))
	for _, p := range listed {
		again := redrive(t, s, p)
		require.NotNil(t, again)
		p.Parked.Redrive = false
		p.Parked.Error, again.Error = firstLine(p.Parked.Error), firstLine(again.Error)
		require.Equal(t, p.Parked, *again)
		beside.say(t, script...)
		require.NoError(t, w.Committed(bounded(t), beside.id, uint64(len(beside.frames))))
	}
	progress, err := w.Progress(bounded(t))
	require.NoError(t, err)
	require.EqualValues(t, len(bad), progress.Parked)
}

func firstLine(text string) string { first, _, _ := strings.Cut(text, "\n"); return first }
