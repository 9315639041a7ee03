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
	plain := &recorder{body: res.Body, x: x, lane: lane}
	if readEncoding(res.Header) != gzipped {
		return plain
	}
	r := &gzipRecorder{recorder: plain}
	r.gunzip = newGunzip(func(b []byte) error { return x.keep(lane, x.answerer, b) })
	return r
}

// recorder records what it reads.
type recorder struct {
	body io.ReadCloser
	x    *exchange
	lane journal.Lane
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.read(b)
	if err := r.x.keep(r.lane, r.x.answerer, b[:n]); err != nil {
		return 0, err
	}
	return n, err
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
}

func (r *gzipRecorder) Read(b []byte) (int, error) {
	n, err := r.read(b)
	if kept := r.keep(b[:n]); kept != nil {
		return 0, kept
	}
	if err == io.EOF && !r.broken {
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
	return r.x.keep(r.lane, r.x.answerer, b)
}

func (r *gzipRecorder) Close() error {
	r.gunzip.close()
	return r.recorder.Close()
}
