package acp

import (
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// accepted folds version 2's answer to a prompt, which says that the agent took it: what it says of its
// state later ends the turn. It reports false for an answer that is the end of the turn itself: one with a
// stop reason, as version 1 has it, or a refusal while nothing else is worked on.
func (x *fold) accepted(s *session, v jsontree.Value, key requestKey) bool {
	result := v.Get("result")
	i := slices.IndexFunc(s.prompts, func(p prompt) bool { return p.key == key })
	refused := v.Get("error").Given()
	switch {
	case result.Get("stopReason").Kind() == jsontree.String:
		return false
	case i < 0:
	case refused && !s.inTurn() && !s.prompts[i].failed:
		return false
	case refused:
		s.prompts = slices.Delete(s.prompts, i, i+1)
	default:
		s.prompts[i].accepted = true
		s.prompts[i].id, _ = result.Get("messageId").Text()
	}
	x.rawHere(s, sourcePromptAnswer, x.value(v), 0)
	return true
}

// inTurn reports whether the agent has work in hand that an idle state will end. An idle state else is a
// repeated one, or that of a session just resumed.
func (s *session) inTurn() bool {
	return s.working || slices.ContainsFunc(s.prompts, func(p prompt) bool { return p.accepted })
}

// stateUpdate folds what the agent says of its work. What it says while history is replayed counts from
// the end of that on.
func (x *fold) stateUpdate(s *session, l *lane, update jsontree.Value) {
	word, _ := update.Get("state").Text()
	var end *turnEnd
	if l == s.live {
		end = x.works(s, update)
	} else {
		l.state = word
	}
	var flags translate.FlagSet
	if !acp.KnownState(word) {
		flags = translate.Of(schema.FlagUnrecognised)
	}
	x.rawHere(s, updateSource(acp.StateUpdate), x.payload(update), flags|s.agentFlags())
	x.turnEnds(s, end)
}

// turnEnd is how a turn ended.
type turnEnd struct {
	stop  schema.Stop
	flags translate.FlagSet
}

// works takes the state of a session's agent. Where it ends a turn, what is open ends, and the Stop that is
// to follow the frame's Raw is given back; else nil.
func (x *fold) works(s *session, state jsontree.Value) *turnEnd {
	word, _ := state.Get("state").Text()
	if acp.Working(word) {
		s.working = true
	}
	if word != acp.StateIdle || !s.inTurn() {
		return nil
	}
	end := idleEnd(state)
	x.closeStreams(s, s.live, schema.BoundaryTurnEnd, 0)
	if end.stop.Reason == schema.StopCancelled {
		x.interruptTools(s, s.live, background(state))
	}
	x.usage(s, state.Get("usage"))
	return end
}

// turnEnds gives the Stop of a turn that has ended, if one has: all prompts that the agent took are done.
func (x *fold) turnEnds(s *session, end *turnEnd) {
	if end == nil {
		return
	}
	x.emitHere(s, &end.stop, end.flags)
	var wait []prompt
	for _, p := range s.prompts {
		if p.accepted {
			s.answered = p.text
			continue
		}
		p.failed = p.failed || end.stop.Reason == schema.StopError
		wait = append(wait, p)
	}
	s.prompts, s.working = wait, false
	s.turns++
}

// idleEnd reads how the turn stopped from the idle state. Where the agent does not say, only that it did
// is known.
func idleEnd(state jsontree.Value) *turnEnd {
	word, ok := state.Get("stopReason").Text()
	switch {
	case !ok:
		return &turnEnd{schema.Stop{Reason: schema.StopOther}, translate.Of(schema.FlagInferred)}
	case word == acp.EndError:
		end := &turnEnd{stop: schema.Stop{Reason: schema.StopError}}
		if e := state.Get("error"); e.Given() {
			end.stop.Detail = errorText(e)
		}
		return end
	}
	stop, known := acp.Stop(word)
	if !known {
		return &turnEnd{stop, translate.Of(schema.FlagUnrecognised)}
	}
	return &turnEnd{stop: stop}
}

// background are the tool calls that go on when the turn has ended.
func background(state jsontree.Value) map[string]bool {
	var goOn map[string]bool
	for work := range state.Get("background").Children() {
		if id, ok := toolID(work); ok && work.Get("type").Is(acp.BackgroundToolCall) {
			if goOn == nil {
				goOn = map[string]bool{}
			}
			goOn[id] = true
		}
	}
	return goOn
}

// subagent folds what a session says of one that it began: who that is, and how far it is. The child's
// turn ends with its state, whether it says so itself or, as in version 1, only its parent does. From here
// on the child's events are the subagent's. ok is false if the update does not name it.
func (x *fold) subagent(s *session, update jsontree.Value, flags translate.FlagSet) (ok bool) {
	id, ok := update.Get("sessionId").Text()
	if !ok {
		return false
	}
	child := x.seen(id)
	if child != s {
		child.agent = x.id.UUID("subagent/" + id)
	}
	patch(&child.title, update.Get("title"))
	if patch(&child.cwd, update.Get("cwd")); child.cwd == "" {
		child.cwd = s.cwd
	}
	var end *turnEnd
	if s.replay == nil && child.replay == nil {
		end = x.works(child, update.Get("state"))
	}
	x.rawHere(s, updateSource(acp.SubagentUpdate), x.payload(update), flags)
	x.turnEnds(child, end)
	return true
}
