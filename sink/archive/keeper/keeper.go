package keeper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// Ledger is what is sealed; see sink.Auditor.
type Ledger interface {
	archive.Ledger
	Captures(ctx context.Context, after string, limit int) ([]sink.CaptureInfo, error)
}

// Options of a keeper. JS, Ledger, Store and Key are needed; the rest has defaults.
type Options struct {
	// JS is on the streams. Where space is given back its connection must not keep what it cannot send
	// (nats.ReconnectBufSize(-1)): a purge must not reach a server that came back with other streams.
	JS     jetstream.JetStream
	Ledger Ledger
	Store  archive.Store
	Key    archive.Key
	// Open opens another archive by its name, which frames were given back to before; nil: none is to be had.
	Open func(ctx context.Context, place string) (archive.Store, error)
	// Cache is shared with others that read archives; nil: with none.
	Cache *archive.Cache
	// Place names the archive for those who read what was given back; empty: as Store names itself.
	Place string
	// Idle is how long a capture that has not ended must have been silent; 0 = 10 minutes.
	Idle time.Duration
	// Keep is how long frames and records that are sealed stay on the streams all the same; 0 = for ever.
	Keep time.Duration
	// Drop is how long events that are sealed stay in the ledger all the same, from when they were said and their
	// transcript came to be there; 0 = for ever. Else Dropper is that ledger, and Claimed gives the claim under which
	// a partition is stored now; false: it is another's.
	Drop    time.Duration
	Dropper Dropper
	Claimed func(partition uint32) (sink.Claim, bool)
	// Long is from how many frames on a capture that goes on is sealed; 0 = 16,384, which is a part.
	Long uint64
	// Every is between two looks at the ledger; 0 = a twentieth of Idle, from a second to a minute.
	Every time.Duration
	// Owns reports whether a partition is this keeper's now; nil = all are. It saves work, no more.
	Owns func(partition uint32) bool
	Log  zerolog.Logger
}

// Defaults.
const (
	DefaultIdle = 10 * time.Minute
	defaultLong = 16384
	page        = 1000
	firstWait   = time.Minute // before a capture that failed is tried again; doubled
	longestWait = time.Hour
	inARow      = 3 // failures to reach the archive or the streams that end a round
)

// Keeper keeps the captures of one ledger.
type Keeper struct {
	o        Options
	archived archive.Archived
	ledger   through
	sealer   *archive.Sealer
	blobs    *topology.Blobs
	info     topology.Info
	source   archive.Joined
	known    map[schema.Identity]*known
	from     string          // capture behind which the next round begins, as the last one broke off there
	saidHeld map[string]bool // why captures are held, as it was said
}

// known is what a keeper remembers of a capture. It is a hint, and so may be forgotten.
type known struct {
	looked bool      // into the archive
	sealed uint64    // last frame that is sealed
	clear  uint64    // sealed frame up to which everything was given back
	again  time.Time // when to look what can be given back
	// as clear and again have it, of what is dropped from the ledger
	dropped   uint64
	dropAgain time.Time
	held      *heldError
	next      time.Time // when it is tried again
	wait      time.Duration
}

// New makes a keeper; Run runs it.
func New(o Options) *Keeper {
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.Long == 0 {
		o.Long = defaultLong
	}
	if o.Every == 0 {
		o.Every = min(max(o.Idle/20, time.Second), time.Minute)
	}
	if o.Place == "" {
		o.Place = o.Store.String()
	}
	o.Store = archive.Telling(o.Store)
	k := &Keeper{o: o, archived: archive.Archived{Store: o.Store}, known: map[schema.Identity]*known{}}
	k.ledger = through{o.Ledger, archive.NewDropped(o.Cache, k.droppedIn)}
	return k
}

// Run keeps until ctx ends, and then returns nil. What fails is logged, and tried again: a capture after a
// minute, then after twice as long, up to an hour; the others go on.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		if err := k.Round(ctx); err != nil && ctx.Err() == nil {
			k.o.Log.Warn().Err(err).Dur("retry_in", k.o.Every).Msg("seal what is due: the rest waits")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(k.o.Every):
		}
	}
}

// Round looks at every capture of the ledger once. Its error is of the streams, the ledger, or an archive
// that fails one capture after the other: then the next round begins behind them. What is wrong with single
// captures is logged. One call at a time.
func (k *Keeper) Round(ctx context.Context) error {
	if err := k.open(ctx); err != nil {
		return err
	}
	k.forget()
	defer k.sayHeld()
	from := k.from
	k.from = ""
	if err := k.each(ctx, from, ""); err != nil || from == "" {
		return err
	}
	return k.each(ctx, "", from)
}

