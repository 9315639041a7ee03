package acp

import (
	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// roleOperator is whose an event is that tells what somebody did from outside of the conversation.
const roleOperator = "operator"

// intervened folds what steno itself said or did in the conversation, and gives the session that it was
// meant for. Who did it, and when, is told where it stands; what the agent makes of it follows by its own
// frames. An intervention that was not delivered is told by its Raw alone.
func (x *fold) intervened(info schema.InterventionInfo) *session {
	s := x.sessions[0]
	if ordinal, ok := x.ordinals[info.Session]; ok {
		s = x.sessions[ordinal]
	}
	if x.first || info.Outcome != nil {
		return s
	}
	switch info.Kind.Kind {
	case schema.PrimitiveInject:
		x.byOperator(s, &schema.Message{
			Role: schema.User, Text: info.Kind.Text, MessageID: x.newMessageID(), Channel: schema.Answer, Boundary: schema.BoundaryWhole,
		})
	default:
		x.byOperator(s, &schema.Progress{Detail: &schema.Note{Text: translate.InterventionText(&info.Intervention)}})
	}
	return s
}

func (x *fold) byOperator(s *session, kind schema.Kind) {
	x.stamp.As(uuid.Nil, roleOperator)
	x.stamp.Emit(s.ordinal, x.source(s), kind, false, x.here, x.flags.List())
	x.stamp.As(uuid.Nil, roleAgent)
}
