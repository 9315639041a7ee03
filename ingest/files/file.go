package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/steno-io/steno/schema"
)

// ErrEmpty marks a file without a single frame.
var ErrEmpty = errors.New("the file has no frames")

// ErrChanged marks a file whose bytes are not those that Open saw.
var ErrChanged = errors.New("the file changed while it was read")

// File is a file that can be imported. It holds nothing open.
type File struct {
	path     string
	format   format
	protocol schema.Protocol
	sum      [sha256.Size]byte
}

// source gives a file's frames in order, as the file numbers them; io.EOF after the last. Its errors
// name file and line.
type source interface {
	Next() (schema.Frame, error)
	// Command is the agent's command line, where the file says it before its first frame.
	Command() []string
}

// Open finds out what the file is and reads it once for its hash. It fails for a file that is none
// of the formats, that is damaged before its first frame's end, that is not a regular file, and, with
// ErrEmpty, for one without frames.
func Open(path string) (*File, error) {
	in, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer in.Close() // it was only read
	f := &File{path: path}
	if f.format, err = detect(path, in); err != nil {
		return nil, err
	}
	if err := rewind(in); err != nil {
		return nil, err
	}
	first, err := f.source(in).Next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", path, ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	f.protocol = first.Protocol
	if err := rewind(in); err != nil {
		return nil, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return nil, fmt.Errorf("hash %s: %w", path, err)
	}
	hash.Sum(f.sum[:0])
	return f, nil
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path) // before it is opened: a pipe that nobody writes to would never open
	if err != nil {
		return nil, fmt.Errorf("open file to import: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open file to import %s: want a regular file: it is read twice", path)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open file to import: %w", err)
	}
	return in, nil
}

func rewind(in *os.File) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s again from its start: %w", in.Name(), err)
	}
	return nil
}

func (f *File) source(in io.Reader) source {
	switch f.format {
	case rpcLines:
		return newLines(f.path, in)
	case devtools:
		return newExport(f.path, in)
	}
	return newCapture(f.path, in)
}

// Protocol is the protocol that the file's frames speak.
func (f *File) Protocol() schema.Protocol { return f.protocol }

// SHA256 is the hash of the file's bytes, 64 hex digits.
func (f *File) SHA256() string { return hex.EncodeToString(f.sum[:]) }

// Run is the run of an import without another: UUIDv5 of the file's SHA-256.
func (f *File) Run() string { return schema.RunOf(f.SHA256()) }

// Frames gives the frames, numbered 1, 2, 3 …, an open frame first. A file that breaks in the middle
// gives what stands before, then the error, and no close frame. Each range over it reads the file
// anew; its last error is ErrChanged if the bytes are not those that Open saw.
func (f *File) Frames() iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		b := bracket{protocol: f.protocol, yield: func(frame schema.Frame) bool { return yield(frame, nil) }}
		if err := f.read(&b); err != nil {
			yield(schema.Frame{}, err)
		}
	}
}

// read gives the file's frames to b until b has enough.
func (f *File) read(b *bracket) error {
	in, err := openRegular(f.path)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	hash := sha256.New()
	tee := io.TeeReader(in, hash)
	src := f.source(tee)
	for {
		frame, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		b.command = src.Command()
		if ok, err := b.add(frame); err != nil || !ok {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return fmt.Errorf("read %s to its end: %w", f.path, err)
	}
	if [sha256.Size]byte(hash.Sum(nil)) != f.sum {
		return fmt.Errorf("read %s: %w", f.path, ErrChanged)
	}
	return b.end()
}
