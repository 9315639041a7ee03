package acp

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
	"github.com/steno-io/steno/translate"
)

// session is one session of the connection, or the connection itself (ordinal 0).
type session struct {
	ordinal  uint32
	id       string
	live     *lane
	replay   *lane                // while the agent answers a session/load or session/resume
	prompts  []prompt             // that wait for their answer, oldest first
	answered string               // text of the prompt that was answered last
	turns    uint64               // turns that ended
	working  bool                 // the agent said that it works, and has not said that it is idle
	stored   map[storedKey]int    // messages stored under a peer's id
	said     map[storedKey]string // of version 2: digests of what the messages said last
	tools    map[string]int       // tools opened under a peer's id
	title    string
	cwd      string
	agent    uuid.UUID // whose it is: a subagent; nil: the connection's own
}

// Roles of agents in events.
const (
	roleAgent    = "agent"
	roleSubagent = "subagent"
)

// prompt is a prompt whose turn has not ended.
type prompt struct {
	key      requestKey
	text     string
	accepted bool   // answered by version 2's agent, which then works on it
	id       string // that it was given with that
	failed   bool   // its turn failed before it was answered
}

func newSession(ordinal uint32, id string) *session {
	return &session{ordinal: ordinal, id: id, live: newLane(), stored: map[storedKey]int{}, tools: map[string]int{}}
}

// lanes gives the replay, then what is live.
func (s *session) lanes() []*lane {
	if s.replay != nil {
		return []*lane{s.replay, s.live}
	}
	return []*lane{s.live}
}

// lane keeps what is recorded live apart from replayed history, which must not change it.
type lane struct {
	flags   translate.FlagSet
	streams [3]*stream
	beside  []*stream        // of version 2: others that are open beside those
	tools   map[string]*tool // by the peer's id, the newest of each
	order   []*tool          // those that have not ended, by first sight, and some that have

	gathered []*gathered // pieces of what is no message, by first frame
	state    string      // that the agent said last, where a history is replayed
}

// Streams of a lane.
const (
	userStream = iota
	answerStream
	thoughtStream
)

type storedKey struct {
	stream int
	id     string
}

func newLane() *lane {
	return &lane{tools: map[string]*tool{}}
}

// keep adds a tool to those that may have to be ended. Whenever these come to a power of two, from 16 on,
// those that have ended leave: each is still found by its id, as long as no other tool has that. When
// they leave follows from the list alone, so that a restored fold does as the one that was saved.
func (l *lane) keep(t *tool) {
	if n := len(l.order); n >= 16 && n&(n-1) == 0 {
		l.order = slices.DeleteFunc(l.order, func(t *tool) bool { return t.phase.Phase.Ended() })
	}
	l.order = append(l.order, t)
}

// open gives the open messages by first frame.
func (l *lane) open() []*stream {
	var open []*stream
	for _, o := range l.streams {
		if o != nil {
			open = append(open, o)
		}
	}
	open = append(open, l.beside...)
	slices.SortFunc(open, func(a, b *stream) int { return cmp.Compare(a.First(), b.First()) })
	return open
}

// find is the open message of a stream that has the id; nil if there is none.
func (l *lane) find(stream int, id string) *stream {
	if o := l.streams[stream]; o != nil && o.PeerID == id {
		return o
	}
	for _, o := range l.beside {
		if o.index == stream && o.PeerID == id {
			return o
		}
	}
	return nil
}

// drop takes a message that ends out of the open ones.
func (l *lane) drop(o *stream) {
	if l.streams[o.index] == o {
		l.streams[o.index] = nil
		return
	}
	l.beside = slices.DeleteFunc(l.beside, func(other *stream) bool { return other == o })
}

// lane is where the agent's updates of the session go now.
func (s *session) lane() *lane {
	if s.replay != nil {
		return s.replay
	}
	return s.live
}

// agentFlags are the flags of what the agent sends of itself, or is answered, now: late where a turn
// has ended and none is in progress. Replayed history is not late.
func (s *session) agentFlags() translate.FlagSet {
	if s.replay == nil && s.turns > 0 && len(s.prompts) == 0 && !s.working {
		return translate.Of(schema.FlagLate)
	}
	return 0
}

// named finds the session that an object's sessionId names, counting it in by first sight; ok is
// false where there is no such string, and the connection stands in.
func (x *fold) named(object jsontree.Value) (s *session, ok bool) {
	id, ok := object.Get("sessionId").Bytes()
	if !ok {
		return x.sessions[0], false
	}
	if ordinal, seen := x.ordinals[string(id)]; seen {
		x.active = x.sessions[ordinal]
		return x.active, true
	}
	return x.session(string(id)), true
}

func (x *fold) session(id string) *session {
	x.active = x.seen(id)
	return x.active
}

// seen counts a session in by first sight, without naming it.
func (x *fold) seen(id string) *session {
	ordinal, ok := x.ordinals[id]
	if !ok {
		ordinal = uint32(len(x.sessions))
		x.ordinals[id] = ordinal
		x.sessions = append(x.sessions, newSession(ordinal, id))
	}
	return x.sessions[ordinal]
}
