package topology

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// step is one change with what carries it out.
type step struct {
	Change
	do func(context.Context) error
}

// within makes the change, and waits for it no longer than answerWithin: the client library waits for as long
// as the caller's context lasts, if that has an end.
func (s step) within(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return s.do(ctx)
}

// Plan lists what Apply would do, in its order; nothing if the streams are as they should be. An
// error wraps ErrPartitions if they were made with another number of partitions.
func Plan(ctx context.Context, js jetstream.JetStream, c Config) ([]Change, error) {
	steps, err := plan(ctx, js, c)
	changes := make([]Change, len(steps))
	for i, s := range steps {
		changes[i] = s.Change
	}
	return changes, err
}

// unansweredTries bounds how often Apply asks for one change whose answer does not come, as that of a
// cluster that is just forming may not. Each try waits answerWithin; where nobody is there to be asked, which
// is known at once, the next one waits for noneAfter.
const (
	unansweredTries = 5
	noneAfter       = 250 * time.Millisecond
)

// Apply creates what is missing, mends what has drifted, and lists what it did. It may be repeated,
// and be run by several processes at once. A change that nobody answers may have been made: Apply looks,
// and asks again if it was not.
func Apply(ctx context.Context, js jetstream.JetStream, c Config) (done []Change, err error) {
	var perhaps *Change
	for tries := 0; ; {
		before := len(done)
		steps, err := plan(ctx, js, c)
		if err == nil && perhaps != nil && !slices.ContainsFunc(steps, perhaps.isOf) {
			done = append(done, *perhaps)
		}
		if err == nil {
			perhaps = nil
			done, perhaps, err = carryOut(ctx, steps, done)
		}
		if tries++; len(done) > before {
			tries = 1
		}
		if err == nil || !isUnanswered(err) || ctx.Err() != nil || tries == unansweredTries {
			return done, err
		}
		if errors.Is(err, nats.ErrNoResponders) {
			select {
			case <-ctx.Done():
			case <-time.After(noneAfter):
			}
		}
	}
}

// carryOut adds what it does to what was done before; perhaps is the change that nobody answered.
func carryOut(ctx context.Context, steps []step, before []Change) (done []Change, perhaps *Change, err error) {
	done = before
	for _, s := range steps {
		if err := s.within(ctx); err != nil {
			return done, &s.Change, fmt.Errorf("apply topology: %s: %w", s.Change, err)
		}
		done = append(done, s.Change)
	}
	return done, nil, nil
}

// isOf reports whether a step is to make the change.
func (c *Change) isOf(s step) bool { return s.Stream == c.Stream && s.Create == c.Create }

func isUnanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders)
}

func plan(ctx context.Context, js jetstream.JetStream, c Config) ([]step, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	infos := map[string]*jetstream.StreamInfo{}
	for _, name := range names {
		info, err := lookUp(ctx, js, name)
		if err != nil {
			return nil, err
		}
		infos[name] = info
	}
	p, err := fixPartitions(c.Partitions, infos)
	if err != nil {
		return nil, err
	}
	c.Partitions = p

	var steps []step
	for _, want := range c.streams() {
		all := append(append([]setting(nil), settings...), replicas)
		if c.MaxBytes != 0 {
			all = append(all, maxBytes)
		}
		create := func(ctx context.Context) error {
			_, err := js.CreateStream(ctx, want)
			return err
		}
		steps = appendStep(steps, js, want, infos[want.Name], all, create)
	}
	led := append(append([]setting(nil), ledSettings...), replicas)
	steps = appendStep(steps, js, c.bucket(parkedStream), infos[parkedStream], led, func(ctx context.Context) error {
		return createLed(ctx, js, parkedStream, c.keyValue(Parked, "steno: parked captures and low-water marks"))
	})
	ending := append(append([]setting(nil), endingSettings...), replicas)
	for stream, kv := range c.ending() {
		steps = appendStep(steps, js, c.bucket(stream), infos[stream], ending, func(ctx context.Context) error { return createEnding(ctx, js, stream, kv) })
	}
	bucket := append(append([]setting(nil), bucketSettings...), replicas)
	steps = appendStep(steps, js, c.bucket(blobStream), infos[blobStream], bucket, func(ctx context.Context) error {
		_, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: Blob, Description: "steno: payloads above the inline bound, by hash",
			Storage: jetstream.FileStorage, Replicas: max(c.Replicas, 1),
		})
		return err
	})
	return steps, nil
}

