package api

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/steno-io/steno/console/follow"
)

// retryAfter is how many milliseconds a client waits before it comes again.
const retryAfter = 2000

const (
	// sendFrom is from how many bytes on items are sent without waiting for those that are about to come.
	sendFrom = 32 << 10
	// sendAtOnce is how many bytes have the time of one stall to be taken: a client that takes so little
	// in that time is slow, and not gone.
	sendAtOnce = 8 << 10
)

// eventWriter writes a stream of server-sent events. What comes at the same moment is sent together.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	more    chan struct{} // has an entry when there is something to send

	mu      sync.Mutex
	waiting []byte
	scratch []byte // for an item's encoding
	err     error  // of the connection
}

func newEventWriter(w http.ResponseWriter, stall time.Duration) *eventWriter {
	return &eventWriter{
		w: w, control: http.NewResponseController(w), stall: stall, more: make(chan struct{}, 1),
		waiting: appendRetry(nil),
	}
}

// appendRetry writes when a client is to come again.
func appendRetry(b []byte) []byte {
	return append(strconv.AppendInt(append(b, "retry: "...), retryAfter, 10), "\n\n"...)
}

// run sends what waits, and a comment where nothing does, until ctx ends, and then what is left. Its
// error is the connection's.
func (e *eventWriter) run(ctx context.Context, heartbeat time.Duration) error {
	quiet := time.NewTimer(heartbeat)
	defer quiet.Stop()
	if err := e.flush(nil); err != nil { // that there is a stream is told before anything is read
		return err
	}
	for {
		var comment []byte
		select {
		case <-ctx.Done():
			return e.flush(nil)
		case <-e.more:
		case <-quiet.C:
			comment = []byte(":\n\n")
		}
		if err := e.flush(comment); err != nil {
			return err
		}
		quiet.Reset(heartbeat)
	}
}

func (e *eventWriter) flush(comment []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = append(e.waiting, comment...)
	return e.send()
}

// item writes what a follower tells. It blocks while the client takes nothing.
func (e *eventWriter) item(i follow.Item) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch i := i.(type) {
	case *follow.Event:
		e.put("event", i.Seq, i.Bytes)
	case *follow.Delta:
		e.put("delta", 0, i.Bytes)
	case *follow.Snapshot:
		e.encoded("snapshot", i)
	case *follow.Lag:
		e.encoded("lag", i)
	case *follow.End:
		e.encoded("end", i)
	}
	if len(e.waiting) >= sendFrom {
		return e.send()
	}
	select {
	case e.more <- struct{}{}:
	default:
	}
	return e.err
}

func (e *eventWriter) encoded(name string, of interface{ AppendJSON([]byte) []byte }) {
	e.scratch = of.AppendJSON(e.scratch[:0])
	e.put(name, 0, e.scratch)
	if cap(e.scratch) > sendFrom {
		e.scratch = nil
	}
}

// put adds an event; only what is stored has an id, since nothing else can be resumed behind. JSON has
// no line breaks but between its words, where they mean nothing, and what writes it puts none there.
func (e *eventWriter) put(name string, id uint64, data []byte) {
	b := e.waiting
	if id > 0 {
		b = append(b, "id: "...)
		b = strconv.AppendUint(b, id, 10)
		b = append(b, '\n')
	}
	b = append(append(append(b, "event: "...), name...), "\ndata: "...)
	if bytes.ContainsAny(data, "\r\n") {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r"), []byte(" ")), []byte("\n"), []byte(" "))
	}
	e.waiting = append(append(b, data...), "\n\n"...)
}

// send sends what waits.
func (e *eventWriter) send() error {
	for left := e.waiting; len(left) > 0 && e.err == nil; {
		n := min(len(left), sendAtOnce)
		e.err = e.control.SetWriteDeadline(time.Now().Add(e.stall))
		if e.err == nil {
			_, e.err = e.w.Write(left[:n])
		}
		if e.err == nil {
			e.err = e.control.Flush()
		}
		left = left[n:]
	}
	if e.waiting = e.waiting[:0]; cap(e.waiting) > 2*sendFrom {
		e.waiting = nil
	}
	return e.err
}
