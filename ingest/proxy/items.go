package proxy

import (
	"fmt"
	"io"
	"net/http"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// items is a stream whose items are rewritten one by one: each is passed on when it is whole. The
// record of the original comes first, then that of what was made of it.
type items struct {
	body   io.ReadCloser
	x      *exchange
	lane   journal.Lane
	serve  func([]byte) []byte // makes the data of the other version; nil: none is made
	status int
	masks  bool    // an item is recorded when it is whole, without its secrets
	gunzip *gunzip // nil: as it is
	in     []byte
	cutter blocks
	block  []byte // of the item that is not whole yet
	out    []byte // to pass on
	err    error
}

// answerItems makes an answer's body one of items.
func (x *exchange) answerItems(res *http.Response, lane journal.Lane, evidence a2a.Evidence) error {
	i := &items{body: res.Body, x: x, lane: lane, in: make([]byte, chunk), status: res.StatusCode}
	i.masks = x.request.calls.pushes() || !x.echoes.none()
	if readEncoding(res.Header) == gzipped {
		i.gunzip = newGunzip(i.take)
	}
	dropEncodings(res.Header)
	res.ContentLength = -1
	if x.request.calls.pushes() { // which ones it will hold is not known yet
		evidence.Masked = append(evidence.Masked, "body, where it holds push configs")
	}
	if !x.echoes.none() {
		evidence.Masked = append(evidence.Masked, mayEchos)
	}
	err := x.say(lane, evidence)
	if err == nil && x.serveBack() {
		i.serve = func(data []byte) []byte {
			down, _ := x.bodyDown(data, false)
			return down
		}
		copied := x.answerEvidence(res)
		copied.Served, copied.Masked = servedDown, evidence.Masked
		err = x.say(inStead(lane), copied)
	}
	if err != nil {
		i.closeGunzip()
		return err
	}
	res.Body = i
	return nil
}

func (i *items) Read(b []byte) (int, error) {
	for len(i.out) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		i.more()
	}
	n := copy(b, i.out)
	if i.out = i.out[n:]; len(i.out) == 0 {
		i.out = nil // an item may have been large
	}
	return n, nil
}

func (i *items) Close() error {
	i.closeGunzip()
	return i.body.Close()
}

func (i *items) closeGunzip() {
	if i.gunzip != nil {
		i.gunzip.close()
	}
}

// more reads the next bytes.
func (i *items) more() {
	n, err := i.body.Read(i.in)
	if n > 0 {
		if i.gunzip == nil {
			i.err = i.take(i.in[:n])
		} else {
			_, i.err = i.gunzip.feed(i.in[:n])
		}
	}
	if i.err == nil && err == io.EOF && i.gunzip != nil {
		if cut := i.gunzip.finish(); cut != nil {
			err = fmt.Errorf("read gzip: %w", cut)
		}
	}
	if i.err == nil {
		i.err = err
	}
	if i.err == nil {
		return
	}
	if i.err != io.EOF && i.x.unkept == nil {
		i.x.broke(i.x.gone(i.err))
	}
	if len(i.block) > 0 && i.x.unkept == nil { // what is not whole is passed on all the same
		if kept := i.whole(); kept != nil {
			i.err = kept
		}
	}
}

// take records and rewrites decoded bytes.
func (i *items) take(b []byte) error {
	for len(b) > 0 {
		n, ended := i.cutter.next(b)
		if int64(len(i.block)+n) > i.x.proxy.max {
			return fmt.Errorf("rewrite item: %w: more than %d bytes", errTooLarge, i.x.proxy.max)
		}
		if !i.masks {
			if err := i.x.keep(i.lane, i.x.answerer, b[:n]); err != nil {
				return err
			}
		}
		i.block = append(i.block, b[:n]...)
		b = b[n:]
		if ended {
			if err := i.whole(); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole rewrites an item and records what was made of it.
func (i *items) whole() error {
	x, block := i.x, i.block
	i.block = nil
	calls := x.request.calls
	shown := func(block []byte) []byte {
		if !i.masks {
			return block
		}
		return editData(block, func(data []byte) []byte {
			text, _ := x.maskAnswer(data, true, i.status)
			return text
		})
	}
	if i.masks {
		text, _ := x.echoes.hide(shown(block)) // outside of its data, too
		if err := x.keep(i.lane, x.answerer, text); err != nil {
			return err
		}
	}
	made := editData(block, func(data []byte) []byte {
		if i.serve != nil {
			data = i.serve(data)
		}
		return x.proxy.push.restore(data, answerConfigs(data, calls))
	})
	if i.serve != nil {
		if err := x.keep(inStead(i.lane), x.answerer, shown(made)); err != nil {
			return err
		}
	}
	i.out = append(i.out, made...)
	return nil
}
