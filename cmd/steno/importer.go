package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// Bounds of the frames of a file that are read ahead and appended at a time.
const (
	importBatch      = 500
	importBatchBytes = 8 << 20 // passed by at most one frame
)

// errDiffers marks a file whose frames are not those that its capture holds.
var errDiffers = errors.New("the capture holds another frame there")

// importer appends a file's frames, after comparing those that its capture has already. A frame's place
// in the file is its writer's offset.
type importer struct {
	file     *files.File
	path     string
	id       schema.Identity
	progress *progress
	slow     *waiting
	limit    int                                              // frames of one append
	pace     func(ctx context.Context, f *schema.Frame) error // waits until a frame is due; nil: it is at once

	next  func() (schema.Frame, error, bool)
	stop  func()
	read  uint64 // frames of the file so far
	added uint64
	head  uint64 // number of the capture's last frame

	batch []schema.Frame // that is being appended
	// ahead is what another import under this identity has stored of frames that are not read yet.
	ahead map[uint64]fingerprint
}

func (i *importer) run(ctx context.Context, o publish.AppenderOptions) (err error) {
	o.Identity = i.id
	o.Journal = "import-" + i.id.UUID("import").String() // the same for the same identity, so that it resumes
	o.Exclusive = true
	o.Stored = i.compare
	o.Retry = func(why error) {
		i.progress.done()
		i.slow.on("import %s: trying again: %v", i.path, why)
	}
	appender, err := publish.NewAppender(o)
	if err != nil {
		return err
	}
	defer appender.Close()
	i.rewind()
	defer func() { i.stop() }()
	before, err := appender.Resume(ctx)
	i.head = before.Frames
	if err != nil {
		return err
	}
	for {
		fileErr := i.fill(ctx, o.Journal)
		if len(i.batch) > 0 {
			err := appender.Append(ctx, i.batch)
			now := appender.Head()
			i.head, i.added = now.Frames, now.Offset-before.Offset
			if errors.Is(err, publish.ErrTaken) {
				err = fmt.Errorf("%w: choose another --run or --attempt", err)
			}
			if err != nil {
				return errors.Join(fmt.Errorf("import %s: %w", i.path, err), fileErr)
			}
			i.slow.over()
			i.progress.say("imported %d frames of %s", i.read, i.path)
		}
		if fileErr != nil || len(i.batch) == 0 {
			return fileErr
		}
	}
}

// rewind begins the file anew.
func (i *importer) rewind() {
	if i.stop != nil {
		i.stop()
	}
	i.next, i.stop = iter.Pull2(i.file.Frames())
	i.read = 0
}

// fill reads the next frames into the batch; the error is the file's, behind them.
func (i *importer) fill(ctx context.Context, journal string) error {
	i.batch = i.batch[:0]
	for size := 0; len(i.batch) < i.limit && size < importBatchBytes; {
		f, err, ok := i.next()
		if err != nil && i.read > 0 {
			return fmt.Errorf("%w; what stands before it is kept: %s", err, plural(i.read, "frame"))
		}
		if err != nil || !ok {
			return err
		}
		if i.pace != nil {
			if err := i.pace(ctx, &f); err != nil {
				return err
			}
		}
		i.read++
		if there, ok := i.ahead[i.read]; ok {
			delete(i.ahead, i.read)
			if there != fingerprintOf(&f) {
				return i.differs(i.read)
			}
		}
		f.Writer = schema.Writer{Journal: journal, Offset: i.read}
		i.batch = append(i.batch, f)
		size += len(f.Data)
	}
	return nil
}

// compare holds a stored frame against the file's. It is called while resuming, from the first frame
// on and perhaps again from there, and later for what an append finds stored.
func (i *importer) compare(stored schema.Frame) error {
	at := stored.Writer.Offset
	if n := len(i.batch); n > 0 { // appending
		switch first := i.batch[0].Writer.Offset; {
		case at >= first+uint64(n):
			if i.ahead == nil {
				i.ahead = map[uint64]fingerprint{}
			}
			i.ahead[at] = fingerprintOf(&stored)
		case at >= first && !sameFrame(&stored, &i.batch[at-first]):
			return i.differs(at)
		}
		return nil
	}
	if at <= i.read {
		i.rewind()
	}
	for {
		f, err, ok := i.next()
		switch {
		case err != nil:
			return err
		case !ok:
			return fmt.Errorf("import %s: the file ends with frame %d, and %s goes on: %w", i.path, i.read, i.id, errDiffers)
		}
		i.read++
		switch {
		case i.read < at: // sealed away
		case !sameFrame(&stored, &f):
			return i.differs(at)
		default:
			return nil
		}
	}
}

func (i *importer) differs(frame uint64) error {
	return fmt.Errorf("import %s: frame %d is not that of %s: %w", i.path, frame, i.id, errDiffers)
}

// sameFrame compares all that a file says of a frame but its time: the place in its exchange and what
// HTTP said decide what is told of its bytes.
func sameFrame(a, b *schema.Frame) bool {
	return placeOf(a) == placeOf(b) && bytes.Equal(a.HTTP, b.HTTP) && bytes.Equal(a.Data, b.Data)
}

// place is where a frame stands.
type place struct {
	from     schema.From
	kind     schema.FrameType
	end      schema.End
	exchange string
	no       uint64
	channel  schema.Chan
}

func placeOf(f *schema.Frame) place { return place{f.From, f.Type, f.End, f.Exchange, f.No, f.Chan} }

// fingerprint tells a frame from another without its bytes.
type fingerprint struct {
	place
	http, data [sha256.Size]byte
}

func fingerprintOf(f *schema.Frame) fingerprint {
	return fingerprint{placeOf(f), sha256.Sum256(f.HTTP), sha256.Sum256(f.Data)}
}
