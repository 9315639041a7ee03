// Package rebuild fills an empty ledger again: with what an archive proves, and behind it with the records
// that STENO_EVENTS still holds. Both go through the numbering that every record goes through.
//
// A capture of which STENO_EVENTS still has the first record is taken from there alone: its records are
// what the lost ledger was made of. Of the others the archive's frames are folded again, and what the fold
// gives and the archive holds is stored, a record a frame; what of it STENO_EVENTS has as well is compared
// when it is read, byte for byte, as any record that comes again. What neither knows any more is when the
// first of the records that are gone came: a capture that was imported counts as added when the first record
// came that is left, a session of a tapped one when its first event happened.
package rebuild

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
)

// ErrNotEmpty: the ledger holds something already.
var ErrNotEmpty = errors.New("the ledger is not empty")

// Ledger is what is filled.
type Ledger interface {
	sink.Ledger
	sink.Index
	sink.Auditor
}

// Options of a rebuilding. All but those of the check, and Log, are needed.
type Options struct {
	Archive archive.Store
	Check   archive.CheckOptions // Proved is of no use
	Ledger  Ledger
	JS      jetstream.JetStream
	Info    topology.Info
	Log     zerolog.Logger
}

// Result is what a rebuilding did.
type Result struct {
	Checked archive.Checked // of the archive
	Sealed  uint64          // events that came from the archive
	Stats   sink.Stats      // of the ledger, at the end
	Parked  []sink.Parked   // captures of which something is missing, or other than it was
	Holes   []Hole          // captures of which something is missing between archive and stream
}

// Hole is that a capture has frames of which the ledger has neither an event nor that they are open.
type Hole struct {
	Capture schema.Identity
	Frames  int64 // below 0: frames are named twice
}

// Run fills the ledger. Nobody else may store in it meanwhile: one who does is an error that wraps
// sink.ErrFenced. After an error the ledger holds a part, and must be emptied before another try.
func Run(ctx context.Context, o Options) (Result, error) {
	r := &run{o: o, claims: map[uint32]sink.Claim{}, captures: map[schema.Identity]*capture{}}
	if err := r.empty(ctx); err != nil {
		return Result{}, err
	}
	var err error
	if r.blobs, err = topology.OpenBlobs(ctx, o.JS); err != nil {
		return Result{}, err
	}
	if err := r.sealed(ctx); err != nil {
		return Result{}, fmt.Errorf("rebuild from archive %s: %w", o.Archive, err)
	}
	if err := r.rest(ctx); err != nil {
		return Result{}, fmt.Errorf("rebuild from stream %s: %w", topology.Events, err)
	}
	if err := r.index(ctx); err != nil {
		return Result{}, err
	}
	return r.result, r.account(ctx)
}

type run struct {
	o      Options
	blobs  *topology.Blobs
	result Result

	mu       sync.Mutex // guards what follows, and is held while a claim is taken
	claims   map[uint32]sink.Claim
	captures map[schema.Identity]*capture
}

func (r *run) empty(ctx context.Context) error {
	s, err := r.o.Ledger.Stats(ctx)
	if err == nil && s.Captures+s.Transcripts+s.Events > 0 {
		err = fmt.Errorf("%w: %d captures, %d events", ErrNotEmpty, s.Captures, s.Events)
	}
	return err
}

// sealed stores what the archive proves.
func (r *run) sealed(ctx context.Context) (err error) {
	o := r.o.Check
	o.Proved = func(p verify.Proved) error {
		c, err := r.capture(ctx, &p)
		if err != nil {
			return err
		}
		return c.take(ctx, &p)
	}
	if r.result.Checked, err = archive.Check(ctx, r.o.Archive, o); err != nil {
		return err
	}
	for _, c := range r.captures { // what is proved of those that are not good to their end
		if err := c.store(ctx); err != nil {
			return err
		}
		r.result.Sealed += c.stored
	}
	return nil
}

// capture gives what a capture's proved frames are gathered in.
func (r *run) capture(ctx context.Context, p *verify.Proved) (*capture, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.captures[p.Capture]; c != nil {
		return c, nil
	}
	c := &capture{run: r, id: p.Capture, at: p.Events[0].EmittedAt}
	m, left, err := topology.First(ctx, r.o.JS, topology.Events, schema.EventSubject(p.Capture, r.o.Info.Partitions))
	if err != nil {
		return nil, err
	}
	if left {
		c.at = m.Time.UTC()
		if c.left, err = r.begins(ctx, m, p.Events[0].Origin()); err != nil {
			return nil, err
		}
	}
	partition := p.Capture.Partition(r.o.Info.Partitions)
	claim, ok := r.claims[partition]
	if !ok {
		if err = again(ctx, func() (err error) {
			claim, err = r.o.Ledger.Claim(ctx, partition)
			return err
		}); err != nil {
			return nil, err
		}
		r.claims[partition] = claim
	}
	c.claim = claim
	r.captures[p.Capture] = c
	return c, nil
}

