package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
	"github.com/steno-io/steno/sink"
)

// Source is where a capture's frames are read from.
type Source interface {
	// Frames gives the capture's frames from number first on, in order, without gaps, each with its bytes,
	// those of large ones too.
	Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error]
}

// Ledger is what is sealed; see sink.Reader and sink.Auditor.
type Ledger interface {
	Capture(ctx context.Context, id schema.Identity) (sink.CaptureInfo, error)
	Transcript(ctx context.Context, key schema.Transcript) (sink.Summary, error)
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error]
}

// ErrDiffers: the archive holds something else of a capture than what is to be sealed.
var ErrDiffers = errors.New("the archive holds something else")

// ErrBroken: the frames to be sealed are not whole: their numbers or their chain break off.
var ErrBroken = errors.New("frames do not follow one another")

// Sealer seals captures into an archive. It is safe for concurrent use.
type Sealer struct {
	store  Store
	source Source
	ledger Ledger
	key    Key
}

// NewSealer makes a sealer.
func NewSealer(store Store, source Source, ledger Ledger, key Key) *Sealer {
	return &Sealer{store, source, ledger, key}
}

// Seal seals what the ledger has of a capture behind its last seal, up to the last frame of a record, and
// gives the capture's last seal; nil if the ledger has nothing of it. Killed at any point and called
// again, also by another process, it completes what was begun. ErrDiffers, ErrBroken: what is to be
// sealed does not fit; nothing is signed.
func (s *Sealer) Seal(ctx context.Context, id schema.Identity) (*Seal, error) {
	seal, err := s.seal(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("seal %s in archive %s: %w", id, s.store, err)
	}
	return seal, nil
}

func (s *Sealer) seal(ctx context.Context, id schema.Identity) (*Seal, error) {
	log := seals{s.store, id.Namespace}
	end, err := log.end(ctx) // before the look at the seals: what is logged behind it is found in passing
	if err != nil {
		return nil, err
	}
	previous, link, err := s.previous(ctx, log, end, id)
	if err != nil {
		return nil, err
	}
	begun, err := s.begin(ctx, id, previous)
	if err != nil || begun == nil {
		return previous, err
	}
	seal, err := s.write(ctx, id, begun, previous, link)
	if err != nil {
		return nil, err
	}
	data, err := seal.Encode()
	if err != nil {
		return nil, err
	}
	if err := s.put(ctx, Folder(id)+sealName(seal.Last), data); err != nil {
		return nil, err
	}
	entry, err := log.append(ctx, end, seal.Capture, seal.Last, hexSum(data))
	if err != nil {
		return nil, err
	}
	return seal, s.finish(ctx, log, id, seal, data, entry)
}

// previous gives the capture's last seal and its link, and finishes it if that was left out: its note
// comes last of all.
func (s *Sealer) previous(ctx context.Context, log seals, end *Entry, id schema.Identity) (*Seal, *Link, error) {
	names, err := sealsOf(ctx, s.store, id)
	if err != nil || len(names.seals) == 0 {
		return nil, nil, err
	}
	last := names.seals[len(names.seals)-1]
	data, err := read(ctx, s.store, Folder(id)+sealName(last), maxSeal)
	if err != nil {
		return nil, nil, err
	}
	seal, err := DecodeSeal(data)
	if err != nil {
		return nil, nil, err
	}
	link := &Link{last, hexSum(data)}
	if slices.Contains(names.notes, last) {
		return &seal, link, nil
	}
	if err := s.put(ctx, Folder(id)+sealName(last), data); err != nil { // it is there, and may not outlive a power loss
		return nil, nil, err
	}
	entry, err := log.find(ctx, end, seal.Capture, seal.Last, link.SHA256)
	if err != nil {
		return nil, nil, err
	}
	if entry == nil {
		added, err := log.append(ctx, end, seal.Capture, seal.Last, link.SHA256)
		if err != nil {
			return nil, nil, err
		}
		entry = &added
	}
	return &seal, link, s.finish(ctx, log, id, &seal, data, *entry)
}

