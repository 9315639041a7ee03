//go:build faults

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// link is one connection of a line, read operation by operation.
type link struct {
	line           *line
	client, server net.Conn

	writing  sync.Mutex // to the client, whole operations
	toClient *bufio.Writer
	mu       sync.Mutex
	inboxes  []subscription
	asked    map[string]string  // subject of a publish, by the inbox that its answer goes to
	swallow  map[string]trouble // of answers, by inbox
}

// subscription is one of the client's own inboxes.
type subscription struct{ prefix, sid string }

func (k *link) run() {
	defer k.line.gone(k)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.down()
		k.close()
	}()
	k.up()
	k.close()
	<-done
}

// close cuts the connection, at once on both sides.
func (k *link) close() {
	for _, conn := range []net.Conn{k.client, k.server} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // it may be closed
		}
		_ = conn.Close() // likewise
	}
}

const buffer = 64 << 10

// operation reads one operation: its words, and what follows the line. Both are the reader's.
func operation(in *bufio.Reader, scratch []byte) (head []byte, words []string, payload []byte, err error) {
	text, err := in.ReadSlice('\n')
	if err != nil {
		return nil, nil, nil, err
	}
	head = bytes.Clone(text)
	verb, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte(" "))
	switch strings.ToUpper(string(verb)) {
	case "PUB", "HPUB", "MSG", "HMSG":
		words = strings.Fields(string(head))
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return nil, nil, nil, fmt.Errorf("operation %q: %w", head, err)
		}
		if size += 2; cap(scratch) < size {
			scratch = make([]byte, size)
		}
		payload = scratch[:size]
		_, err = io.ReadFull(in, payload)
		return head, words, payload, err
	case "SUB":
		words = strings.Fields(string(head))
	}
	return head, words, nil, nil
}

// up passes on what the client sends until either side ends.
func (k *link) up() {
	in, out := bufio.NewReaderSize(k.client, buffer), bufio.NewWriterSize(k.server, buffer)
	var scratch []byte
	for {
		head, words, payload, err := operation(in, scratch)
		if err != nil || k.line.pass() != nil {
			return
		}
		scratch = payload
		refused, err := k.published(words)
		if err == nil && refused {
			head, payload = nil, nil
		}
		if err == nil {
			err = write(in, out, head, payload)
		}
		if err != nil {
			return
		}
	}
}

// write passes an operation on, at once if no other waits.
func write(in *bufio.Reader, out *bufio.Writer, head, payload []byte) error {
	if _, err := out.Write(head); err != nil {
		return err
	}
	if _, err := out.Write(payload); err != nil {
		return err
	}
	if in.Buffered() > 0 {
		return nil
	}
	return out.Flush()
}

// published takes note of what the client asks, and reports whether it is not to be passed on.
func (k *link) published(words []string) (refused bool, err error) {
	if len(words) == 0 {
		return false, nil
	}
	verb, subject := strings.ToUpper(words[0]), words[1]
	if verb == "SUB" {
		if prefix, ok := strings.CutSuffix(subject, "*"); ok && strings.HasPrefix(subject, "_INBOX.") {
			k.mu.Lock()
			k.inboxes = append(k.inboxes, subscription{prefix, words[len(words)-1]})
			k.mu.Unlock()
		}
		return false, nil
	}
	reply := ""
	if n := len(words); verb == "PUB" && n == 4 || verb == "HPUB" && n == 5 {
		reply = words[2]
	}
	stored := strings.HasPrefix(subject, "steno.raw.") || strings.HasPrefix(subject, "steno.event.")
	if reply == "" || !stored && !strings.HasPrefix(subject, "$KV.") {
		return false, nil
	}
	k.mu.Lock()
	k.asked[reply] = subject
	k.mu.Unlock()
	if !stored {
		return false, nil
	}
	switch t := k.line.next(); t {
	case refuse:
		return true, k.refuse(reply)
	case lose, loseCut:
		k.mu.Lock()
		k.swallow[reply] = t
		k.mu.Unlock()
	}
	return false, nil
}

const unavailable = `{"type":"io.nats.jetstream.api.v1.pub_ack_response","error":{"code":503,"err_code":10023,"description":"insufficient resources"}}`

// refuse answers in the server's place.
func (k *link) refuse(reply string) error {
	k.mu.Lock()
	delete(k.asked, reply)
	sid := ""
	for _, s := range k.inboxes {
		if strings.HasPrefix(reply, s.prefix) {
			sid = s.sid
		}
	}
	k.mu.Unlock()
	if sid == "" {
		return fmt.Errorf("no subscription for %s", reply)
	}
	k.line.seen.refused.Add(1)
	k.writing.Lock()
	defer k.writing.Unlock()
	if _, err := fmt.Fprintf(k.toClient, "MSG %s %s %d\r\n%s\r\n", reply, sid, len(unavailable), unavailable); err != nil {
		return err
	}
	return k.toClient.Flush()
}

// down passes on what the server sends until either side ends.
func (k *link) down() {
	in, out := bufio.NewReaderSize(k.server, buffer), k.toClient
	var scratch []byte
	for {
		head, words, payload, err := operation(in, scratch)
		if err != nil || k.line.pass() != nil {
			return
		}
		scratch = payload
		t := k.answered(words, payload)
		if t == loseCut {
			return
		}
		k.writing.Lock()
		if t == 0 {
			err = write(in, out, head, payload)
		} else if in.Buffered() == 0 {
			err = out.Flush()
		}
		k.writing.Unlock()
		if err != nil {
			return
		}
	}
}

// answered takes note of an answer, and gives the trouble that it has.
func (k *link) answered(words []string, payload []byte) trouble {
	if len(words) < 2 {
		return 0
	}
	k.mu.Lock()
	subject, asked := k.asked[words[1]]
	t := k.swallow[words[1]]
	delete(k.asked, words[1])
	delete(k.swallow, words[1])
	k.mu.Unlock()
	if !asked {
		return 0
	}
	seen := k.line.seen
	switch {
	case bytes.Contains(payload, []byte(`"err_code":10071`)):
		switch {
		case strings.HasPrefix(subject, "steno.raw."):
			seen.fencedRaw.Add(1)
		case strings.HasPrefix(subject, "steno.event."):
			seen.fencedEvent.Add(1)
		default:
			seen.fencedOther.Add(1)
		}
	case bytes.Contains(payload, []byte(`"err_code":10164`)):
		seen.busy.Add(1)
	case t != 0 && bytes.Contains(payload, []byte(`"seq":`)):
		seen.lost.Add(1)
	}
	return t
}
