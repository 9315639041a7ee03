package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A part ends behind the line that reaches one of these bounds, so that what is in it follows from its
// first line alone. A part holds at least one line, whatever its length.
const (
	maxLines = 16384
	maxBytes = 16 << 20 // of lines, before compression
)

// maxContent bounds what a part unpacks to, in bytes: its last line may be as long as an object.
const maxContent = maxBytes + maxObject

// File is an object of a seal as the seal names it: its name in the capture's folder, and the SHA-256 in
// hex and the bytes of the object itself and, of a part, of the lines in it.
type File struct {
	Name    string   `json:"name"`
	SHA256  string   `json:"sha256"`
	Bytes   int64    `json:"bytes"`
	Content *Content `json:"content,omitempty"` // of a part; a blob is its own content
}

// Content is what a part holds, decompressed.
type Content struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
}

// part is a part in the making.
type part struct {
	first   uint64
	content Content
	sum     hash.Hash
	packed  bytes.Buffer
	zip     *zstd.Encoder
}

// packer makes parts one after the other.
type packer struct{ zip *zstd.Encoder }

// How far back a part's compression looks, in bytes, and what unpacking one takes of memory.
const (
	window    = 1 << 20
	maxWindow = 4 << 20 // of parts that were written before
)

// newPacker makes a packer. One thread: the same lines give the same bytes, and captures are sealed side
// by side anyway.
func newPacker() (*packer, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("start compression: %w", err)
	}
	return &packer{zip}, nil
}

func (p *packer) part(first uint64) *part {
	out := &part{first: first, sum: sha256.New(), zip: p.zip}
	p.zip.Reset(&out.packed)
	return out
}

// add takes a line with its line feed.
func (p *part) add(line []byte) error {
	p.sum.Write(line)
	p.content.Bytes += int64(len(line))
	p.content.Lines++
	_, err := p.zip.Write(line)
	return err
}

func (p *part) full() bool { return p.content.Lines >= maxLines || p.content.Bytes >= maxBytes }

func (p *part) last() uint64 { return p.first + uint64(p.content.Lines) - 1 }

// close gives the part's object, and what a seal says of it but for the name.
func (p *part) close() ([]byte, File, error) {
	if err := p.zip.Close(); err != nil {
		return nil, File{}, err
	}
	p.content.SHA256 = hex.EncodeToString(p.sum.Sum(nil))
	f := describe("", p.packed.Bytes())
	f.Content = &p.content
	return p.packed.Bytes(), f, nil
}

// describe makes the line of an object.
func describe(name string, data []byte) File {
	sum := sha256.Sum256(data)
	return File{Name: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

// contentOf unpacks a part of at most limit bytes, and tells what is in it.
func contentOf(packed []byte, limit int64) ([]byte, Content, error) {
	zip, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, Content{}, err
	}
	defer zip.Close()
	lines, err := io.ReadAll(io.LimitReader(zip, limit+1))
	if err != nil {
		return nil, Content{}, err
	}
	if int64(len(lines)) > limit {
		return nil, Content{}, fmt.Errorf("it unpacks to more than %d bytes", limit)
	}
	if len(lines) == 0 || lines[len(lines)-1] != '\n' {
		return nil, Content{}, errors.New("its last line has no line feed")
	}
	sum := sha256.Sum256(lines)
	return lines, Content{
		SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(lines)), Lines: bytes.Count(lines, []byte{'\n'}),
	}, nil
}
