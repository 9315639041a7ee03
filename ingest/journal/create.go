package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// Options make a journal.
type Options struct {
	Dir      string
	Head     Head     // an empty ID becomes a new UUIDv7, a zero CreatedAt now; Open.Journal becomes the ID
	Max      int64    // bytes of all journals in Dir; 0: DefaultMax
	WhenFull WhenFull // empty: Block
	// Report hears what the owner should say aloud; nil: nobody does. It is called in the middle of
	// an append and must not call the writer.
	Report func(Notice)
}

// Create makes a journal and locks it for this process. The file comes into sight with its head and
// lock in place, so that a reader never sees a journal without them. Nobody but the owner can read it.
func Create(o Options) (*Writer, error) {
	w, err := prepare(o)
	if err != nil {
		return nil, err
	}
	head, err := appendHead(nil, w.head)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create journal directory: %w", err)
	}
	temporary := w.path + newSuffix
	f, err := openNew(temporary, w.path)
	if err != nil {
		return nil, err
	}
	if err := place(f, head, temporary); err != nil {
		return nil, errors.Join(err, os.Remove(temporary), f.Close())
	}
	if err := syncDir(o.Dir); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.file, w.end = f, int64(len(head))
	return w, nil
}

func prepare(o Options) (*Writer, error) {
	h := o.Head
	if h.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("draw journal id: %w", err)
		}
		h.ID = id.String()
	}
	if h.CreatedAt.IsZero() {
		h.CreatedAt = time.Now()
	}
	h.CreatedAt = h.CreatedAt.UTC().Round(0) // without the monotonic clock
	h.Open.Journal = h.ID
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	policy, err := ParseWhenFull(string(o.WhenFull))
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.Max < 2*reserve {
		return nil, fmt.Errorf("create journal: bound of %d bytes, at least %d", o.Max, 2*reserve)
	}
	path := Path(o.Dir, h.ID)
	return &Writer{
		path: path, head: h, policy: policy, report: o.Report,
		space: space{path: path, max: o.Max, now: time.Now},
		turn:  make(chan struct{}, 1), dirty: make(chan struct{}, 1), ended: make(chan struct{}),
		last: h.CreatedAt.UnixNano(),
	}, nil
}

// openNew makes the file temporary, which its errors call path: the name that it keeps.
func openNew(temporary, path string) (*os.File, error) {
	for {
		fd, err := unix.Open(temporary, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("create journal %s: %w", path, err)
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// place writes the head, makes it durable and gives the file its name.
func place(f *os.File, head []byte, temporary string) error {
	path := f.Name()
	if err := lockFile(f); err != nil {
		return err
	}
	if _, err := f.WriteAt(head, 0); err != nil {
		return fmt.Errorf("write head of journal %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync head of journal %s: %w", path, err)
	}
	// The temporary name is taken exclusively, so nobody can take the final one in between.
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create journal %s: %w", path, errors.Join(fs.ErrExist, err))
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("name journal: %w", err)
	}
	return nil
}

// syncDir makes names given and taken in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync directory %s: %w", dir, err), d.Close())
	}
	return d.Close()
}
