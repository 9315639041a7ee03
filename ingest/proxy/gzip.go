package proxy

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"net/http"
	"strings"
)

// errGzip marks bytes that are no gzip stream.
var errGzip = errors.New("gzip stream is damaged")

// errLeft ends the decoding of a stream whose rest nobody wants.
var errLeft = errors.New("decoding was left")

// gunzip decodes a gzip stream as it comes, of several members too. It must be closed.
type gunzip struct {
	emit  func([]byte) error
	chunk []byte
	at    int
	yield func(struct{}) bool
	step  func() (struct{}, bool)
	stop  func()

	inflate inflater
	sum     uint32
	size    uint32
	within  bool // a member has begun and not ended
	err     error
}

// newGunzip gives what it decodes to emit, whose error ends it.
func newGunzip(emit func([]byte) error) *gunzip {
	g := &gunzip{emit: emit}
	g.inflate.next = g.next
	g.inflate.flush = g.decoded
	// The decoder runs while feed does, and stands still where it needs the next byte.
	g.step, g.stop = iter.Pull(func(yield func(struct{}) bool) {
		g.yield = yield
		for g.err == nil {
			g.err = g.member()
		}
	})
	return g
}

// feed decodes the next bytes: all that they decode to was emitted when it returns. With an error it
// gives the offset of the byte where the stream broke.
func (g *gunzip) feed(b []byte) (broke int, err error) {
	if g.err != nil {
		return 0, g.err
	}
	g.chunk, g.at = b, 0
	if _, ok := g.step(); ok {
		g.chunk = nil
		return 0, nil
	}
	return max(g.at-1, 0), g.err
}

// finish is the end of the bytes.
func (g *gunzip) finish() error {
	if g.err == nil && g.within {
		return io.ErrUnexpectedEOF
	}
	return g.err
}

func (g *gunzip) close() { g.stop() }

func (g *gunzip) next() (byte, error) {
	for g.at == len(g.chunk) {
		if err := g.inflate.hand(); err != nil {
			return 0, err
		}
		if !g.yield(struct{}{}) {
			return 0, errLeft
		}
	}
	g.at++
	return g.chunk[g.at-1], nil
}

func (g *gunzip) decoded(b []byte) error {
	g.sum = crc32.Update(g.sum, crc32.IEEETable, b)
	g.size += uint32(len(b))
	return g.emit(b)
}

func (g *gunzip) member() error {
	flags, err := g.header()
	if err != nil {
		return err
	}
	if err := g.skipNames(flags); err != nil {
		return err
	}
	g.sum, g.size = 0, 0
	if err := g.inflate.stream(); err != nil {
		return err
	}
	for _, want := range []uint32{g.sum, g.size} {
		for range 4 {
			c, err := g.next()
			if err != nil {
				return err
			}
			if c != byte(want) {
				return errGzip
			}
			want >>= 8
		}
	}
	g.within = false
	return nil
}

func (g *gunzip) header() (flags byte, err error) {
	for i := range 10 {
		c, err := g.next()
		if err != nil {
			return 0, err
		}
		g.within = true
		if i < 3 && c != "\x1f\x8b\x08"[i] {
			return 0, errGzip
		}
		if i == 3 {
			flags = c
		}
	}
	return flags, nil
}

// skipNames passes over what a header may say besides.
func (g *gunzip) skipNames(flags byte) error {
	skip := 0
	if flags&4 != 0 { // extra
		for i := range 2 {
			c, err := g.next()
			if err != nil {
				return err
			}
			skip |= int(c) << (8 * i)
		}
	}
	for ; skip > 0; skip-- {
		if _, err := g.next(); err != nil {
			return err
		}
	}
	for _, flag := range []byte{8, 16} { // name, comment
		for flags&flag != 0 {
			c, err := g.next()
			if err != nil {
				return err
			}
			if c == 0 {
				break
			}
		}
	}
	if flags&2 != 0 { // a check of the header
		for range 2 {
			if _, err := g.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// gunzipWhole decodes up to limit bytes; with an error it gives what was decoded.
func gunzipWhole(raw []byte, limit int64) ([]byte, error) {
	var plain bytes.Buffer
	g := newGunzip(func(b []byte) error {
		if int64(plain.Len()+len(b)) > limit {
			return errTooLarge
		}
		_, err := plain.Write(b)
		return err
	})
	defer g.close()
	_, err := g.feed(raw)
	if err == nil {
		err = g.finish()
	}
	return plain.Bytes(), err
}

// encoding is how a body is encoded.
type encoding int

const (
	identity encoding = iota
	gzipped
	foreign // not to be read here
)

func readEncoding(h http.Header) encoding {
	switch strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ","))) {
	case "", "identity":
		return identity
	case "gzip", "x-gzip":
		return gzipped
	}
	return foreign
}
