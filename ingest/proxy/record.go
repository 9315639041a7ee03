package proxy

import (
	"io"
	"net/http"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// recordBody records a body that is here whole, and the evidence before it, which says what was masked
// in both.
func (x *exchange) recordBody(lane journal.Lane, from schema.From, evidence a2a.Evidence, text []byte, masked masks) error {
	all := masks(evidence.Masked)
	for _, what := range masked {
		all.add(what)
	}
	evidence.Masked = all
	if err := x.say(lane, evidence); err != nil {
		return err
	}
	return x.keep(lane, from, text)
}

// recorder makes an answer's body one that is recorded before it is passed on.
func (x *exchange) recorder(res *http.Response, lane journal.Lane) io.ReadCloser {
	plain := &recorder{body: res.Body, x: x, lane: lane, search: echoSearch{echoes: x.echoes}}
	if readEncoding(res.Header) != gzipped {
		return plain
	}
	r := &gzipRecorder{recorder: plain}
	r.gunzip = newGunzip(plain.keep)
	return r
}

// maxHeld bounds what is held back of a stream of which one read after the other ends with what may be
// the beginning of a secret.
const maxHeld = 16 * chunk

// recorder records what it reads. Where that ends with what may be the beginning of a secret, it is
// passed on when it is known, and recorded, whether it is one.
type recorder struct {
	body   io.ReadCloser
	x      *exchange
	lane   journal.Lane
	search echoSearch
	held   []byte // read, and not yet to be passed on
	out    []byte // to be passed on, in the place of what is read next
	err    error  // behind out
}

func (r *recorder) Read(b []byte) (int, error) {
	return r.pass(b, r.keep)
}

// pass reads, records and gives what may be passed on.
func (r *recorder) pass(b []byte, keep func([]byte) error) (int, error) {
	for {
		if len(r.out) > 0 || r.err != nil {
			n := copy(b, r.out)
			if r.out = r.out[n:]; len(r.out) > 0 {
				return n, nil
			}
			return n, r.err
		}
		n, err := r.read(b)
		if kept := keep(b[:n]); kept != nil {
			return 0, kept
		}
		if err != nil || len(r.held)+n > maxHeld {
			if kept := r.finish(); kept != nil {
				return 0, kept
			}
		}
		switch {
		case len(r.search.held) > 0:
			r.held = append(r.held, b[:n]...)
		case len(r.held) > 0:
			r.out, r.held, r.err = append(r.held, b[:n]...), nil, err
		default:
			return n, err
		}
	}
}

// keep records bytes, as far as they hold no secret.
func (r *recorder) keep(b []byte) error {
	return r.x.keep(r.lane, r.x.answerer, r.search.feed(b))
}

// finish records what may be the beginning of a secret, and is one no more.
func (r *recorder) finish() error {
	return r.x.keep(r.lane, r.x.answerer, r.search.finish())
}

// read reads the next bytes and says what broke.
func (r *recorder) read(b []byte) (int, error) {
	n, err := r.body.Read(b)
	if err != nil && err != io.EOF {
		r.x.broke(r.x.gone(err))
	}
	return n, err
}

func (r *recorder) Close() error { return r.body.Close() }

// gzipRecorder passes on the bytes as sent and records what they decode to: all of it, before they are
// passed on. What follows where the stream breaks is recorded as sent.
type gzipRecorder struct {
	*recorder
	gunzip *gunzip
	broken bool
	ended  bool
}

func (r *gzipRecorder) Read(b []byte) (int, error) {
	n, err := r.pass(b, r.keep)
	if err == io.EOF && !r.broken && !r.ended {
		r.ended = true
		if cut := r.gunzip.finish(); cut != nil {
			r.x.broke(r.x.far + ": read gzip: " + cut.Error())
		}
	}
	return n, err
}

func (r *gzipRecorder) keep(b []byte) error {
	if !r.broken && len(b) > 0 {
		at, err := r.gunzip.feed(b)
		if r.x.unkept != nil || err == nil {
			return r.x.unkept
		}
		r.x.broke(r.x.far + ": read gzip: " + err.Error())
		r.broken = true
		b = b[at:]
	}
	return r.recorder.keep(b)
}

func (r *gzipRecorder) Close() error {
	r.gunzip.close()
	return r.recorder.Close()
}