// finish signs the log's head and the seal. Another sealer's note is as good.
func (s *Sealer) finish(ctx context.Context, log seals, id schema.Identity, seal *Seal, data []byte, entry Entry) error {
	if err := log.sign(ctx, s.key, entry); err != nil {
		return err
	}
	signed, err := s.key.sign(checkpoint{origin: sealOrigin + seal.Capture, size: seal.Last, root: seal.Root, sha256: hexSum(data)})
	if err != nil {
		return err
	}
	err = s.store.Put(ctx, Folder(id)+noteName(sealName(seal.Last)), signed)
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// write puts all objects of a seal but itself and its note.
func (s *Sealer) write(ctx context.Context, id schema.Identity, b *Begun, previous *Seal, link *Link) (*Seal, error) {
	seal := &Seal{
		Version: SealVersion, Capture: b.Capture, Protocol: b.Protocol, Translator: b.Translator,
		Last: b.Last, Origin: b.Origin, Chain: b.Chain, Sessions: b.Sessions, Open: b.Open,
		Previous: link, Files: []File{},
	}
	w := &writing{Sealer: s, id: id, seal: seal, tree: &Tree{}}
	if previous != nil {
		seal.Gaps, w.chain = previous.Gaps, previous.Chain
		var err error
		if w.tree, err = NewTree(previous.Last, previous.Edge); err != nil {
			return nil, err
		}
	}
	var err error
	if w.packer, err = newPacker(); err != nil {
		return nil, err
	}
	if err := w.frames(ctx, b.First); err != nil {
		return nil, err
	}
	for _, h := range b.Sessions {
		if err := w.events(ctx, h, previous.head(h.Session)); err != nil {
			return nil, err
		}
	}
	seal.Root, seal.Edge = w.tree.Root(), w.tree.Edge()
	slices.SortFunc(seal.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return seal, nil
}

// writing is one seal at work.
type writing struct {
	*Sealer
	id     schema.Identity
	seal   *Seal
	tree   *Tree
	chain  string // of the frame before
	packer *packer
}

// frames writes the frames from first on up to the seal's last, and their blobs.
func (w *writing) frames(ctx context.Context, first uint64) error {
	var p *part
	var line []byte
	next := first
	for f, err := range w.source.Frames(ctx, w.id, first) {
		if err != nil {
			return err
		}
		if f.Seq != next {
			return fmt.Errorf("%w: want frame %d, got %d", ErrBroken, next, f.Seq)
		}
		if err := w.link(&f); err != nil {
			return err
		}
		if f.Blob != "" {
			if err := w.blob(ctx, &f); err != nil {
				return err
			}
		}
		if p == nil {
			p = w.packer.part(f.Seq)
			f.Protocol = w.seal.Protocol // a part stands by itself
		}
		if line, err = capturefile.AppendArchiveLine(line[:0], &f); err != nil {
			return err
		}
		if err := p.add(line); err != nil {
			return err
		}
		if p.full() || f.Seq == w.seal.Last {
			if err := w.close(ctx, p, framesName(p.first, p.last())); err != nil {
				return err
			}
			p = nil
		}
		if next++; next > w.seal.Last {
			break
		}
	}
	switch {
	case next <= w.seal.Last:
		return fmt.Errorf("%w: the last one is %d, the ledger covers %d", ErrBroken, next-1, w.seal.Last)
	case w.chain != w.seal.Chain:
		return fmt.Errorf("%w: frame %d has chain %s, the ledger says %s", ErrBroken, w.seal.Last, w.chain, w.seal.Chain)
	}
	return nil
}

// link takes a frame into the chain and the tree.
func (w *writing) link(f *schema.Frame) error {
	chain, err := schema.ChainHash(w.chain, f)
	if err != nil {
		return err
	}
	if chain != f.Chain {
		return fmt.Errorf("%w: frame %d has chain %s, its bytes, headers and predecessor give %s", ErrBroken, f.Seq, f.Chain, chain)
	}
	leaf, err := schema.Leaf(f.Salt, f.Data)
	if err != nil {
		return err
	}
	w.tree.Append(leaf)
	w.chain = chain
	if f.Type == schema.TypeGap {
		w.seal.Gaps++
	}
	return nil
}

// blob puts a large frame's bytes, once for all frames of this seal that hold them, and takes them out of
// the frame's line.
func (w *writing) blob(ctx context.Context, f *schema.Frame) error {
	file := describe(blobName(f.Blob), f.Data)
	if file.SHA256 != f.Blob {
		return fmt.Errorf("%w: frame %d names blob %s, its bytes have %s", ErrBroken, f.Seq, f.Blob, file.SHA256)
	}
	if !slices.ContainsFunc(w.seal.Files, func(have File) bool { return have.Name == file.Name }) {
		if err := w.put(ctx, Folder(w.id)+file.Name, f.Data); err != nil {
			return err
		}
		w.seal.Files = append(w.seal.Files, file)
	}
	f.Data = nil
	return nil
}

// events writes a session's events behind a number, up to the session's head.
func (w *writing) events(ctx context.Context, to Heads, after uint64) error {
	var p *part
	next := after + 1
	if next > to.Head {
		return nil
	}
	key := schema.Transcript{Identity: w.id, Session: to.Session}
	for e, err := range w.ledger.Events(ctx, key, after, 0) {
		if err != nil {
			return err
		}
		if e.Seq != next {
			return fmt.Errorf("%w: want event %d of session %d, got %d", ErrBroken, next, to.Session, e.Seq)
		}
		if p == nil {
			p = w.packer.part(e.Seq)
		}
		if err := p.add(append(e.Bytes, '\n')); err != nil {
			return err
		}
		if p.full() || e.Seq == to.Head {
			if err := w.close(ctx, p, eventsName(to.Session, p.first, p.last())); err != nil {
				return err
			}
			p = nil
		}
		if next++; next > to.Head {
			return nil
		}
	}
	return fmt.Errorf("%w: session %d has %d events, the seal is to have %d", ErrBroken, to.Session, next-1, to.Head)
}

// close puts a part. One that is there already must hold the same lines; then it stays, as it is packed.
func (w *writing) close(ctx context.Context, p *part, name string) error {
	data, file, err := p.close()
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	file.Name = name
	err = w.store.Put(ctx, Folder(w.id)+name, data)
	if errors.Is(err, ErrExists) {
		file, err = w.compare(ctx, file)
	}
	if err != nil {
		return err
	}
	w.seal.Files = append(w.seal.Files, file)
	return nil
}

// compare gives the line of a part that is there, which must hold what was to be written.
func (w *writing) compare(ctx context.Context, want File) (File, error) {
	packed, err := read(ctx, w.store, Folder(w.id)+want.Name, maxObject)
	if err != nil {
		return File{}, err
	}
	_, content, err := contentOf(packed, want.Content.Bytes)
	if err == nil && content != *want.Content {
		err = fmt.Errorf("%d lines with SHA-256 %s, not %d with %s", content.Lines, content.SHA256, want.Content.Lines, want.Content.SHA256)
	}
	if err != nil {
		return File{}, fmt.Errorf("%w: %s: %w", ErrDiffers, want.Name, err)
	}
	file := describe(want.Name, packed)
	file.Content = &content
	return file, nil
}

// put puts an object that every sealer writes the same.
func (s *Sealer) put(ctx context.Context, name string, data []byte) error {
	err := s.store.Put(ctx, name, data)
	if !errors.Is(err, ErrExists) {
		return err
	}
	have, err := read(ctx, s.store, name, int64(len(data)))
	if err == nil && hexSum(have) == hexSum(data) {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: %s", ErrDiffers, name), err)
}
