package translate

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
)

// MaxAboutBytes bounds what a record says about its sessions, in bytes of JSON, so that with base64
// and the ordinals its headers stay under the server's 64 KiB.
const MaxAboutBytes = 24 << 10

// Abouts finds what changed about the sessions of a capture. What a record has no room for waits for
// the next frame with events; so what is said of a frame depends on the frames alone. The zero value is ready.
type Abouts struct {
	Given   map[uint32]schema.About // as each session was last
	Waiting map[uint32]schema.About // what is still to be said
}

// Notice looks what changed about the sessions that a frame with durable events concerns; sessions are those
// that have had one, and gets those of the frame. A control frame concerns all; so does one that changes a
// status, since what comes after the end of a capture opens all of it again.
func (a *Abouts) Notice(c *Capture, f *schema.Frame, events []schema.Event, sessions map[uint32]struct{}) {
	whole := f.Type != schema.TypeData
	for i := range events {
		if events[i].Ephemeral {
			continue
		}
		session := events[i].Session
		now := c.About(session)
		whole = whole || a.status(session) != now.Status
		sessions[session] = struct{}{}
		a.note(session, now)
	}
	if whole {
		for session := range sessions {
			a.note(session, c.About(session))
		}
	}
}

// note takes how a session is now.
func (a *Abouts) note(session uint32, now schema.About) {
	if a.Given[session].Equal(now) {
		return
	}
	if a.Given == nil {
		a.Given, a.Waiting = map[uint32]schema.About{}, map[uint32]schema.About{}
	}
	a.Given[session] = now
	a.Waiting[session] = now
}

// status is how a session was; one that is new has its capture's.
func (a *Abouts) status(session uint32) schema.Status {
	if about, ok := a.Given[session]; ok {
		return about.Status
	}
	return a.Given[0].Status
}

// Take gives what fits into a record, the lowest sessions first; nil if nothing changed.
func (a *Abouts) Take() map[uint32]schema.About {
	if len(a.Waiting) == 0 {
		return nil
	}
	out, size := map[uint32]schema.About{}, 0
	for _, session := range slices.Sorted(maps.Keys(a.Waiting)) {
		about := a.Waiting[session]
		n := aboutSize(about)
		if n > MaxAboutBytes { // its texts are the fold's to cut, but their number is not bounded
			about = schema.About{Status: about.Status}
			n = aboutSize(about)
		}
		if size += n; size > MaxAboutBytes && len(out) > 0 {
			break
		}
		out[session] = about
		delete(a.Waiting, session)
	}
	return out
}

// AboutBytes is the size of what a record says about its sessions, in bytes of JSON.
func AboutBytes(m map[uint32]schema.About) (n int) {
	for _, about := range m {
		n += aboutSize(about)
	}
	return n
}

// aboutSize is the size of its JSON with the session's number.
func aboutSize(a schema.About) int {
	data, err := json.Marshal(a)
	if err != nil { // strings and a map of strings always encode
		panic(err)
	}
	return len(data) + len(`"4294967295":,`)
}
