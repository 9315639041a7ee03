package a2a

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// roleOperator is whose an event is that tells what somebody did from outside of the conversation.
const roleOperator = "operator"

// injection is a message that steno gives to the peer, in somebody's name.
type injection struct {
	id   string // empty in version 0.1
	text string
	at   uint64 // the frame that tells of it
}

// maxInjected is how many injected messages are kept that the peer has not taken: as many calls a proxy has under way
// at most. One that is taken behind that many later ones is the user's as any other.
const maxInjected = 64

// intervened folds what steno itself did in the conversation, in somebody's name. Who did it is told where it
// stands. An injected message is nobody's words until the peer has taken it; the request that carries it, which
// is in the same exchange, does not say it. What the peer makes of it follows by its own frames; that it was not
// applied is told, too.
func (x *fold) intervened(info schema.InterventionInfo) *task {
	t := x.tasks[info.Session]
	text := translate.InterventionText(&info.Intervention)
	if info.Outcome != nil {
		text = translate.OutcomeText(&info.Intervention, info.Outcome)
	} else if info.Kind.Kind == schema.PrimitiveInject {
		x.inject(injection{info.MessageID, info.Kind.Text, x.frame.Seq})
	}
	x.byOperator(t, &schema.Progress{Detail: &schema.Note{Text: text}})
	return t
}

// inject keeps what is to be said in the frame's exchange; of too many the oldest goes.
func (x *fold) inject(in injection) {
	x.injected[x.frame.Exchange] = in
	if len(x.injected) <= maxInjected {
		return
	}
	oldest := x.frame.Exchange
	for exchange, other := range x.injected { // each has a frame of its own: the order does not matter
		if other.at < x.injected[oldest].at {
			oldest = exchange
		}
	}
	delete(x.injected, oldest)
}

// isOurs reports whether steno has made the exchange to give the peer a message, which it has not taken yet.
func (x *fold) isOurs(e *exchange) bool {
	_, ours := x.injected[e.id]
	return ours
}

// taken gives the message that steno has sent in an exchange: the peer has answered with a result, or repeats it.
func (x *fold) taken(exchange string, t *task) {
	in, ours := x.injected[exchange]
	if !ours {
		return
	}
	delete(x.injected, exchange)
	x.users[userKey{in.id, sum([]byte(in.text))}] = true
	x.byOperator(t, &schema.Message{
		Role: schema.User, Text: in.text, MessageID: x.messageID(in.id), Channel: schema.Answer, Boundary: schema.BoundaryPrompt,
	})
}

// echoed gives the message that steno has sent where the peer repeats it before it answers, or never does.
func (x *fold) echoed(id string, t *task) {
	if id == "" || len(x.injected) == 0 {
		return
	}
	for _, exchange := range slices.Sorted(maps.Keys(x.injected)) { // a map's order is no order
		if x.injected[exchange].id == id {
			x.taken(exchange, t)
		}
	}
}

func (x *fold) byOperator(t *task, kind schema.Kind) {
	x.stamp.As(uuid.Nil, roleOperator)
	x.emitHere(t, kind, 0)
	x.byPeer()
}

// byPeer attributes what follows to the peer.
func (x *fold) byPeer() {
	id := uuid.Nil
	if x.peer != "" {
		id = uuid.NewSHA1(peerSpace(), []byte(x.peer))
	}
	x.stamp.As(id, "agent")
}
