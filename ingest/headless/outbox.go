package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// maxUnread is how many bytes may wait for an agent that does not read them.
const maxUnread = 64 << 20

// message is a request, a notification, or an answer, of the client's.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params any             `json:"params,omitempty"`
	Result any             `json:"result,omitempty"`
	Error  *failure        `json:"error,omitempty"`
}

// failure is the error of an answer.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func refuse(code int, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// outbox writes lines in their order, so that whoever sends never waits for an agent that does not read.
type outbox struct {
	to    *os.File
	most  int           // bytes that may wait
	flood chan struct{} // closed when more than most would wait

	mu     sync.Mutex
	more   sync.Cond
	lines  [][]byte
	size   int
	closed bool
}

func newOutbox(to *os.File) *outbox {
	b := &outbox{to: to, most: maxUnread, flood: make(chan struct{})}
	b.more.L = &b.mu
	return b
}

// send queues a message. After close, and beyond most, it is dropped, and false reported: the agent has not
// got it, and the record does not say that it has.
func (b *outbox) send(m message) (queued bool) {
	line := encode(m)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	defer b.more.Signal()
	if b.size+len(line) > b.most {
		b.lines, b.closed = nil, true
		close(b.flood)
		return false
	}
	b.lines, b.size = append(b.lines, line), b.size+len(line)
	return true
}

// encode writes a message as a line. It has nothing that JSON cannot say.
func encode(m message) []byte {
	var line bytes.Buffer
	line.WriteString(`{"jsonrpc":"2.0",`)
	body := bytes.Buffer{}
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic(fmt.Sprintf("encode message: %v", err))
	}
	line.Write(body.Bytes()[1:])
	return line.Bytes()
}

// close ends the agent's input behind what was sent.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.more.Signal()
}

// run writes until the outbox is closed and empty, or the agent reads no more.
func (b *outbox) run() {
	defer func() { _ = b.to.Close() }() // a pipe's bytes have been taken over by write already
	for {
		b.mu.Lock()
		for len(b.lines) == 0 && !b.closed {
			b.more.Wait()
		}
		if len(b.lines) == 0 {
			b.mu.Unlock()
			return
		}
		line := b.lines[0]
		b.lines, b.size = b.lines[1:], b.size-len(line)
		b.mu.Unlock()
		if _, err := b.to.Write(line); err != nil {
			b.mu.Lock()
			b.closed, b.lines = true, nil // the agent reads no more; how it ended says the rest
			b.mu.Unlock()
			return
		}
	}
}
