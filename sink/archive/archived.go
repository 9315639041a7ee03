package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/sink"
)

// Archived is what seals say that an archive has. Each part that is read is held against the SHA-256 in its
// seal; seals are not proved (Check does that). It is safe for concurrent use.
type Archived struct{ Store Store }

var _ Source = Archived{}

// Last gives the capture's last seal whose note is there too; nil if there is none.
func (a Archived) Last(ctx context.Context, id schema.Identity) (*Seal, error) {
	names, err := sealsOf(ctx, a.Store, id)
	if err != nil {
		return nil, err
	}
	slices.Reverse(names.seals)
	for _, last := range names.seals {
		if slices.Contains(names.notes, last) {
			s, err := a.seal(ctx, id, last)
			return &s, err
		}
	}
	return nil, nil
}

func (a Archived) seal(ctx context.Context, id schema.Identity, last uint64) (Seal, error) {
	data, err := read(ctx, a.Store, Folder(id)+sealName(last), maxSeal)
	if err != nil {
		return Seal{}, err
	}
	s, err := DecodeSeal(data)
	if err == nil && (s.Capture != id.String() || s.Last != last) {
		err = fmt.Errorf("read %s: it is of frame %d of %s", Folder(id)+sealName(last), s.Last, s.Capture)
	}
	return s, err
}

// Frames implements Source: the sealed frames, each with its bytes.
func (a Archived) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		fail := func(err error) {
			yield(schema.Frame{}, fmt.Errorf("read frames of %s in archive %s: %w", id, a.Store, err))
		}
		for f, err := range a.parts(ctx, id) {
			if err != nil {
				fail(err)
				return
			}
			if f.Kind != Frames || f.Last < first {
				continue
			}
			lines, err := a.unpack(ctx, id, f.File)
			if err != nil {
				fail(err)
				return
			}
			r := capturefile.NewArchiveReader(f.Name, bytes.NewReader(lines))
			for {
				frame, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err == nil && frame.Blob != "" && frame.Seq >= first {
					frame.Data, err = a.Blob(ctx, id, frame.Blob)
				}
				if err != nil {
					fail(err)
					return
				}
				frame.Protocol = "" // a stored frame has none; its part stands by itself
				if frame.Seq >= first && !yield(frame, nil) {
					return
				}
			}
		}
	}
}

// Events gives a session's sealed events numbered above after.
func (a Archived) Events(ctx context.Context, key schema.Transcript, after uint64) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		fail := func(err error) {
			yield(sink.Event{}, fmt.Errorf("read events of %s in archive %s: %w", key, a.Store, err))
		}
		for f, err := range a.parts(ctx, key.Identity) {
			if err != nil {
				fail(err)
				return
			}
			if f.Kind != Events || f.Session != key.Session || f.Last <= after {
				continue
			}
			lines, err := a.unpack(ctx, key.Identity, f.File)
			if err != nil {
				fail(err)
				return
			}
			for number := f.First; len(lines) > 0; number++ {
				line, rest, _ := bytes.Cut(lines, []byte{'\n'})
				if lines = rest; number > after && !yield(sink.Event{Seq: number, Bytes: line}, nil) {
					return
				}
			}
		}
	}
}

// sealedFile is a part as its seal names it.
type sealedFile struct {
	Object
	File
}

// parts gives the files of a capture's seals, in the order in which they were sealed, each once.
func (a Archived) parts(ctx context.Context, id schema.Identity) iter.Seq2[sealedFile, error] {
	return func(yield func(sealedFile, error) bool) {
		names, err := sealsOf(ctx, a.Store, id)
		if err != nil {
			yield(sealedFile{}, err)
			return
		}
		for _, last := range names.seals {
			s, err := a.seal(ctx, id, last)
			if err != nil {
				yield(sealedFile{}, err)
				return
			}
			for _, f := range s.Files {
				o, err := ParseObject(Folder(id) + f.Name)
				if !yield(sealedFile{o, f}, err) || err != nil {
					return
				}
			}
		}
	}
}

// unpack reads a part whole and holds it against what its seal says.
func (a Archived) unpack(ctx context.Context, id schema.Identity, want File) ([]byte, error) {
	packed, err := read(ctx, a.Store, Folder(id)+want.Name, maxObject)
	if err != nil {
		return nil, err
	}
	if got := describe(want.Name, packed); got.SHA256 != want.SHA256 {
		return nil, fmt.Errorf("read %s: its bytes have SHA-256 %s, its seal says %s", Folder(id)+want.Name, got.SHA256, want.SHA256)
	}
	if want.Content == nil {
		return nil, fmt.Errorf("read %s: its seal does not say what is in it", Folder(id)+want.Name)
	}
	lines, got, err := contentOf(packed, want.Content.Bytes)
	if err == nil && got != *want.Content {
		err = fmt.Errorf("%d lines with SHA-256 %s are in it, its seal says %d with %s", got.Lines, got.SHA256, want.Content.Lines, want.Content.SHA256)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Folder(id)+want.Name, err)
	}
	return lines, nil
}

// Blobs gives the SHA-256 of each large frame that the capture's seals name, once.
func (a Archived) Blobs(ctx context.Context, id schema.Identity) (shas []string, err error) {
	for f, err := range a.parts(ctx, id) {
		if err != nil {
			return nil, fmt.Errorf("list blobs of %s in archive %s: %w", id, a.Store, err)
		}
		if f.Kind == Blob && !slices.Contains(shas, f.Object.SHA256) {
			shas = append(shas, f.Object.SHA256)
		}
	}
	return shas, nil
}

// Blob reads a large frame's bytes, which have the SHA-256 that it is called by.
func (a Archived) Blob(ctx context.Context, id schema.Identity, sha string) ([]byte, error) {
	name := Folder(id) + blobName(sha)
	data, err := read(ctx, a.Store, name, maxObject)
	if err == nil && hexSum(data) != sha {
		err = fmt.Errorf("read %s: its bytes have SHA-256 %s", name, hexSum(data))
	}
	return data, err
}
