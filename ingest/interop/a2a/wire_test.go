package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// exchange is a request and its answer, as one side of the wire saw them.
type exchange struct {
	request, answer head
	asked, answered bytes.Buffer
	end             string        // how the answer ended: eof, left (by the reader), or an error
	done            chan struct{} // closed once the server has answered; of arrivals alone
}

// head is what stands above a body.
type head struct {
	line   string
	header http.Header
	length int64
}

// recorder is a transport that notes every byte of every exchange and changes none.
type recorder struct {
	base  http.RoundTripper
	whole bool   // also notes the rest of a stream whose reader has read what it wanted
	alive func() // told of each read that has a keep-alive in it
	mu    sync.Mutex
	all   []*exchange
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{request: head{fmt.Sprintf("%s %s", req.Method, req.URL), req.Header.Clone(), req.ContentLength}}
	if req.Body != nil {
		if _, err := x.asked.ReadFrom(req.Body); err != nil {
			return nil, fmt.Errorf("record the request to %s: %w", req.URL, err)
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(x.asked.Bytes()))
	}
	r.mu.Lock()
	r.all = append(r.all, x)
	r.mu.Unlock()
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.answer = head{fmt.Sprintf("%s %s %v", resp.Proto, resp.Status, resp.TransferEncoding), resp.Header.Clone(), resp.ContentLength}
	body := &tee{x: x, recorder: r, from: resp.Body}
	resp.Body = body
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		// The clients do not always read an answer to its end: what they would have left is noted, too.
		whole, err := io.ReadAll(body)
		if err != nil {
			return nil, fmt.Errorf("record the answer of %s: %w", req.URL, err)
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{bytes.NewReader(whole), body}
	}
	return resp, nil
}

// tee notes what its reader reads.
type tee struct {
	*recorder
	x    *exchange
	from io.ReadCloser
}

func (b *tee) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if bytes.Contains(p[:n], []byte(": keep-alive")) && b.alive != nil {
		b.alive()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.x.answered.Write(p[:n])
	if err != nil && b.x.end == "" {
		b.x.end = err.Error()
		if errors.Is(err, io.EOF) {
			b.x.end = "eof"
		}
	}
	return n, err
}

func (b *tee) Close() error {
	if b.whole {
		io.Copy(io.Discard, struct{ io.Reader }{b}) // an error is noted as the end
	}
	b.mu.Lock()
	if b.x.end == "" {
		b.x.end = "left"
	}
	b.mu.Unlock()
	return b.from.Close()
}

// arrivals notes the requests that reach a server.
type arrivals struct {
	mu  sync.Mutex
	all []*exchange
}

func (a *arrivals) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{
			request: head{fmt.Sprintf("%s http://%s%s %s", r.Method, r.Host, r.URL.RequestURI(), r.Proto), r.Header.Clone(), r.ContentLength},
			done:    make(chan struct{}),
		}
		defer close(x.done)
		if _, err := x.asked.ReadFrom(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(x.asked.Bytes()))
		a.mu.Lock()
		a.all = append(a.all, x)
		a.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// since gives what arrived after the first n.
func (a *arrivals) since(n int) []*exchange {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[n:len(a.all):len(a.all)]
}

func (a *arrivals) count() int { return len(a.since(0)) }
