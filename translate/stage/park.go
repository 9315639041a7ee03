package stage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// Reason is why a capture is parked. Each is deterministic: the same frames, records and build give
// it again.
type Reason string

// Reasons.
const (
	// ReasonSealed: its first frames are purged, and there is no snapshot to go on from.
	ReasonSealed Reason = "sealed away"
	// ReasonDiverged: a stored record is not what the fold gives.
	ReasonDiverged Reason = "diverged"
	// ReasonChain: a frame's chain is not that of its bytes, headers and predecessor.
	ReasonChain Reason = "chain broken"
	// ReasonNumber: a frame's number is not the next one.
	ReasonNumber Reason = "numbering gap"
	// ReasonHeader: a frame's headers cannot be read.
	ReasonHeader Reason = "unreadable frame"
	// ReasonBlob: the bytes that a frame or record refers to are not there, or have another hash.
	ReasonBlob Reason = "blob missing"
	// ReasonFrame: the fold refuses the frame.
	ReasonFrame Reason = "frame refused"
	// ReasonPanic: the fold panicked.
	ReasonPanic Reason = "fold panicked"
	// ReasonTranslator: this build does not have the capture's translator version.
	ReasonTranslator Reason = "translator missing"
	// ReasonRecord: the last record cannot be read.
	ReasonRecord Reason = "unreadable record"
	// ReasonKey: the capture is parked, and its key does not say why.
	ReasonKey Reason = "unreadable key"
	// ReasonRefused: the server cannot store the record, however often it is tried.
	ReasonRefused Reason = "record refused"
)

// Parked is the value of a parked capture's key in STENO_PARKED. The key is the capture's subject
// tokens.
type Parked struct {
	Reason     Reason `json:"reason"`
	Error      string `json:"error"`
	Frame      uint64 `json:"frame"`             // that it failed at; the events of its predecessors are stored
	StreamSeq  uint64 `json:"stream_seq"`        // of that frame on STENO_RAW; 0 if a record failed, not a frame
	Translator string `json:"translator"`        // empty before the first frame
	Redrive    bool   `json:"redrive,omitempty"` // it is to be folded again
}

// FirstLine is the error without a panic's stack.
func (p *Parked) FirstLine() string { return firstLine(p.Error) }

// kvOperation is the header of a key that was deleted.
const kvOperation = "KV-Operation"

// ErrParked marks a wait for a capture that is parked.
var ErrParked = errors.New("capture is parked")

// ParkedCapture is a parked capture as listed.
type ParkedCapture struct {
	Identity schema.Identity
	Revision uint64 // of its key
	Parked
}

// identityKeys are the keys that an identity may be: others have another number of tokens.
const identityKeys = "*.*.*.*.*"

// ListParked lists the parked captures by identity. Other keys of the bucket are left out.
func ListParked(ctx context.Context, js jetstream.JetStream) ([]ParkedCapture, error) {
	kv, err := topology.Bucket(ctx, js, topology.Parked)
	if err != nil {
		return nil, fmt.Errorf("list parked captures: %w", err)
	}
	var out []ParkedCapture
	for entry, err := range topology.Entries(ctx, kv, identityKeys) {
		if err != nil {
			return nil, fmt.Errorf("list parked captures: %w", err)
		}
		id, err := schema.ParseIdentitySubject(entry.Key())
		if err != nil {
			continue // nobody's
		}
		p := ParkedCapture{Identity: id, Revision: entry.Revision()}
		if err := json.Unmarshal(entry.Value(), &p.Parked); err != nil {
			p.Parked = Parked{Reason: ReasonKey, Error: fmt.Sprintf("read key %s: %v", entry.Key(), err)}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b ParkedCapture) int { return cmp.Compare(a.Identity.String(), b.Identity.String()) })
	return out, nil
}

