// Package turns follows a conversation of ACP as its bytes pass, so far as to know in which sessions a
// turn is in progress.
package turns

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxLine is how long a line may be that is looked at, in bytes. What a longer one says is not known.
const maxLine = 64 << 20

// ErrStale marks a session without a turn in progress.
var ErrStale = errors.New("no turn is in progress")

// Turns knows the turns of one connection. The zero value has seen nothing. It is safe for concurrent use;
// each side's bytes must come in their order.
type Turns struct {
	mu       sync.Mutex
	client   side
	agent    side
	reader   jsontree.Reader
	hello    map[string]bool   // requests for the version, by id
	closing  map[string]string // requests to end a session, by id; the session's
	version2 bool
	prompts  []prompt // that were not answered, or whose turns are in progress, oldest first
	seen     map[string]bool
	working  map[string]string // of version 2: session ids, as sent, whose agent says that it works
}

// side is one direction's bytes.
type side struct {
	rest []byte // the beginning of a line
	long bool   // the line is longer than maxLine
}

// prompt is one that was not answered yet, or, of version 2, was, and is worked on.
type prompt struct {
	id       string // of the request; empty once it was answered
	session  string
	raw      string // the session's id as sent, with its quotation marks
	accepted bool
	closed   bool // its session was: no turn of it is in progress, but its answer may still come
}

// Pass takes bytes of a side, before they are passed on: so what a peer may know is known here.
func (t *Turns) Pass(from schema.From, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch from {
	case schema.FromClient:
		t.client.cut(b, t.fromClient)
	case schema.FromAgent:
		t.agent.cut(b, t.fromAgent)
	}
}

// End ends all turns: the agent is gone, and has perhaps not ended them itself.
func (t *Turns) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompts = nil
	clear(t.working)
}

// Session is a session of the connection.
type Session struct {
	ID  string
	Raw []byte // the id as it was sent, with its quotation marks
}

// Find gives the session that is meant and has a turn in progress: the one of that id, or, where none is
// named, the only one. The error wraps ErrStale if there is none.
func (t *Turns) Find(id string) (Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := map[string]string{}
	for _, p := range t.prompts {
		if !p.closed && (id == "" || p.session == id) {
			found[p.session] = p.raw
		}
	}
	for session, raw := range t.working {
		if id == "" || session == id {
			found[session] = raw
		}
	}
	switch {
	case len(found) > 1:
		return Session{}, fmt.Errorf("turns are in progress in %d sessions: name one", len(found))
	case len(found) == 0 && id != "" && !t.seen[id]:
		return Session{}, fmt.Errorf("%w: session %s was not seen in this connection", ErrStale, schema.Quoted(id))
	}
	for session, raw := range found {
		return Session{session, []byte(raw)}, nil
	}
	return Session{}, ErrStale
}

// cut gives each line that b completes. Only what is left of one is copied.
func (s *side) cut(b []byte, line func([]byte)) {
	for {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			s.keep(b)
			return
		}
		if whole := b[:n]; len(s.rest) == 0 && !s.long {
			line(whole)
		} else if s.keep(whole); !s.long {
			line(s.rest)
		}
		s.rest, s.long = nil, false
		b = b[n+1:]
	}
}

func (s *side) keep(b []byte) {
	if s.long || len(s.rest)+len(b) > maxLine {
		s.rest, s.long = nil, true
		return
	}
	s.rest = append(s.rest, b...)
}

// Words without which a line says nothing of turns. A line that has them may say something else. An update
// says nothing of them in version 1, but an answer may stand beside it in a line, or hold its word.
var (
	wordPrompt     = []byte("prompt")
	wordInitialize = []byte(acp.MethodInitialize)
	wordClose      = []byte(`/close"`)
	wordDelete     = []byte(`/delete"`)
	wordState      = []byte(acp.StateUpdate)
	wordUpdate     = []byte(`"` + acp.MethodSessionUpdate + `"`)
	wordResult     = []byte(`"result"`)
	wordError      = []byte(`"error"`)
)

func (t *Turns) fromClient(line []byte) {
	if bytes.Contains(line, wordPrompt) || bytes.Contains(line, wordInitialize) || bytes.Contains(line, wordClose) || bytes.Contains(line, wordDelete) {
		t.read(line, t.asked)
	}
}

func (t *Turns) fromAgent(line []byte) {
	if t.version2 && bytes.Contains(line, wordState) || len(t.prompts)+len(t.hello)+len(t.closing) > 0 && mayAnswer(line) {
		t.read(line, t.said)
	}
}

func mayAnswer(line []byte) bool {
	return !bytes.Contains(line, wordUpdate) || bytes.Contains(line, wordResult) || bytes.Contains(line, wordError)
}

var bom = []byte("\uFEFF")

