package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
)

// WriteTar writes a capture's folder as a tar: the bundle. It has no times and no owners: the same folder
// gives the same bytes.
func WriteTar(ctx context.Context, out io.Writer, store Store, id schema.Identity) error {
	if err := writeTar(ctx, out, store, Folder(id)); err != nil {
		return fmt.Errorf("write bundle of %s: %w", id, err)
	}
	return nil
}

func writeTar(ctx context.Context, out io.Writer, store Store, prefix string) error {
	var all []Listed
	for listed, err := range store.List(ctx, prefix) {
		if err != nil {
			return err
		}
		all = append(all, listed)
	}
	slices.SortFunc(all, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	w := tar.NewWriter(out)
	for _, listed := range all {
		if err := addToTar(ctx, w, store, listed); err != nil {
			return err
		}
	}
	return w.Close()
}

func addToTar(ctx context.Context, w *tar.Writer, store Store, listed Listed) (err error) {
	in, err := store.Open(ctx, listed.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	header := &tar.Header{Name: listed.Name, Size: listed.Bytes, Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}

// Bundle is a tar of an archive's objects, read where they stand in the file. Nothing is written into it.
type Bundle struct {
	name    string
	file    *os.File
	members map[string]member
}

type member struct{ at, size int64 }

var _ Store = (*Bundle)(nil)

// OpenBundle opens a tar. One that is not written as WriteTar writes it, byte for byte, is ErrBundle.
func OpenBundle(ctx context.Context, name string) (*Bundle, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	b := &Bundle{name: name, file: file, members: map[string]member{}}
	err = b.index()
	if err == nil {
		err = b.compare(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open bundle %s: %w", name, err), file.Close())
	}
	return b, nil
}

// ErrBundle marks a tar that is no bundle, or not as it was written.
var ErrBundle = errors.New("it is not as a bundle is written")

func (b *Bundle) index() error {
	r := tar.NewReader(b.file)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBundle, err)
		}
		if h.Typeflag != tar.TypeReg || path.Clean(h.Name) != h.Name || strings.HasPrefix(h.Name, "/") || strings.HasPrefix(h.Name, "..") {
			return fmt.Errorf("%w: %q is no plain file of an archive", ErrBundle, h.Name)
		}
		if _, twice := b.members[h.Name]; twice {
			return fmt.Errorf("%w: %q is in it twice", ErrBundle, h.Name)
		}
		at, err := b.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		b.members[h.Name] = member{at, h.Size}
	}
}

// compare writes the tar again and holds it against the file: no byte of it is without a meaning.
func (b *Bundle) compare(ctx context.Context) error {
	if _, err := b.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	same := &comparing{with: bufio.NewReader(b.file)}
	if err := writeTar(ctx, same, b, ""); err != nil {
		return err
	}
	if _, err := same.with.ReadByte(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something is behind its end, byte %d", ErrBundle, same.at)
	}
	return nil
}

// comparing is written to what must be in a reader.
type comparing struct {
	with *bufio.Reader
	at   int64
	have []byte
}

func (c *comparing) Write(p []byte) (int, error) {
	if cap(c.have) < len(p) {
		c.have = make([]byte, len(p))
	}
	have := c.have[:len(p)]
	n, err := io.ReadFull(c.with, have)
	if differs := differAt(have[:n], p); differs < len(p) {
		return 0, fmt.Errorf("%w: from byte %d on", ErrBundle, c.at+int64(differs))
	}
	c.at += int64(len(p))
	return len(p), err
}

// String implements Store.
func (b *Bundle) String() string { return b.name }

// Close closes the file.
func (b *Bundle) Close() error { return b.file.Close() }

// Put implements Store: a bundle is only read.
func (b *Bundle) Put(context.Context, string, []byte) error { return b.readOnly() }

// Replace implements Store, as Put.
func (b *Bundle) Replace(context.Context, string, []byte, []byte) error { return b.readOnly() }

func (b *Bundle) readOnly() error { return fmt.Errorf("write into bundle %s: it is only read", b.name) }

// Open implements Store.
func (b *Bundle) Open(_ context.Context, name string) (io.ReadCloser, error) {
	m, ok := b.members[name]
	if !ok {
		return nil, fmt.Errorf("open %s in bundle %s: %w", name, b.name, ErrNotFound)
	}
	return io.NopCloser(io.NewSectionReader(b.file, m.at, m.size)), nil
}

// List implements Store.
func (b *Bundle) List(_ context.Context, prefix string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		var names []string
		for name := range b.members {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			if !yield(Listed{Name: name, Bytes: b.members[name].size}, nil) {
				return
			}
		}
	}
}

// IsBundle reports whether a file begins as a tar does.
func IsBundle(head []byte) bool {
	return len(head) >= 512 && bytes.HasPrefix(head[257:], []byte("ustar"))
}
