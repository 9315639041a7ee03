package stage

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
)

// maxAboutBytes bounds what a record says about its sessions, in bytes of JSON, so that with base64
// and the ordinals its headers stay under the server's 64 KiB.
const maxAboutBytes = 24 << 10

// abouts finds what changed about the sessions of a capture. What a record has no room for waits for
// the next frame with events; so what a frame's group says depends on the frames alone.
type abouts struct {
	given   map[uint32]schema.About
	waiting map[uint32]schema.About
}

// note takes how a session is now.
func (a *abouts) note(session uint32, now schema.About) {
	if a.given[session].Equal(now) {
		return
	}
	if a.given == nil {
		a.given, a.waiting = map[uint32]schema.About{}, map[uint32]schema.About{}
	}
	a.given[session] = now
	a.waiting[session] = now
}

// status is how a session was; one that is new has its capture's.
func (a *abouts) status(session uint32) schema.Status {
	if about, ok := a.given[session]; ok {
		return about.Status
	}
	return a.given[0].Status
}

// take gives what fits into a record, the lowest sessions first; nil if nothing changed.
func (a *abouts) take() map[uint32]schema.About {
	if len(a.waiting) == 0 {
		return nil
	}
	out, size := map[uint32]schema.About{}, 0
	for _, session := range slices.Sorted(maps.Keys(a.waiting)) {
		about := a.waiting[session]
		n := aboutSize(about)
		if n > maxAboutBytes { // its texts are the fold's to cut, but their number is not bounded
			about = schema.About{Status: about.Status}
			n = aboutSize(about)
		}
		if size += n; size > maxAboutBytes && len(out) > 0 {
			break
		}
		out[session] = about
		delete(a.waiting, session)
	}
	return out
}

func aboutBytes(m map[uint32]schema.About) (n int) {
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
