package acp

import (
	"strconv"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// requestKey correlates a request with its answer. Each side numbers its own requests, and 1 and "1"
// are different ids.
type requestKey struct {
	from schema.From
	id   string
}

// request waits for its answer.
type request struct {
	method string
	s      *session
	params schema.JSON // of a request that the client may refuse
	cwd    string
	ask    *ask
	replay *lane // opened by it
}

// keyOf makes the key of an id: its JSON text, strings in one spelling.
func keyOf(from schema.From, id jsontree.Value) requestKey {
	if text, ok := id.Text(); ok {
		return requestKey{from, string(schema.AppendString(nil, text))}
	}
	return requestKey{from, string(id.Raw())}
}

func otherSide(from schema.From) schema.From {
	if from == schema.FromClient {
		return schema.FromAgent
	}
	return schema.FromClient
}

// request folds a request and keeps it until its answer.
func (x *fold) request(v jsontree.Value, method string) {
	params := v.Get("params")
	s, named := x.requested(method, params)
	key := keyOf(x.frame.From, v.Get("id"))
	r := &request{method: method, s: s}
	x.requests[key] = r
	if x.frame.From == schema.FromAgent {
		x.agentRequest(v, params, r)
		return
	}
	switch method {
	case acp.MethodSessionPrompt:
		x.prompt(params, s, &key)
		return
	case acp.MethodSessionNew, acp.MethodSessionFork:
		r.cwd, _ = params.Get("cwd").Text()
	}
	x.rawHere(s, method, x.value(v), 0)
	if named && (method == acp.MethodSessionLoad || method == acp.MethodSessionResume) {
		if cwd, ok := params.Get("cwd").Text(); ok {
			s.cwd = cwd
		}
		x.endReplay(s)
		s.replay = newLane()
		s.replay.flags = translate.Of(schema.FlagReplayed)
		r.replay = s.replay
	}
}

// requested finds the session of a request; named says that its params name it.
func (x *fold) requested(method string, params jsontree.Value) (s *session, named bool) {
	switch {
	case method == acp.MethodSessionNew: // always the connection's
		return x.sessions[0], false
	case method == acp.MethodElicitationCreate && !params.Get("sessionId").Present():
		return x.sessionOfRequest(otherSide(x.frame.From), params.Get("requestId")), false
	}
	return x.named(params)
}

// agentRequest folds what the agent asks of the client.
func (x *fold) agentRequest(v, params jsontree.Value, r *request) {
	switch r.method {
	case acp.MethodRequestPermission:
		x.permission(v, r)
	case acp.MethodSessionUpdate: // a peer that wants an answer to it
		x.update(v, params)
	default:
		if id, ok := params.Get("elicitationId").Text(); ok && r.method == acp.MethodElicitationCreate && !x.first {
			if x.elicited == nil {
				x.elicited = map[string]*session{}
			}
			x.elicited[id] = r.s
		}
		r.params = translate.Bounded(x.frame, x.value(params))
		x.rawHere(r.s, labelOf(r.method), x.labelled(v, r.method), r.s.agentFlags())
	}
}

// labelOf is the source of a request or notification: its method, but for a prompt, whose answer has
// that.
func labelOf(method string) string {
	if method == acp.MethodSessionPrompt {
		return sourcePromptRequest
	}
	return method
}

// labelled is the value under such a source: the params of a prompt and a permission request, of all
// else the whole object.
func (x *fold) labelled(v jsontree.Value, method string) schema.JSON {
	if method == acp.MethodSessionPrompt || method == acp.MethodRequestPermission {
		return x.value(v.Get("params"))
	}
	return x.value(v)
}

// sessionOfRequest is the session of an open request, or the connection.
func (x *fold) sessionOfRequest(from schema.From, id jsontree.Value) *session {
	if r, ok := x.requests[keyOf(from, id)]; ok && id.Present() {
		return r.s
	}
	return x.sessions[0]
}

// notification folds a message that has no answer.
func (x *fold) notification(v jsontree.Value, method string) {
	params := v.Get("params")
	s, ok := x.named(params)
	if !ok && method == acp.MethodCancelRequest {
		s = x.sessionOfRequest(x.frame.From, params.Get("requestId"))
	}
	if id, isID := params.Get("elicitationId").Text(); !ok && isID && method == acp.MethodElicitationComplete {
		if of := x.elicited[id]; of != nil {
			s = of
		}
		delete(x.elicited, id)
	}
	if x.frame.From == schema.FromAgent {
		x.rawHere(s, labelOf(method), x.labelled(v, method), s.agentFlags())
		return
	}
	if method == acp.MethodSessionPrompt {
		x.prompt(params, s, nil)
		return
	}
	x.rawHere(s, labelOf(method), x.labelled(v, method), 0)
}

// answer folds an answer by the request that it belongs to.
func (x *fold) answer(v jsontree.Value) {
	key := keyOf(otherSide(x.frame.From), v.Get("id"))
	r, ok := x.requests[key]
	if !ok {
		x.unmatched(v)
		return
	}
	delete(x.requests, key)
	if r.s.ordinal > 0 {
		x.active = r.s
	}
	if x.frame.From == schema.FromClient {
		x.clientAnswer(v, r)
		return
	}
	result := v.Get("result")
	switch r.method {
	case acp.MethodSessionPrompt:
		if !x.upserts() || !x.accepted(r.s, v, key) {
			x.endTurn(r.s, v, key, sourcePromptAnswer, 0)
		}
		return
	case acp.MethodInitialize:
		x.initialized(result)
	case acp.MethodSessionNew, acp.MethodSessionFork:
		if id, ok := result.Get("sessionId").Text(); ok {
			x.session(id).cwd = r.cwd
		}
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		if r.s.replay == r.replay {
			x.endReplay(r.s)
		}
	case acp.MethodSessionClose, acp.MethodSessionDelete:
		if result.Present() {
			x.closeStreams(r.s, r.s.live, schema.BoundaryClose, 0)
		}
	}
	x.rawHere(r.s, r.method+sourceAnswer, x.value(v), 0)
}

// endReplay ends the replayed history of a session, if there is one.
func (x *fold) endReplay(s *session) {
	if s.replay == nil {
		return
	}
	l := s.replay
	x.closeStreams(s, l, schema.BoundaryReplayEnd, 0)
	s.replay = nil
	s.working = s.working || acp.Working(l.state)
	for _, t := range l.order { // what the history left open goes on live, or ends with the capture
		if !t.phase.Phase.Ended() {
			x.adopt(s, t, l)
		}
	}
}

// adopt takes an open tool of replayed history over into what is live, unless the live record knows
// that id itself.
func (x *fold) adopt(s *session, t *tool, from *lane) {
	if s.live.tools[t.peerID] != nil {
		return
	}
	s.live.tools[t.peerID] = t
	s.live.keep(t)
	t.flags &^= from.flags
}

// clientAnswer folds the client's answer to the agent: a decision, a refusal, or what it asked for.
func (x *fold) clientAnswer(v jsontree.Value, r *request) {
	refused := string(v.Get("error").Get("code").Raw()) == strconv.Itoa(acp.CodeMethodNotFound)
	switch {
	case refused:
		x.refused(v, r)
	case r.ask != nil:
		x.decision(v, r)
	default:
		x.rawHere(r.s, r.method+sourceAnswer, x.value(v), r.s.agentFlags())
	}
}

// refused records a request that the client does not serve.
func (x *fold) refused(v jsontree.Value, r *request) {
	reason, _ := v.Get("error").Get("message").Text()
	dst := schema.AppendString([]byte(`{"method":`), r.method)
	dst = append(dst, `,"params":`...)
	dst = append(dst, r.params...)
	dst = append(dst, `,"code":`...)
	dst = strconv.AppendInt(dst, acp.CodeMethodNotFound, 10)
	dst = append(dst, `,"reason":`...)
	dst = schema.AppendString(dst, reason)
	x.rawHere(r.s, sourceRefused+r.method, append(dst, '}'), r.s.agentFlags())
}

// unmatched records an answer whose request was never seen. One that says how a turn stopped still
// ends that turn.
func (x *fold) unmatched(v jsontree.Value) {
	if _, ok := v.Get("result").Get("stopReason").Text(); ok && x.frame.From == schema.FromAgent {
		x.endTurn(x.turnInProgress(), v, requestKey{}, sourceUnmatched, translate.Of(schema.FlagInferred))
		return
	}
	x.rawHere(x.sessions[0], sourceUnmatched, x.value(v), 0)
}

// turnInProgress is the session whose turn an answer without its request most likely ends: the one
// named last if a prompt of it waits, else the first whose prompt waits, else the one named last.
func (x *fold) turnInProgress() *session {
	if len(x.active.prompts) > 0 {
		return x.active
	}
	for _, s := range x.sessions {
		if len(s.prompts) > 0 {
			return s
		}
	}
	return x.active
}
