package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxJudged is how much of an answer to a call of the proxy's own is read, in bytes.
const maxJudged = 4 << 20

// maxDetail bounds what of a peer's words stands in an outcome, in bytes.
const maxDetail = 1 << 10

// call is one of the proxy's own: it is who asks in its exchange, and judges the answer.
type call struct {
	x    *exchange
	by   time.Time     // until when it is to be recorded
	over chan struct{} // closed when the exchange has ended
	info schema.InterventionInfo

	header http.Header
	status int
	body   bytes.Buffer
	long   bool // the answer is longer than what of it is in body

	mu     sync.Mutex
	said   bool            // the intervention is in the record
	sent   bool            // so is the request, which goes out now
	unsent error           // why nothing was sent, or nothing is to be
	result *schema.Outcome // nil: not known yet
}

// Header implements http.ResponseWriter.
func (c *call) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(status int) {
	if status >= 200 && c.status == 0 {
		c.status = status
	}
}

func (c *call) Write(b []byte) (int, error) {
	if c.body.Len()+len(b) > maxJudged {
		c.long = true
		return len(b), nil
	}
	return c.body.Write(b)
}

// Flush is for http.ResponseController: there is nothing to flush.
func (c *call) Flush() {}

// outcome is what became of it: known when the exchange has ended, or was given up.
func (c *call) outcome() schema.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.result
}

// announce records the intervention, before it is carried out.
func (x *exchange) announce() error {
	c := x.ours
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.unsent != nil:
	case x.journal == nil:
		c.unsent = errors.New("there is no room to record it")
	default:
		ctx, done := context.WithDeadline(x.ctx, c.by)
		defer done()
		err := x.journal.ControlTo(ctx, journal.Lane{Exchange: x.id}, schema.TypeIntervention, time.Now(), c.info)
		if c.unsent = x.kept(err, "an intervention", journal.Lane{Chan: x.chanAsk}); err == nil {
			c.said = true
		}
	}
	if c.unsent != nil {
		x.journal = nil // there is nothing to be closed
	}
	return c.unsent
}

// leaves is asked before the request goes out, and reports whether it may: not if somebody was told that it did not.
func (c *call) leaves() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = c.unsent == nil
	return c.sent
}

// giveUp says what became of it while its exchange goes on.
func (c *call) giveUp(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.result != nil:
	case !c.sent:
		c.unsent = fmt.Errorf("it could not be recorded in time: %s", why)
		c.tell(schema.Stale("nothing was sent: %v", c.unsent))
	default:
		c.tell(schema.Unsure("it was sent, and what became of it is not known yet: %s", why))
	}
}

// settle says what became of it, when its exchange is about to end.
func (c *call) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result == nil {
		c.tell(c.judge())
	}
}

// tell takes the outcome, and records it where what stands in the record was not applied; c.mu is held.
func (c *call) tell(o schema.Outcome) {
	c.result = &o
	if !c.said || o.Outcome == schema.OutcomeApplied {
		return
	}
	info := c.info
	info.Outcome, info.MessageID = &o, ""
	ctx, done := context.WithTimeout(context.WithoutCancel(c.x.in.Context()), lingers)
	defer done()
	if err := c.x.journal.ControlTo(ctx, journal.Lane{Exchange: c.x.id}, schema.TypeIntervention, time.Now(), info); err != nil {
		c.result.Detail += fmt.Sprintf("; the record does not say so: %v", err)
	}
}

// judge reads the outcome from how the exchange went; c.mu is held.
func (c *call) judge() schema.Outcome {
	x := c.x
	var call *net.OpError
	switch {
	case c.unsent != nil:
		return schema.Stale("nothing was sent: %v", c.unsent)
	case !x.forwarded:
		return schema.Stale("nothing was sent: %s", x.broken)
	case !x.answered && errors.As(x.missed, &call) && call.Op == "dial":
		return schema.Stale("nothing was sent: the peer cannot be reached: %s", x.broken)
	case !x.answered:
		return schema.Unsure("it was sent, and no answer came, so whether it was done is not known: %s", x.broken)
	case x.missed != nil:
		return schema.Unsure("it was sent, and its answer is lost, so whether it was done is not known: %s", x.broken)
	}
	detail, unsure := c.answer()
	if detail == "" {
		return schema.Applied()
	}
	shown, _ := x.echoes.hide([]byte(detail)) // an error may quote what it does not like
	o := schema.Stale("%s", shortened(string(shown), maxDetail))
	o.Unknown = unsure
	return o
}

// answer reads the peer's answer and says why it is no result; empty: it is one. It is unsure where the answer does not
// say whether it was done.
func (c *call) answer() (detail string, unsure bool) {
	text := c.body.Bytes()
	if readEncoding(c.header) == gzipped {
		plain, err := gunzipWhole(text, maxJudged)
		if err != nil {
			return "the peer's answer cannot be read: " + err.Error(), true
		}
		text = plain
	}
	tree := jsontree.Reader{Depth: a2a.Depth}
	end, err := tree.Read(text)
	whole := err == nil && !c.long && len(bytes.TrimSpace(text[end:])) == 0
	var says a2a.Envelope
	if whole {
		says = a2a.ReadEnvelope(tree.Root())
	}
	switch {
	case says.Error.Present() || c.status/100 != 2:
		why := "the peer refused it"
		if c.status/100 != 2 {
			why += strings.TrimRight(fmt.Sprintf(": %d %s", c.status, http.StatusText(c.status)), " ")
		}
		if says.Error.Present() {
			why += ": " + a2a.FaultText(says.Error)
		}
		return why, false
	case !whole && c.x.broken != "":
		return "it was sent, and its answer broke off, so whether it was done is not known: " + c.x.broken, true
	case !whole:
		return "the peer's answer is none that can be read", true
	case says.Result.Kind() != jsontree.Object:
		return "the peer's answer is neither a result nor an error", true
	}
	if c.info.Kind.Kind != schema.PrimitiveCancel {
		return "", false
	}
	for _, arm := range a2a.AppendArms(nil, says.Result) {
		if state := a2a.ReadState(a2a.StatusOf(arm.Value)); state.Class() == a2a.Terminal && state != a2a.Canceled {
			return "the task had ended before: " + string(state), false
		}
	}
	return "", false
}
