package outside

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Records is what STENO_EVENTS holds.
type Records struct {
	Events map[string][]string // in the order of the stream, by capture/session
	Count  int                 // of records
	Last   map[string]uint64   // sequence of the last record, by partition
}

// ReadRecords reads every record on STENO_EVENTS. Its error names the first one whose ordinals do not
// follow those before it.
func ReadRecords(ctx context.Context, js jetstream.JetStream) (*Records, error) {
	blobs, err := js.ObjectStore(ctx, blobBucket)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	r := &Records{Events: map[string][]string{}, Last: map[string]uint64{}}
	err = read(ctx, js, eventStream, func(m jetstream.Msg, seq uint64) error {
		capture, partition, err := captureOf(m.Subject())
		if err != nil {
			return err
		}
		data, err := payload(ctx, blobs, capture, m)
		if err != nil {
			return err
		}
		r.Count++
		r.Last[partition] = seq
		if err := r.add(capture, m.Headers().Get("Steno-Ordinals"), string(data)); err != nil {
			return fmt.Errorf("record %d of %s: %w", seq, capture, err)
		}
		return nil
	})
	return r, err
}

// add takes a record's events. ordinals states the first of each session in it.
func (r *Records) add(capture, ordinals, data string) error {
	first, err := parseOrdinals(ordinals)
	if err != nil {
		return err
	}
	for line := range strings.Lines(data) {
		var e struct{ Session json.Number }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		transcript := capture + "/" + e.Session.String()
		if want, stated := first[e.Session.String()]; stated {
			if got := len(r.Events[transcript]) + 1; got != want {
				return fmt.Errorf("%s: it states ordinal %d of session %s, and %d events are before it", transcript, want, e.Session, got-1)
			}
			delete(first, e.Session.String())
		}
		r.Events[transcript] = append(r.Events[transcript], strings.TrimSuffix(line, "\n"))
	}
	if len(first) > 0 {
		return fmt.Errorf("it states ordinals of sessions that it does not hold: %v", first)
	}
	return nil
}

// parseOrdinals reads session:ordinal pairs with commas between them.
func parseOrdinals(text string) (map[string]int, error) {
	first := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		session, ordinal, _ := strings.Cut(pair, ":")
		n, err := strconv.Atoi(ordinal)
		if err != nil {
			return nil, fmt.Errorf("ordinals %q: %w", text, err)
		}
		first[session] = n
	}
	return first, nil
}
