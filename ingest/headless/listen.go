package headless

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// Bounds of what an agent may ask of the client.
const (
	maxLine    = 64 << 20 // bytes of a line
	maxPending = 256      // requests whose answers take their time
)

var (
	bom = []byte("\uFEFF")

	// errWithdrawn: the agent has taken its request back.
	errWithdrawn = errors.New("withdrawn")
)

// listen takes what the agent says, to its end. What is no JSON-RPC is passed over: the tap has kept it.
func (c *client) listen(from *os.File) {
	defer func() { _ = from.Close() }() // nothing can be lost by closing what is only read
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readLine(lines, maxLine)
		if err == nil || errors.Is(err, io.EOF) {
			c.line(line)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			c.mu.Lock()
			c.failed = err
			c.mu.Unlock()
		}
		close(c.silent)
		_, _ = io.Copy(io.Discard, lines) // it is recorded all the same, until the agent has ended
		return
	}
}

// readLine reads a line of at most so many bytes, without its LF; the last one may have none.
func readLine(from *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrFlood, most)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte{'\n'}), err
		}
	}
}

func (c *client) line(line []byte) {
	line = bytes.TrimPrefix(line, bom)
	end, err := c.reader.Read(line)
	if err != nil || len(bytes.TrimSpace(line[end:])) > 0 { // a message may share its line, as in a transcript
		for _, o := range acp.Objects(&c.reader, line) {
			if _, err := c.reader.Read(line[o[0]:o[1]]); err == nil { // it was read before
				c.message(c.reader.Root())
			}
		}
		return
	}
	v := c.reader.Root()
	if v.Kind() != jsontree.Array {
		c.message(v)
		return
	}
	for element := range v.Children() {
		c.message(element)
	}
}

func (c *client) message(v jsontree.Value) {
	method, isMethod := v.Get("method").Text()
	params := v.Get("params")
	id := v.Get("id")
	if session, ok := params.Get("sessionId").Text(); isMethod && ok {
		c.see(session)
	}
	switch {
	case isMethod && id.Given():
		c.serve(bytes.Clone(id.Raw()), method, params)
	case method == acp.MethodSessionUpdate:
		c.update(params)
	case method == acp.MethodCancelRequest:
		c.withdraw(string(params.Get("requestId").Raw()))
	case !isMethod && id.Given():
		c.take(string(id.Raw()), v)
	case !isMethod && id.Present() && v.Get("error").Given():
		c.take(c.waits(), v) // the agent could not read what it was sent: not even its id
	}
}

// see counts a session, as the transcript does, and gives its ordinal.
func (c *client) see(session string) uint32 {
	n, ok := c.sessions[session]
	if !ok {
		n = uint32(len(c.sessions)) + 1
		c.sessions[session] = n
	}
	return n
}

// waits is the id of the request that waits; empty if none does.
func (c *client) waits() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked < 0 {
		return ""
	}
	return strconv.Itoa(c.asked)
}

// take gives what has become of the request that waits to who waits: of a prompt that the agent only took,
// when its turn has ended.
func (c *client) take(id string, v jsontree.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked < 0 || id != strconv.Itoa(c.asked) {
		return
	}
	c.asked = -1
	result := v.Get("result")
	r := reply{result: whole(result), err: c.refused(v.Get("error"))}
	switch {
	case r.err != nil:
	case c.method == acp.MethodInitialize:
		speech, err := negotiate(c.options.offered(), result)
		if r.err = err; err == nil {
			c.speech = speech
		}
	case c.method == acp.MethodSessionNew:
		if session, ok := sessionOf(result); ok {
			c.session.SessionID, c.session.Session = session, c.see(session)
		}
	case c.prompted:
		if r.result = c.speech.answered(result); r.result == nil {
			c.accepted = true
			return
		}
	}
	c.tellOf(r)
}

// refused is an answer's error; nil if it has none. c.mu is held.
func (c *client) refused(e jsontree.Value) error {
	if !e.Given() {
		return nil
	}
	if c.method == acp.MethodInitialize {
		if err := refusedVersion(c.options.offered(), e); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w to %s: %w", ErrAnswer, c.method, refusal(e))
}

// tellOf gives a reply to who waits for it; c.mu is held. A turn that has ended ends the story.
func (c *client) tellOf(r reply) {
	c.prompted, c.over = false, c.prompted
	c.answered <- r
}

// update hears what is said in the turn; other sessions' text never is the run's.
func (c *client) update(params jsontree.Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.prompted || !params.Get("sessionId").Is(c.session.SessionID) {
		return
	}
	if end := c.speech.hear(params.Get("update")); end != nil {
		c.tellOf(reply{result: end})
	}
}

// serve answers a request, or has it answered. A client that does not serve a method says so, as it said
// when it introduced itself. Behind the end of the story there is nobody who would.
func (c *client) serve(id []byte, method string, params jsontree.Value) {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	o := c.options
	switch {
	case over:
	case method == acp.MethodRequestPermission:
		c.permission(id, params)
	case o.FS && method == acp.MethodReadTextFile:
		c.reply(id)(c.host.readText(params))
	case o.FS && method == acp.MethodWriteTextFile:
		c.reply(id)(c.host.writeText(params))
	case o.Terminal && method == acp.MethodTerminalCreate:
		c.reply(id)(c.host.create(params))
	case o.Terminal && method == acp.MethodTerminalOutput:
		c.reply(id)(c.host.output(params))
	case o.Terminal && method == acp.MethodTerminalKill:
		c.reply(id)(c.host.kill(params))
	case o.Terminal && method == acp.MethodTerminalRelease:
		c.reply(id)(c.host.release(params))
	case o.Terminal && method == acp.MethodTerminalWaitForExit:
		t, bad := c.host.terminal(params)
		if bad != nil {
			c.reply(id)(nil, bad)
			return
		}
		c.later(context.Background(), id, func(ctx context.Context, reply replier) { reply(t.wait(ctx)) })
	default:
		c.reply(id)(nil, refuse(acp.CodeMethodNotFound, "this client does not advertise the capability serving this method"))
	}
}

// replier sends the answer to a request, once. It reports false where the agent takes none any more.
type replier func(result any, bad *failure) (sent bool)

// reply gives what sends the answer to a request.
func (c *client) reply(id []byte) replier {
	return func(result any, bad *failure) bool { return c.out.send(message{ID: id, Result: result, Error: bad}) }
}

// later has a request answered when its answer is known. The agent may take it back meanwhile: ctx ends
// then, because of errWithdrawn.
func (c *client) later(ctx context.Context, id []byte, answer func(context.Context, replier)) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := string(id)
	c.mu.Lock()
	_, twice := c.open[key]
	busy := len(c.open) >= maxPending
	if !twice && !busy {
		c.open[key] = cancel
	}
	c.mu.Unlock()
	switch {
	case twice:
		cancel(nil)
		c.reply(id)(nil, refuse(acp.CodeInvalidRequest, "a request with this id is not answered yet"))
		return
	case busy:
		cancel(nil)
		c.reply(id)(nil, refuse(acp.CodeInternal, "%d requests wait for their answers already", maxPending))
		return
	}
	c.pending.Go(func() {
		defer cancel(nil)
		answer(ctx, func(result any, bad *failure) bool {
			c.mu.Lock()
			delete(c.open, key)
			c.mu.Unlock()
			return c.reply(id)(result, bad)
		})
	})
}

func cancelledOnRequest() *failure { return refuse(acp.CodeCancelled, "cancelled on request") }

// withdraw ends a request that the agent has taken back.
func (c *client) withdraw(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel, ok := c.open[id]; ok {
		cancel(errWithdrawn)
	}
}
