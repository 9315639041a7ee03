package a2a

import (
	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// roleOperator is whose an event is that tells what somebody did from outside of the conversation.
const roleOperator = "operator"

// intervened folds what steno itself did in the conversation, in somebody's name. Who did it, and when, is
// told where it stands: an injected message as the user's words, which the request behind it does not say
// again, being the same message by its id and its text. What the peer makes of it follows by its own frames;
// that it was not applied is told, too.
func (x *fold) intervened(info schema.InterventionInfo) *task {
	t := x.tasks[info.Session]
	if info.Outcome != nil {
		x.byOperator(t, &schema.Progress{Detail: &schema.Note{Text: translate.OutcomeText(&info.Intervention, info.Outcome)}})
		return t
	}
	if info.Kind.Kind != schema.PrimitiveInject {
		x.byOperator(t, &schema.Progress{Detail: &schema.Note{Text: translate.InterventionText(&info.Intervention)}})
		return t
	}
	key := userKey{info.MessageID, sum([]byte(info.Kind.Text))}
	x.users[key], x.told[key] = true, true
	x.byOperator(t, &schema.Message{
		Role: schema.User, Text: info.Kind.Text, MessageID: x.messageID(info.MessageID), Channel: schema.Answer, Boundary: schema.BoundaryPrompt,
	})
	return t
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
