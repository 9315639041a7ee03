package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// errGap ends a console whose history has a hole: that must never be, and is not shown as if it were not.
var errGap = errors.New("an event is missing")

// record shows a record's events of this transcript and says what it changes about it.
func (r *run) record(ctx context.Context, m jetstream.Msg) error {
	payload := m.Data()
	if sha := m.Headers().Get(schema.HeaderBlob); sha != "" {
		var err error
		if payload, err = r.blob(ctx, sha); err != nil {
			return err
		}
	}
	rec, err := schema.DecodeRecord(m.Headers(), payload)
	if err != nil {
		return err
	}
	number := rec.First[r.key.Session] // of the session's first event in this record
	for _, event := range rec.Events {
		e, err := schema.DecodeEvent(event)
		if err != nil {
			return fmt.Errorf("read record %s: %w", rec.Last, err)
		}
		if e.Session != r.key.Session {
			continue
		}
		if err := r.event(number, event, &e); err != nil {
			return fmt.Errorf("read record %s: %w", rec.Last, err)
		}
		number++
	}
	if about, ok := rec.About[r.key.Session]; ok {
		if err := r.screen.About(about); err != nil {
			return err
		}
	}
	return r.splice()
}

// event shows an event unless that is done.
func (r *run) event(number uint64, event []byte, e *schema.Event) error {
	switch {
	case number == 0:
		return fmt.Errorf("event %s has no number: %w", e.Origin(), errGap)
	case number <= r.number:
		return nil // known
	case number > r.number+1 && r.number > 0:
		return fmt.Errorf("event %d follows %d: %w", number, r.number, errGap)
	case number > r.number+1:
		if err := r.screen.Lag(fmt.Sprintf("events 1 to %d are in the archive", number-1)); err != nil {
			return err
		}
	}
	stored, err := schema.WithStoreSeq(event, number)
	if err != nil {
		return err
	}
	r.number, e.StoreSeq, r.seen = number, number, max(r.seen, e.WorkerSeq)
	if m, ok := e.Kind.(*schema.Message); ok {
		message := Message{m.Role == schema.User, m.Channel, m.MessageID}
		delete(r.next, message)
		r.closed[message] = e.WorkerSeq
	}
	return r.screen.Event(number, stored, e)
}

// A blob is put before its record is, but the server that answers may be behind the one that has it.
const (
	blobTries  = 5
	blobWait   = 100 * time.Millisecond
	blobWithin = 30 * time.Second
)

// blob reads the payload of a large record.
func (r *run) blob(ctx context.Context, sha string) ([]byte, error) {
	name := r.key.Identity.String() + "/" + sha
	for try := 1; ; try++ {
		data, err := r.getBlob(ctx, name, sha)
		if err == nil || try == blobTries {
			return data, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(blobWait):
		}
	}
}

// getBlob reads an object as the bucket has it: one message that names its chunks, and the chunks. (The
// client library's own reader has the server push them, which needs more permissions and does not work from
// another account.)
func (r *run) getBlob(ctx context.Context, name, sha string) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("get object %s: %w", name, err) }
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	subject := "$O.STENO_BLOBS.M." + base64.URLEncoding.EncodeToString([]byte(name))
	m, err := r.conn.RequestWithContext(ctx, r.api+".DIRECT.GET.OBJ_STENO_BLOBS."+subject, nil)
	if err != nil {
		return fail(err)
	}
	if status := m.Header.Get("Status"); status != "" {
		return fail(fmt.Errorf("%s %s", status, m.Header.Get("Description")))
	}
	var info jetstream.ObjectInfo
	if err := json.Unmarshal(m.Data, &info); err != nil {
		return fail(err)
	}
	chunks, err := r.js.OrderedConsumer(ctx, "OBJ_STENO_BLOBS", jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{"$O.STENO_BLOBS.C." + info.NUID}, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fail(err)
	}
	reading, err := chunks.Messages(jetstream.PullMaxBytes(pullBytes))
	if err != nil {
		return fail(err)
	}
	defer reading.Stop()
	var data []byte
	for uint64(len(data)) < info.Size {
		chunk, err := reading.Next(jetstream.NextContext(ctx))
		if err != nil {
			return fail(err)
		}
		data = append(data, chunk.Data()...)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return fail(fmt.Errorf("its bytes have the hash %x", sum))
	}
	return data, nil
}
