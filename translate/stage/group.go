package stage

import (
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// event is a durable event that waits to be stored.
type event struct {
	origin  schema.Origin
	session uint32
	ordinal uint64 // of the event in its session, from 1
	line    []byte // its encoding
}

// group is the durable events of one frame, and how the capture stood after it.
type group struct {
	frame  uint64
	seq    uint64 // its stream sequence
	chain  string
	events []event
	open   map[uint32]uint64       // frames that no event names yet, by session
	about  map[uint32]schema.About // what changed with this frame
	bytes  int                     // of the lines
}

// cut makes one record of the first groups: as many as the bounds let in, and at least one.
func cut(groups []group, translator string) schema.Record {
	rec := schema.Record{First: map[uint32]uint64{}, Translator: translator}
	events, bytes, about := 0, 0, 0
	n := 0
	for ; n < len(groups); n++ {
		g := &groups[n]
		events, bytes, about = events+len(g.events), bytes+g.bytes+len(g.events), about+translate.AboutBytes(g.about)
		if n > 0 && (events > maxRecordEvents || bytes > maxRecordBytes || about > translate.MaxAboutBytes) {
			break
		}
	}
	for _, g := range groups[:n] {
		for i := range g.events {
			e := &g.events[i]
			if _, ok := rec.First[e.session]; !ok {
				rec.First[e.session] = e.ordinal
			}
			rec.Events = append(rec.Events, e.line)
			rec.Last = e.origin
		}
		for session, about := range g.about {
			if rec.About == nil {
				rec.About = map[uint32]schema.About{}
			}
			rec.About[session] = about
		}
	}
	rec.Chain, rec.Open = groups[n-1].chain, groups[n-1].open
	return rec
}

// dropUpTo removes the events up to an origin and gives the rest and the bytes removed.
func dropUpTo(groups []group, last schema.Origin) (rest []group, bytes int) {
	for len(groups) > 0 && groups[0].frame <= last.Frame {
		g := &groups[0]
		for len(g.events) > 0 && g.events[0].origin.Compare(last) <= 0 {
			bytes += len(g.events[0].line)
			g.bytes -= len(g.events[0].line)
			g.events = g.events[1:]
		}
		if len(g.events) > 0 {
			return groups, bytes
		}
		groups[0] = group{} // let go of its memory
		groups = groups[1:]
	}
	if len(groups) == 0 {
		groups = nil
	}
	return groups, bytes
}
