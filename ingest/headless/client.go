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
	answer   answer
	sessions map[string]uint32 // ordinals of the sessions that were named, by first sight

	answered chan []byte // the answer to the request that waits

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
	open     map[string]context.CancelCauseFunc // the agent's requests that are pending, by id
	session  Result                             // without its texts
}

func newClient(o Options, h *host, stdin *os.File) *client {
	c := &client{
		options: o, host: h, out: newOutbox(stdin), silent: make(chan struct{}), sessions: map[string]uint32{},
		asked: -1, answered: make(chan []byte, 1), open: map[string]context.CancelCauseFunc{},
	}
	c.turn, c.quiet = context.WithCancel(context.Background())
	return c
}

// tell is the whole story: who we are, a session, one prompt.
func (c *client) tell(ctx context.Context) error {
	hello, err := c.request(ctx, acp.MethodInitialize, c.hello())
	if err == nil {
		err = gate(hello)
	}
	if err != nil {
		return err
	}
	made, err := c.request(ctx, acp.MethodSessionNew, c.newSession())
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
	word, known := stopOf(ended)
	c.mu.Lock()
	c.session.StopReason = word
	c.mu.Unlock()
	if !known {
		return fmt.Errorf("%w %q", ErrStopReason, cut([]byte(word)))
	}
	return nil
}

// request sends a request and waits for its result. Asked to stop, it cancels a turn and waits on, for
// as long as a cancelled turn may take.
func (c *client) request(ctx context.Context, method string, params any) (result jsontree.Value, err error) {
	c.ask(method, params)
	stop := c.options.Stop
	var late <-chan time.Time
	for {
		select {
		case line := <-c.answered:
			return resultOf(method, line)
		case <-c.silent:
			select {
			case line := <-c.answered: // it came before the end
				return resultOf(method, line)
			default:
				return result, c.gone(method)
			}
		case <-c.out.flood:
			return result, fmt.Errorf("%w: the agent does not read what it is sent, before %s was answered", ErrFlood, method)
		case <-ctx.Done(): // the tap's error says why
			return result, fmt.Errorf("%w before %s was answered", ErrStopped, method)
		case <-late:
			return result, fmt.Errorf("%w: the turn was cancelled, and did not end within %s", ErrStopped, c.options.Cancel)
		case <-stop:
			stop = nil
			if method != acp.MethodSessionPrompt {
				return result, fmt.Errorf("%w before %s was answered", ErrStopped, method)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return fmt.Errorf("%w, before %s was answered", c.failed, method)
	}
	return fmt.Errorf("%w before it answered %s", ErrGone, method)
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
	r.Text, r.FinalMessage = c.answer.all.String(), c.answer.final.String()
	return r
}

// resultOf takes the result out of an answer.
func resultOf(method string, line []byte) (jsontree.Value, error) {
	reader := &jsontree.Reader{}
	if _, err := reader.Read(line); err != nil {
		return jsontree.Value{}, fmt.Errorf("%w to %s: %w", ErrAnswer, method, err)
	}
	v := reader.Root()
	if e := v.Get("error"); e.Given() {
		return jsontree.Value{}, fmt.Errorf("%w to %s: %w", ErrAnswer, method, refusal(e))
	}
	return v.Get("result"), nil
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
