// Package outside checks a deployment from outside: it reads streams and tables by itself, computes
// chains by itself, and folds with the steno command. It shares no code with the stages, so that it
// cannot share a fault with them.
package outside

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Streams and buckets, as the documents name them.
const (
	rawStream    = "STENO_RAW"
	eventStream  = "STENO_EVENTS"
	blobBucket   = "STENO_BLOBS"
	parkedBucket = "STENO_PARKED"
)

// blobWithin bounds the wait for one.
const blobWithin = 20 * time.Second

// captureOf gives the capture of a subject steno.<what>.<p>.<the identity's five tokens>.
func captureOf(subject string) (capture, partition string, err error) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 8 {
		return "", "", fmt.Errorf("subject %s: want eight tokens", subject)
	}
	return strings.Join(tokens[3:], "/"), tokens[2], nil
}

// read hands every message that the stream holds now to take, in order.
func read(ctx context.Context, js jetstream.JetStream, stream string, take func(jetstream.Msg, uint64) error) error {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	if info.State.Msgs == 0 {
		return nil
	}
	consumer, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(20_000, 8<<20))
	if err != nil {
		return fmt.Errorf("read %s: %w", stream, err)
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		meta, err := m.Metadata()
		if err == nil {
			err = take(m, meta.Sequence.Stream)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		if meta.Sequence.Stream >= info.State.LastSeq {
			return nil
		}
	}
}

// payload is a message's bytes, wherever they lie.
func payload(ctx context.Context, blobs jetstream.ObjectStore, capture string, m jetstream.Msg) ([]byte, error) {
	sum := m.Headers().Get("Steno-Blob")
	if sum == "" {
		return m.Data(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, blobWithin)
	defer cancel()
	for {
		data, err := blobs.GetBytes(ctx, capture+"/"+sum)
		if err == nil {
			return data, nil
		}
		// A replica that is behind has the first chunks only, and takes them for all: it is asked again. What
		// is so for good stays an error.
		behind := errors.Is(err, jetstream.ErrDigestMismatch) || errors.Is(err, jetstream.ErrObjectNotFound)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			behind = false
		}
		if !behind {
			return nil, fmt.Errorf("get blob %s of %s: %w", sum, capture, err)
		}
	}
}

// Parked lists the captures that the stage has parked, each with its reason.
func Parked(ctx context.Context, js jetstream.JetStream) (parked []string, err error) {
	kv, err := js.KeyValue(ctx, parkedBucket)
	if err != nil {
		return nil, fmt.Errorf("list parked captures: %w", err)
	}
	keys, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list parked captures: %w", err)
	}
	for _, key := range keys {
		if strings.Count(key, ".") != 4 { // a partition's mark
			continue
		}
		value, err := kv.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list parked captures: %w", err)
		}
		parked = append(parked, key+" "+string(value.Value()))
	}
	return parked, nil
}