// read gives each message of a line, as a transcript finds them: alone, in a batch, or beside other text.
func (t *Turns) read(line []byte, message func(jsontree.Value)) {
	line = bytes.TrimPrefix(line, bom)
	end, err := t.reader.Read(line)
	if err != nil || len(bytes.TrimSpace(line[end:])) > 0 {
		for _, o := range acp.Objects(&t.reader, line) {
			if _, err := t.reader.Read(line[o[0]:o[1]]); err == nil { // it was read before
				message(t.reader.Root())
			}
		}
		return
	}
	v := t.reader.Root()
	if v.Kind() != jsontree.Array {
		message(v)
		return
	}
	for element := range v.Children() {
		message(element)
	}
}

// asked takes what the client says.
func (t *Turns) asked(v jsontree.Value) {
	id, params := v.Get("id"), v.Get("params")
	switch {
	case !id.Given():
	case v.Get("method").Is(acp.MethodInitialize):
		if t.hello == nil {
			t.hello = map[string]bool{}
		}
		t.hello[key(id)] = true
	case v.Get("method").Is(acp.MethodSessionPrompt):
		session := params.Get("sessionId")
		if name, ok := t.name(session); ok {
			t.see(name)
			t.prompts = append(t.prompts, prompt{id: key(id), session: name, raw: string(session.Raw())})
		}
	case v.Get("method").Is(acp.MethodSessionClose), v.Get("method").Is(acp.MethodSessionDelete):
		if name, ok := t.name(params.Get("sessionId")); ok {
			if t.closing == nil {
				t.closing = map[string]string{}
			}
			t.closing[key(id)] = name
		}
	}
}

// name is a session's id; ok is false for one that cannot be said again as it was sent.
func (t *Turns) name(session jsontree.Value) (name string, ok bool) {
	name, ok = session.Text()
	return name, ok && !(t.reader.Lossy() && strings.ContainsRune(name, utf8.RuneError))
}

func (t *Turns) see(session string) {
	if t.seen == nil {
		t.seen, t.working = map[string]bool{}, map[string]string{}
	}
	t.seen[session] = true
}

// said takes what the agent says.
func (t *Turns) said(v jsontree.Value) {
	if v.Get("method").Present() {
		if t.version2 && v.Get("method").Is(acp.MethodSessionUpdate) {
			t.state(v.Get("params"))
		}
		return
	}
	id := v.Get("id")
	if t.hello[key(id)] {
		delete(t.hello, key(id))
		t.version2 = string(v.Get("result").Get("protocolVersion").Raw()) == strconv.Itoa(acp.Version2)
		return
	}
	if session, ok := t.closing[key(id)]; ok {
		delete(t.closing, key(id))
		if v.Get("result").Present() {
			t.close(session)
		}
		return
	}
	i := slices.IndexFunc(t.prompts, func(p prompt) bool { return p.id != "" && p.id == key(id) })
	ends := v.Get("result").Get("stopReason").Kind() == jsontree.String
	switch {
	case i < 0 && ends && t.open() == 1: // an answer to nothing ends the turn there is, as in a transcript
		t.prompts = slices.DeleteFunc(t.prompts, func(p prompt) bool { return !p.closed })
	case i < 0:
	case t.version2 && !ends && v.Get("result").Present() && !t.prompts[i].closed:
		t.prompts[i].id, t.prompts[i].accepted = "", true
	default:
		t.prompts = slices.Delete(t.prompts, i, i+1)
	}
}

// open counts the prompts of sessions that are not closed: an agent may never answer those of a closed one.
func (t *Turns) open() (n int) {
	for _, p := range t.prompts {
		if !p.closed {
			n++
		}
	}
	return n
}

// close ends the turns of a session that is no more.
func (t *Turns) close(session string) {
	delete(t.working, session)
	t.prompts = slices.DeleteFunc(t.prompts, func(p prompt) bool { return p.accepted && p.session == session })
	for i := range t.prompts {
		t.prompts[i].closed = t.prompts[i].closed || t.prompts[i].session == session
	}
}

// state takes what version 2's agent says of its work.
func (t *Turns) state(params jsontree.Value) {
	session, ok := t.name(params.Get("sessionId"))
	update := params.Get("update")
	if !ok || !update.Get("sessionUpdate").Is(acp.StateUpdate) {
		return
	}
	t.see(session)
	word, _ := update.Get("state").Text()
	switch {
	case acp.Working(word):
		t.working[session] = string(params.Get("sessionId").Raw())
	case word == acp.StateIdle:
		delete(t.working, session)
		t.prompts = slices.DeleteFunc(t.prompts, func(p prompt) bool { return p.accepted && p.session == session })
	}
}

// key is an id in one spelling: 1 and "1" are two.
func key(id jsontree.Value) string {
	if text, ok := id.Text(); ok {
		return `"` + text
	}
	return string(id.Raw())
}
