package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// MaxReading bounds the bodies of all requests that are read and not yet forwarded: those that find
	// no room wait. Small ones count for nothing.
	MaxReading = 512 << 20
	// smallBody is what a request may bring without room: as much as its connection takes anyway.
	smallBody = 64 << 10
	// mostGzip is how many bytes one of gzip may become.
	mostGzip = 1032
	// bodyWait is how long a client may say nothing in the middle of a request.
	bodyWait = time.Minute
	// headWait is how long the beginning of a request may take that is refused for its length.
	headWait = time.Second
)

// readBody reads the request's body. Room is taken once, for all that may come, before anything more
// than a small body is held: who waits for room holds none.
func (x *exchange) readBody(c *http.ResponseController) (raw []byte, err error) {
	body := &pacedBody{x.in.Body, c}
	defer body.over()
	limit, size := x.proxy.max, x.in.ContentLength
	if size > limit {
		return nil, errTooLarge
	}
	zipped := readEncoding(x.in.Header) == gzipped
	var buf bytes.Buffer
	if size > 0 { // an announcement costs the sender nothing: memory comes with the bytes
		buf.Grow(int(min(size, smallBody)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(body, min(smallBody, limit+1)))
	if err == nil && n == smallBody && n != size {
		need := limit
		if size > 0 {
			need = size
		}
		if zipped {
			need += limit
		}
		if err = x.take(need); err != nil {
			return buf.Bytes(), err
		}
		_, err = buf.ReadFrom(io.LimitReader(body, limit+1-n))
	} else if room := min(limit, n*mostGzip); zipped && room > smallBody {
		err = errors.Join(err, x.take(room))
	}
	if int64(buf.Len()) > limit {
		return buf.Bytes(), errTooLarge
	}
	return buf.Bytes(), err
}

// pacedBody is a body whose sender must go on.
type pacedBody struct {
	body io.Reader
	conn *http.ResponseController
}

func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(bodyWait)) // without one it waits for the client
	return b.body.Read(p)
}

func (b *pacedBody) over() { _ = b.conn.SetReadDeadline(time.Time{}) } // answers may take for ever

// take waits for room.
func (x *exchange) take(n int64) error {
	n = min(n, x.proxy.room)
	if err := x.proxy.reading.Acquire(x.in.Context(), n); err != nil {
		return err
	}
	x.taken = n
	return nil
}

// keepRoom gives back the room that is not needed after all.
func (x *exchange) keepRoom(n int64) {
	if n < x.taken {
		x.proxy.reading.Release(x.taken - n)
		x.taken = n
	}
}

// letGo gives up the request's texts, once nobody needs them any more.
func (x *exchange) letGo() {
	x.keepRoom(0)
	q := &x.request
	q.raw, q.plain, q.shown, q.forward, q.copy, q.head = nil, nil, nil, nil, nil, nil
	x.parcel.drop()
}

// readHead reads the beginning of a request that is refused for its length: it may say what the answer
// has to bear. A client that waits for leave to send is not given it.
func (x *exchange) readHead(w http.ResponseWriter) []byte {
	if x.in.Header.Get("Expect") != "" {
		return nil
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headWait)) // without one it waits for the client
	head, _ := io.ReadAll(io.LimitReader(x.in.Body, smallBody))
	return head
}

// parcel is a body on its way. Where a kept-alive connection turns out to be closed, it is sent again.
type parcel struct{ text atomic.Pointer[[]byte] }

func newParcel(text []byte) *parcel {
	p := &parcel{}
	p.text.Store(&text)
	return p
}

func (p *parcel) open() (io.ReadCloser, error) {
	text := p.text.Load()
	if text == nil {
		return nil, errors.New("send request again: it was let go")
	}
	return &parcelReader{*text}, nil
}

// drop lets go of the bytes; who still reads them keeps them.
func (p *parcel) drop() {
	if p != nil {
		p.text.Store(nil)
	}
}

// parcelReader holds what is still to be read.
type parcelReader struct{ rest []byte }

func (r *parcelReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		r.rest = nil
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *parcelReader) Close() error { return nil }