// begins reports whether a record is the one that begins with that event. One that cannot be read is not:
// the sink says what is wrong with it.
func (r *run) begins(ctx context.Context, m topology.Message, first schema.Origin) (bool, error) {
	record, _, err := r.blobs.Record(ctx, m)
	if err != nil || len(record.Events) == 0 {
		return false, ctx.Err()
	}
	e, err := schema.DecodeEvent(record.Events[0])
	return err == nil && e.Origin() == first, nil
}

// rest has a sink number what the stream holds now.
func (r *run) rest(ctx context.Context) (err error) {
	s := sink.New(sink.Options{JS: r.o.JS, Ledger: r.o.Ledger, Log: r.o.Log})
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(running) }() // it is waited for below
	for partition := range r.o.Info.Partitions {
		var end topology.Message
		var there bool
		if end, there, err = topology.Last(ctx, r.o.JS, topology.Events, schema.EventPartition(partition)); err != nil {
			break
		}
		if there {
			if err = s.Wait(ctx, partition, end.Seq); err != nil {
				break
			}
		}
	}
	stop()
	return errors.Join(err, <-done)
}

// index fills the search to its end.
func (r *run) index(ctx context.Context) error {
	for {
		if n, err := r.o.Ledger.Index(ctx); err != nil || n == 0 {
			return err
		}
	}
}

// account counts what there is, and lists what is parked, and what has holes.
func (r *run) account(ctx context.Context) (err error) {
	if r.result.Stats, err = r.o.Ledger.Stats(ctx); err != nil {
		return err
	}
	const page = 1000
	for after := ""; ; {
		infos, err := r.o.Ledger.Captures(ctx, after, page)
		if err != nil {
			return err
		}
		for _, c := range infos {
			after = c.Capture.Capture.String()
			if c.Parked != nil {
				r.result.Parked = append(r.result.Parked, *c.Parked)
			} else if n := unaccounted(&c.Capture); n != 0 {
				r.result.Holes = append(r.result.Holes, Hole{c.Capture.Capture, n})
			}
		}
		if len(infos) < page {
			return nil
		}
	}
}

// unaccounted counts a capture's frames that neither an event nor an open message names.
func unaccounted(c *sink.Capture) int64 {
	n := int64(c.Last.Frame) - int64(c.Accounted)
	for _, frames := range c.Open {
		n -= int64(frames)
	}
	return n
}

// Bounds of what is stored in one transaction; one frame more may be in it.
const (
	maxEvents = 4096
	maxBytes  = 8 << 20
)

// capture gathers what was proved of a capture, in the order of its frames.
type capture struct {
	run     *run
	id      schema.Identity
	claim   sink.Claim
	at      time.Time // for the records that are gone
	left    bool      // STENO_EVENTS has all of it
	entries []sink.Entry
	events  int
	bytes   int
	stored  uint64
}

// take makes a record of a proved frame.
func (c *capture) take(ctx context.Context, p *verify.Proved) error {
	if c.left {
		return nil
	}
	record := schema.Record{
		First: map[uint32]uint64{}, Chain: p.Frame.Chain, Translator: p.Translator, Open: p.Open, About: p.About,
	}
	if record.Open == nil {
		record.Open = map[uint32]uint64{}
	}
	for i := range p.Events {
		e := p.Events[i]
		if record.First[e.Session] == 0 {
			record.First[e.Session] = e.StoreSeq
		}
		e.StoreSeq = 0
		record.Last = e.Origin()
		line := e.AppendJSON(nil)
		record.Events = append(record.Events, line)
		c.bytes += len(line)
	}
	entry := sink.NewEntry(c.id, 0, c.at, "", record)
	if entry.Refused != nil {
		return entry.Refused
	}
	c.entries, c.events = append(c.entries, entry), c.events+len(record.Events)
	if c.events < maxEvents && c.bytes < maxBytes {
		return nil
	}
	return c.store(ctx)
}

// store stores what was gathered. The position stays that of nothing: the sink reads from the first message.
func (c *capture) store(ctx context.Context) error {
	if len(c.entries) == 0 {
		return nil
	}
	if err := again(ctx, func() error {
		_, err := sink.Store(ctx, c.run.o.Ledger, sink.Batch{Claim: c.claim, Entries: c.entries})
		return err
	}); err != nil {
		return err
	}
	c.stored += uint64(c.events)
	c.entries, c.events, c.bytes = nil, 0, 0
	return nil
}

// Tries of a write, and the wait before the second, which doubles.
const (
	tries     = 6
	firstWait = 50 * time.Millisecond
)

// again writes until it is done, a few times: a write whose answer was lost may be made again. What cannot get
// better is not tried again.
func again(ctx context.Context, write func() error) error {
	wait := firstWait
	for try := 1; ; try++ {
		err := write()
		if err == nil || try == tries || errors.Is(err, sink.ErrFenced) || errors.Is(err, sink.ErrDenied) || errors.Is(err, sink.ErrRefused) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(wait):
			wait *= 2
		}
	}
}