// names lists the streams, those of the buckets included.
var names = []string{Raw, Events, State, parkedStream, filedStream, leasesStream, blobStream}

func (c Config) keyValue(name, holds string) jetstream.KeyValueConfig {
	return jetstream.KeyValueConfig{Bucket: name, Description: holds, Storage: jetstream.FileStorage, Replicas: max(c.Replicas, 1)}
}

// ending are the buckets with keys that end, by their streams' names.
func (c Config) ending() iter.Seq2[string, jetstream.KeyValueConfig] {
	return func(yield func(string, jetstream.KeyValueConfig) bool) {
		_ = yield(filedStream, c.keyValue(Filed, "steno: the captures of A2A tasks and exchanges")) &&
			yield(leasesStream, c.keyValue(Leases, "steno: which worker serves a partition"))
	}
}

// createEnding makes a bucket with keys that end, read from the leader.
func createEnding(ctx context.Context, js jetstream.JetStream, stream string, kv jetstream.KeyValueConfig) error {
	kv.LimitMarkerTTL = time.Hour // a key's end is seen by who watches, and allows it to be
	return createLed(ctx, js, stream, kv)
}

// createLed makes a bucket whose keys are read from the leader: what another has just written must be seen.
func createLed(ctx context.Context, js jetstream.JetStream, stream string, kv jetstream.KeyValueConfig) error {
	if _, err := js.CreateKeyValue(ctx, kv); err != nil {
		return err
	}
	info, err := lookUp(ctx, js, stream)
	if err != nil || info == nil {
		return err
	}
	info.Config.AllowDirect = false // the client library always sets it
	_, err = js.UpdateStream(ctx, info.Config)
	return err
}

// bucket is what is wanted of a bucket's stream.
func (c Config) bucket(stream string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: stream, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, Replicas: max(c.Replicas, 1),
		AllowMsgTTL: stream == filedStream || stream == leasesStream,
	}
}

func appendStep(steps []step, js jetstream.JetStream, want jetstream.StreamConfig, info *jetstream.StreamInfo,
	all []setting, create func(context.Context) error) []step {
	if info == nil {
		return append(steps, step{Change{Stream: want.Name, Create: true}, create})
	}
	differences := compare(all, &want, &info.Config)
	if len(differences) == 0 {
		return steps
	}
	// Start from what is there: placement, compression and the like are the operator's.
	mended := info.Config
	for _, s := range all {
		s.copy(&mended, &want)
	}
	return append(steps, step{Change{Stream: want.Name, Differences: differences}, func(ctx context.Context) error {
		_, err := js.UpdateStream(ctx, mended)
		return err
	}})
}

// fixPartitions is the number that the streams have; else the wanted one; else the default.
func fixPartitions(want uint32, infos map[string]*jetstream.StreamInfo) (uint32, error) {
	for _, name := range []string{Raw, Events, State} {
		if infos[name] == nil || infos[name].Config.Metadata[partitionsKey] == "" {
			continue
		}
		got, err := partitionsOf(infos[name])
		if err != nil {
			return 0, err
		}
		if want != 0 && want != got {
			return 0, fmt.Errorf("plan topology: %s has %d partitions, wanted are %d: %w", name, got, want, ErrPartitions)
		}
		want = got
	}
	if want == 0 {
		want = schema.Partitions
	}
	return want, nil
}

// lookUp gives a stream's info; nil if there is no such stream.
func lookUp(ctx context.Context, js jetstream.JetStream, name string) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up stream %s: %w", name, err)
	}
	return stream.CachedInfo(), nil
}