// forget forgets the captures of partitions that are another keeper's.
func (k *Keeper) forget() {
	for id := range k.known {
		if k.o.Owns != nil && !k.o.Owns(id.Partition(k.info.Partitions)) {
			delete(k.known, id)
		}
	}
}

// each looks at the captures behind one, up to another; empty: from the first, to the last.
func (k *Keeper) each(ctx context.Context, after, upTo string) error {
	failed := 0
	for {
		infos, err := k.o.Ledger.Captures(ctx, after, page)
		if err != nil {
			return err
		}
		for i := range infos {
			err := k.tend(ctx, &infos[i])
			after = infos[i].Capture.Capture.String()
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case !unreached(err):
				failed = 0
			default:
				if failed++; failed == inARow {
					k.from = after
					return fmt.Errorf("%d captures in a row failed, the last one so: %w", failed, err)
				}
			}
			if after == upTo {
				return nil
			}
		}
		if len(infos) < page {
			return nil
		}
	}
}

// unreached reports whether an error is that the archive or the streams cannot be reached, or refuse whoever asks.
func unreached(err error) bool {
	if archive.StoreFailed(err) {
		return true
	}
	for _, target := range []error{topology.ErrAway, topology.ErrStalled, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders,
		nats.ErrDisconnected, nats.ErrConnectionClosed, nats.ErrReconnectBufExceeded, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// open reads what the streams are now: they may be other ones than in the round before.
func (k *Keeper) open(ctx context.Context) error {
	info, err := topology.Check(ctx, k.o.JS)
	if err != nil {
		return err
	}
	blobs, err := topology.OpenBlobs(ctx, k.o.JS)
	if err != nil {
		return err
	}
	k.info, k.blobs = info, blobs
	stream := topology.Frames{JS: k.o.JS, Blobs: blobs, Partitions: info.Partitions}
	k.source = archive.Joined{Stream: stream, Open: k.archiveOf}
	k.sealer = archive.NewSealer(k.o.Store, k.source, k.ledger, k.o.Key)
	return nil
}

// archiveOf gives the archive that a capture's frames were given back to.
func (k *Keeper) archiveOf(ctx context.Context, id schema.Identity) (archive.Store, error) {
	said, err := topology.ReadReturned(ctx, k.o.JS, id)
	if err != nil {
		return nil, err
	}
	if k.o.Open == nil || said.Archive == "" || said.Archive == k.o.Place {
		return k.o.Store, nil
	}
	return k.o.Open(ctx, said.Archive)
}

// tend seals a capture if it is due, and gives back of it what may be given back.
func (k *Keeper) tend(ctx context.Context, c *sink.CaptureInfo) error {
	id := c.Capture.Capture
	if c.Last.Frame == 0 || k.o.Owns != nil && !k.o.Owns(id.Partition(k.info.Partitions)) {
		return nil
	}
	n := k.known[id]
	if n == nil {
		n = &known{}
		k.known[id] = n
	}
	now := time.Now()
	if now.Before(n.next) {
		return nil
	}
	what := "seal capture"
	err := k.seal(ctx, c, n, now)
	if errors.Is(err, topology.ErrBlob) { // the archive may have it
		err = errors.Join(err, k.putBack(ctx, id))
	}
	if err == nil && k.o.Keep > 0 && n.clear < n.sealed && !now.Before(n.again) {
		what = "give back what is sealed of a capture"
		err = k.giveBack(ctx, id, n, now)
	}
	if err == nil && k.o.Drop > 0 && n.dropped < n.sealed && !now.Before(n.dropAgain) {
		what = "drop what is sealed of a capture from the ledger"
		err = k.drop(ctx, c, n, now)
	}
	if err != nil && ctx.Err() == nil {
		n.wait = min(max(2*n.wait, firstWait), longestWait)
		n.next = now.Add(n.wait)
		k.o.Log.Warn().Err(err).Stringer("capture", id).Dur("retry_in", n.wait).Str("do", remedy(err)).Msg(what)
		return err
	}
	n.wait = 0
	return err
}

// remedy says what to do about an error that stays.
func remedy(err error) string {
	switch {
	case errors.Is(err, archive.ErrDiffers), errors.Is(err, sink.ErrOther):
		return "steno verify ARCHIVE says what the archive has; an archive takes no other history of a capture: give this one another archive"
	case errors.Is(err, archive.ErrBroken), errors.Is(err, topology.ErrReturned):
		return "steno verify says which frames are missing or changed; those that another archive has are given by it alone"
	case errors.Is(err, topology.ErrBlob):
		return "the bytes of a large frame are gone from the bucket " + topology.Blob + ": put them back from a copy"
	}
	return "nothing, if it passes"
}
