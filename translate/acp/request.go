package acp

import (
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
	s, _ := x.named(params)
	if !params.Get("sessionId").Present() && method == acp.MethodElicitationCreate {
		s = x.sessionOfRequest(otherSide(x.frame.From), params.Get("requestId"))
	}
	r := &request{method: method, s: s}
	x.requests[keyOf(x.frame.From, v.Get("id"))] = r
	if x.frame.From == schema.FromAgent {
		if method == acp.MethodRequestPermission {
			x.permission(v, r)
			return
		}
		r.params = x.value(params)
		x.rawHere(s, method, x.value(v), x.passing(s))
		return
	}
	switch method {
	case acp.MethodSessionPrompt:
		x.prompt(params, s)
		return
	case acp.MethodSessionNew, acp.MethodSessionFork:
		r.cwd, _ = params.Get("cwd").Text()
	case acp.MethodSessionLoad, acp.MethodSessionResume:
		if cwd, ok := params.Get("cwd").Text(); ok {
			s.cwd = cwd
		}
		x.endReplay(s)
		s.replay = newLane()
		s.replay.flags = translate.Of(schema.FlagReplayed)
		r.replay = s.replay
	}
	x.rawHere(s, method, x.value(v), 0)
}

// passing are the flags of a session's frames that are no updates.
func (x *fold) passing(s *session) translate.FlagSet {
	if s.replay != nil {
		return s.replay.flags
	}
	return 0
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
	x.rawHere(s, method, x.value(v), x.passing(s))
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
		x.endTurn(r.s, v, sourcePromptAnswer, 0)
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
	x.closeStreams(s, s.replay, schema.BoundaryReplayEnd, 0)
	s.replay = nil
}

// clientAnswer folds the client's answer to the agent: a decision, a refusal, or what it asked for.
func (x *fold) clientAnswer(v jsontree.Value, r *request) {
	refused := string(v.Get("error").Get("code").Raw()) == "-32601"
	switch {
	case refused:
		x.refused(v, r)
	case r.ask != nil:
		x.decision(v, r)
	default:
		x.rawHere(r.s, r.method+sourceAnswer, x.value(v), x.passing(r.s))
	}
}

// refused records a request that the client does not serve.
func (x *fold) refused(v jsontree.Value, r *request) {
	reason, _ := v.Get("error").Get("message").Text()
	dst := schema.AppendString([]byte(`{"method":`), r.method)
	dst = append(dst, `,"params":`...)
	dst = append(dst, r.params...)
	dst = append(dst, `,"code":-32601,"reason":`...)
	dst = schema.AppendString(dst, reason)
	x.rawHere(r.s, sourceRefused+r.method, append(dst, '}'), x.passing(r.s))
}

// unmatched records an answer whose request was never seen. One that says how a turn stopped still
// ends that turn.
func (x *fold) unmatched(v jsontree.Value) {
	if _, ok := v.Get("result").Get("stopReason").Text(); ok && x.frame.From == schema.FromAgent {
		x.endTurn(x.turnInProgress(), v, sourceUnmatched, translate.Of(schema.FlagInferred))
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
