package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
)

// Returned says what of a capture was given back: its frames 1 to Frame may not be on STENO_RAW any more.
// It is written before they are purged, so whoever misses frames finds it; they may still be there.
type Returned struct {
	Frame   uint64 `json:"frame"`
	Archive string `json:"archive"` // that has them, by its name
	// Writers are the journals that stored frames up to Frame, each with the Writer.Offset of its last one
	// there: what tells a publisher that something is stored is gone with the frames.
	Writers map[string]uint64 `json:"writers"`
	// Revision of the key that says so; 0: there is none. One that was deleted has a revision and says nothing.
	Revision uint64 `json:"-"`
}

// returnedPrefix begins keys of STENO_PARKED that are no identities'.
const returnedPrefix = "returned."

// kvOperation is the header of a message that takes its key away.
const kvOperation = "KV-Operation"

func returnedKey(id schema.Identity) string { return returnedPrefix + id.Subject() }

// ReadReturned reads from the leader what of a capture was given back; the zero value if nothing was, but for
// the revision where the key was deleted. It waits for a connection that is away, for half a minute.
func ReadReturned(ctx context.Context, js jetstream.JetStream, id schema.Identity) (Returned, error) {
	m, ok, err := lastPatiently(ctx, js, ParkedStream, ParkedSubject(returnedKey(id)))
	if err != nil || !ok {
		return Returned{}, err
	}
	return readReturned(m, id)
}

func readReturned(m Message, id schema.Identity) (r Returned, err error) {
	if m.Header.Get(kvOperation) != "" {
		return Returned{Revision: m.Seq}, nil
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return Returned{}, fmt.Errorf("read key %s of %s: %w", returnedKey(id), Parked, err)
	}
	r.Revision = m.Seq
	return r, nil
}

// ListReturned reads what was given back, of all captures of which something was.
func ListReturned(ctx context.Context, js jetstream.JetStream) (map[schema.Identity]Returned, error) {
	out := map[schema.Identity]Returned{}
	for m, err := range Read(ctx, js, ParkedStream, ParkedSubject(returnedPrefix+">"), 1) {
		if err != nil {
			return nil, err
		}
		id, err := schema.ParseIdentitySubject(strings.TrimPrefix(ParkedKey(m.Subject), returnedPrefix))
		if err != nil {
			continue // nobody's
		}
		r, err := readReturned(m, id)
		if err != nil {
			return nil, err
		}
		if r.Frame > 0 {
			out[id] = r
		}
	}
	return out, nil
}

// WriteReturned writes what of a capture is given back, behind the revision that r was read at. A write that
// was overtaken is an error, and so is one whose answer was lost; either way reading again tells.
func WriteReturned(ctx context.Context, js jetstream.JetStream, id schema.Identity, r Returned) error {
	fail := func(err error) error { return fmt.Errorf("write key %s of %s: %w", returnedKey(id), Parked, err) }
	value, err := json.Marshal(r)
	if err != nil {
		return fail(err)
	}
	if len(value) > schema.MaxInline {
		return fail(errors.New("too many journals wrote the capture"))
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	msg := &nats.Msg{Subject: ParkedSubject(returnedKey(id)), Data: value}
	if _, err := js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(r.Revision)); err != nil {
		return fail(err)
	}
	return nil
}
