package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// Filing is what was decided of an exchange: its capture, and the journal offset at which its frames
// begin there.
type Filing struct {
	Capture schema.Identity
	Offset  uint64
}

type wireFiling struct {
	Capture string `json:"capture"`
	Offset  uint64 `json:"offset,omitempty"`
}

// FiledKeys is the bucket STENO_FILED: which capture a task, or an exchange that named none, belongs
// to. A key is written once and never changed, so that all writers that ask get the same answer, now
// and after a restart.
type FiledKeys struct{ kv jetstream.KeyValue }

// OpenFiled opens the bucket; the error wraps ErrMissing if nobody has applied the topology.
func OpenFiled(ctx context.Context, js jetstream.JetStream) (*FiledKeys, error) {
	kv, err := js.KeyValue(ctx, Filed)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", Filed, err)
	}
	return &FiledKeys{kv}, nil
}

// taskPrefix begins the keys of tasks, which stay for ever: somebody may ask for one at any time.
const taskPrefix = "task."

// keepExchange is how long keys of exchanges stay: longer than any journal is left unpublished. What a
// journal has stored before it is not stored again without them.
const keepExchange = 30 * 24 * time.Hour

// TaskKey names a task of a peer: ids are unique within a peer only.
func TaskKey(namespace, workflow, peer, task string) string {
	return taskPrefix + schema.RunOf(namespace+"/"+workflow+"/"+peer+"\x00"+task)
}

// ExchangeKey names an exchange.
func ExchangeKey(exchange uuid.UUID) string { return "exchange." + exchange.String() }

// HeldKey notes that an exchange could not be filed by what its request names.
func HeldKey(exchange uuid.UUID) string { return "held." + exchange.String() }

// interventionKey names an intervention in a capture: who keeps it there first carries it out.
func interventionKey(capture schema.Identity, intervention string) string {
	return "intervention." + schema.RunOf(capture.String()+"\x00"+intervention)
}

// Claim takes an intervention in a capture, and reports whether it is the caller's: nobody else, and no call before
// this one, has it then, or will have it as long as keys of exchanges stay.
func (k *FiledKeys) Claim(ctx context.Context, capture schema.Identity, intervention string) (mine bool, err error) {
	claim := Filing{capture, rand.Uint64()}
	there, err := k.Keep(ctx, interventionKey(capture, intervention), claim)
	return there == claim, err
}

// Get gives what is filed under the key; ok is false if nothing is.
func (k *FiledKeys) Get(ctx context.Context, key string) (f Filing, ok bool, err error) {
	entry, err := k.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Filing{}, false, nil
	}
	if err == nil {
		f, err = readFiling(entry.Value())
	}
	if err != nil {
		return Filing{}, false, fmt.Errorf("read key %s of %s: %w", key, Filed, err)
	}
	return f, true, nil
}

// Keep files under the key if nothing is filed there, and gives what is filed there then.
func (k *FiledKeys) Keep(ctx context.Context, key string, f Filing) (Filing, error) {
	value, err := json.Marshal(wireFiling{f.Capture.String(), f.Offset})
	if err != nil {
		return Filing{}, fmt.Errorf("write key %s of %s: %w", key, Filed, err)
	}
	var options []jetstream.KVCreateOpt
	if !strings.HasPrefix(key, taskPrefix) {
		options = append(options, jetstream.KeyTTL(keepExchange))
	}
	_, err = k.kv.Create(ctx, key, value, options...)
	if err == nil {
		return f, nil
	}
	// Somebody else was first, or this was stored and its answer lost: either way the key tells.
	there, ok, getErr := k.Get(ctx, key)
	switch {
	case getErr != nil:
		return Filing{}, errors.Join(fmt.Errorf("write key %s of %s: %w", key, Filed, err), getErr)
	case !ok:
		return Filing{}, fmt.Errorf("write key %s of %s: %w", key, Filed, err)
	}
	return there, nil
}

func readFiling(value []byte) (Filing, error) {
	var w wireFiling
	if err := json.Unmarshal(value, &w); err != nil {
		return Filing{}, err
	}
	id, err := schema.ParseIdentity(w.Capture)
	return Filing{id, w.Offset}, err
}
