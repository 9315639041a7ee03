package headless

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// client is the client's side of one connection. Run's goroutine tells the story, one request after the
// other; another one listens, and serves the agent meanwhile; a third one writes.
//
//	tell ──▶ outbox ──▶ tap ──▶ agent
//	  ▲        ▲                  │
//	  └─────── listen ◀── tap ◀───┘
type client struct {
	options Options
	host    *host
	out     *outbox
	silent  chan struct{}  // closed when the agent will say no more that counts
	pending sync.WaitGroup // answers that take their time

	// What listen alone uses.
	reader   jsontree.Reader
	speech   speech            // of the version that the agent has answered with; version 1's until then
	sessions map[string]uint32 // ordinals of the sessions that were named, by first sight

	answered chan reply // to the request that waits; a prompt's is the end of its turn

	turn  context.Context // of what somebody is asked
	quiet context.CancelFunc

	mu       sync.Mutex
	failed   error                              // why listen has given up
	next     int                                // id of the next request
	asked    int                                // id of the request that waits; -1: none does
	method   string                             // of it
	hushed   bool                               // what is asked now is answered cancelled
	over     bool                               // the story is told: nothing is served any more
	prompted bool                               // what is said now belongs to the turn
	accepted bool                               // the agent took the prompt, and its turn goes on
	open     map[string]context.CancelCauseFunc // the agent's requests that are pending, by id
	session  Result                             // without its texts
}

// reply is what has become of a request.
type reply struct {
	result []byte // JSON; of a prompt what says how its turn ended
	err    error
}

func newClient(o Options, h *host, stdin *os.File) *client {
	c := &client{
		options: o, host: h, out: newOutbox(stdin), silent: make(chan struct{}), sessions: map[string]uint32{},
		speech: &version1{}, asked: -1, answered: make(chan reply, 1), open: map[string]context.CancelCauseFunc{},
	}
	c.turn, c.quiet = context.WithCancel(context.Background())
	return c
}

// tell is the whole story: who we are, a session, one prompt.
func (c *client) tell(ctx context.Context) error {
	if _, err := c.request(ctx, acp.MethodInitialize, c.hello()); err != nil {
		return err
	}
	made, err := c.request(ctx, acp.MethodSessionNew, c.speech.session(c.options.Cwd))
	if err != nil {
		return err
	}
	id, ok := sessionOf(made)
	if !ok {
		return fmt.Errorf("%w to %s names no session: %s", ErrAnswer, acp.MethodSessionNew, cut(made.Raw()))
	}
	ended, err := c.request(ctx, acp.MethodSessionPrompt, c.prompt(id))
	if err != nil {
		return err
	}
	word, err := c.speech.stop(ended)
	c.mu.Lock()
	c.session.StopReason = word
	c.mu.Unlock()
	return err
}

// request sends a request and waits for its result, of a prompt for the end of its turn. Asked to stop, it
// cancels a turn and waits on, for as long as a cancelled turn may take.
func (c *client) request(ctx context.Context, method string, params any) (result jsontree.Value, err error) {
	c.ask(method, params)
	stop := c.options.Stop
	var late <-chan time.Time
	for {
		select {
		case r := <-c.answered:
			return r.value(method)
		case <-c.silent:
			select {
			case r := <-c.answered: // it came before the end
				return r.value(method)
			default:
				return result, c.gone(method)
			}
		case <-c.out.flood:
			return result, fmt.Errorf("%w: the agent does not read what it is sent, %s", ErrFlood, c.when(method))
		case <-ctx.Done(): // the tap's error says why
			return result, fmt.Errorf("%w %s", ErrStopped, c.when(method))
		case <-late:
			return result, fmt.Errorf("%w: the turn was cancelled, and did not end within %s", ErrStopped, c.options.Cancel)
		case <-stop:
			stop = nil
			if method != acp.MethodSessionPrompt {
				return result, fmt.Errorf("%w %s", ErrStopped, c.when(method))
			}
			c.hush()
			c.out.send(message{Method: acp.MethodSessionCancel, Params: c.cancelTurn()})
			timer := time.NewTimer(c.options.Cancel)
			defer timer.Stop()
			late = timer.C
		}
	}
}

// ask sends a request whose answer listen will know.
func (c *client) ask(method string, params any) {
	c.mu.Lock()
	id := c.next
	c.next++
	c.asked, c.method = id, method
	c.prompted = method == acp.MethodSessionPrompt
	c.mu.Unlock()
	c.out.send(message{ID: []byte(strconv.Itoa(id)), Method: method, Params: params})
}

// gone is why an answer will not come.
func (c *client) gone(method string) error {
	when := c.when(method)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return fmt.Errorf("%w, %s", c.failed, when)
	case c.accepted:
		return fmt.Errorf("%w in the middle of its turn", ErrGone)
	}
	return fmt.Errorf("%w before it answered %s", ErrGone, method)
}

// when says how far a request has come that is not done.
func (c *client) when(method string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.accepted {
		return "before the turn had ended"
	}
	return "before " + method + " was answered"
}

// hush ends all that somebody is asked, now and from now on: it is answered cancelled.
func (c *client) hush() {
	c.mu.Lock()
	c.hushed = true
	c.mu.Unlock()
	c.quiet()
}

// serveNoMore ends the service: what an agent does behind the end of its turn is not done for anybody.
func (c *client) serveNoMore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// settle ends what still works for an agent that is gone, and waits for it.
func (c *client) settle() {
	c.hush()
	c.host.killAll()
	c.pending.Wait()
}

// result is what the run has brought; nothing listens any more.
func (c *client) result() Result {
	r := c.session
	r.Text, r.FinalMessage = c.speech.said()
	return r
}

// value is the result.
func (r reply) value(method string) (jsontree.Value, error) {
	if r.err != nil {
		return jsontree.Value{}, r.err
	}
	reader := &jsontree.Reader{}
	if _, err := reader.Read(r.result); err != nil {
		return jsontree.Value{}, fmt.Errorf("%w to %s: %w", ErrAnswer, method, err)
	}
	return reader.Root(), nil
}

// refusal is an error object in words.
func refusal(e jsontree.Value) error {
	message, ok := e.Get("message").Text()
	if !ok {
		return errors.New(cut(e.Raw()))
	}
	message = cut([]byte(message))
	code := string(e.Get("code").Raw())
	if code == strconv.Itoa(acp.CodeAuthRequired) {
		message += "; sign in with the agent first"
	}
	return fmt.Errorf("%s (%s)", message, cut([]byte(code)))
}