// park stops the capture at a frame. What was folded before it is stored first, so that a parked
// transcript does not depend on when its worker noticed. c.mu is held.
func (p *partition) park(ctx context.Context, c *capture, bad *failure, frame, seq uint64) error {
	if isGap(bad.reason) {
		again, err := p.mayGoOn(ctx, c)
		if err != nil {
			return err
		}
		if again {
			c.rawSeq = max(c.rawSeq, seq)
			return p.reload(ctx, c)
		}
	}
	if bad.reason == ReasonSealed {
		var err error
		if bad, err = p.sealedAway(ctx, c, bad); err != nil {
			return err
		}
	}
	if c.resumed {
		return p.distrust(ctx, c, bad, seq)
	}
	if c.failed != nil && bad.reason == ReasonSealed { // it cannot be told whether the snapshot was to blame
		bad = &failure{c.failed.reason, fmt.Errorf("%w (and it cannot begin without its snapshot: %w)", c.failed.err, bad.err)}
		c.frame = 0
		if c.seen != nil { // what its record covers is stored, and no more
			c.frame = c.seen.rec.Last.Frame
		}
		frame = c.frame + 1
	}
	parked := &Parked{Reason: bad.reason, Error: bad.err.Error(), Frame: frame, StreamSeq: seq, Translator: c.version}
	if c.fold != nil && c.fold.Version() != "" {
		parked.Translator = c.fold.Version()
	}
	c.parked, c.seen, c.snap, c.version = parked, nil, nil, parked.Translator
	p.worker.log.Error().Stringer("capture", c.id).Uint64("frame", parked.Frame).Str("reason", string(bad.reason)).
		Str("error", firstLine(parked.Error)).Msg("capture parked")
	return p.storeParked(ctx, c)
}

// firstLine is an error without a panic's stack.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// parkRecords stops a capture whose records can neither be gone on behind nor be stored: what is
// pending is given up. c.mu is held.
func (p *partition) parkRecords(ctx context.Context, c *capture, bad *failure) error {
	if c.resumed {
		return p.distrust(ctx, c, bad, 0)
	}
	c.frame = c.through()
	c.dropAll()
	return p.park(ctx, c, bad, c.frame+1, 0)
}

// storeParked writes the key of a parked capture once nothing of it is pending. c.mu is held.
func (p *partition) storeParked(ctx context.Context, c *capture) error {
	if c.parked == nil || c.parkedStored || c.overtaken || len(c.pending) > 0 {
		return nil
	}
	value, err := json.Marshal(c.parked)
	if err != nil {
		return fmt.Errorf("park %s: %w", c.id, err)
	}
	err = p.worker.retry(ctx, "store parked capture "+c.id.String(), func() (err error) {
		c.overtaken, err = p.putParked(ctx, c, value)
		return err
	})
	if err != nil {
		return err
	}
	if c.overtaken { // until then the mark waits for it
		p.errands.add(func(ctx context.Context) error { return p.foldAgain(ctx, c) })
		return nil
	}
	if !p.worker.gate.same(c.number) { // the key may stand beside other streams than those that were folded
		c.overtaken = true
		p.redrive(c.id, c.parkedRevision)
		return nil
	}
	c.parkedStored, c.redriven = true, 0
	p.worker.counts.parked.Add(1)
	c.fold = nil
	c.holdAt(0)
	return nil
}

// foldAgain folds a capture anew whose park was overtaken.
func (p *partition) foldAgain(ctx context.Context, c *capture) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone || !c.overtaken {
		return nil
	}
	if err := p.reload(ctx, c); err != nil {
		return err
	}
	p.touch(c)
	p.waiting.settle(c)
	return nil
}

// putParked writes the key behind the revision that this fold knows of. A key that was written since the
// fold began stands: it says that another worker has parked the capture, or it is one's own, stored by a
// write whose answer was lost, or a request to fold the capture again, which this worker is told of.
// Where it was deleted since, the capture was redriven and came through, and what this fold says of it
// is overtaken; so is what was read over a connection that was lost.
func (p *partition) putParked(ctx context.Context, c *capture, value []byte) (overtaken bool, err error) {
	subject := topology.ParkedSubject(c.id.Subject())
	for behind := uint64(0); ; {
		if !p.worker.gate.same(c.number) {
			return true, nil
		}
		ack, err := p.worker.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: value}, jetstream.WithExpectLastSequencePerSubject(behind))
		if err == nil {
			c.parkedRevision = ack.Sequence
			return false, nil
		}
		m, there, readErr := topology.Last(ctx, p.worker.js, topology.ParkedStream, subject)
		switch {
		case readErr != nil:
			return false, errors.Join(err, readErr)
		case !there || m.Seq == behind:
			return false, err // nothing was stored
		case m.Seq <= c.parkedKnown:
			behind = m.Seq
		case m.Header.Get(kvOperation) != "":
			c.parkedKnown = m.Seq
			return true, nil
		default:
			c.parkedRevision = m.Seq
			return false, nil
		}
	}
}
