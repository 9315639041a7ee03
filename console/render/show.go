package render

import (
	"iter"
	"slices"
	"strings"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Transcript writes the heading of a transcript.
func (r *Renderer) Transcript(s sink.Summary) error {
	r.about(s)
	r.page.put(heading, fit(reading.Title(s), r.page.room(0)))
	r.page.newline()
	r.page.put(dim, s.Key)
	r.page.newline()
	r.dots(reading.Facts(s)...)
	var words []string
	if !s.FirstAt.IsZero() {
		words = append(words, s.FirstAt.UTC().Format("2006-01-02 15:04:05 UTC"), reading.Span(s.LastAt.Sub(s.FirstAt)))
	}
	if s.Cwd != "" {
		words = append(words, "in "+reading.OneLine(s.Cwd))
	}
	r.dots(words...)
	if r.o.Takes != "" {
		r.dots("takes " + r.o.Takes)
	}
	r.current, r.headed = textBlock, true
	return r.page.flush()
}

// about takes over what is said of a transcript beside its events.
func (r *Renderer) about(s sink.Summary) {
	r.first = s.FirstAt
	if s.Protocol == schema.A2A {
		r.reader.Peer = s.Agent
	}
}

// dots writes the words that there are on one line.
func (r *Renderer) dots(words ...string) {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	r.page.block("", dim, dim, strings.Join(words, " · "))
}

// Show writes a whole transcript: its heading, then its events where their first frames stand, each
// tool's card complete. It closes the renderer.
func (r *Renderer) Show(s sink.Summary, events iter.Seq2[schema.Event, error]) error {
	var all []schema.Event
	for e, err := range events {
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	if err := r.Transcript(s); err != nil {
		return err
	}
	r.whole = true
	for i := range all {
		r.tools.Gather(&all[i])
	}
	r.tools.Again() // as it is drawn: an id may be used again
	r.several = reading.SeveralTasks(all)
	places := reading.Places(all)
	r.clock = reading.NewClock(all, places, r.o.At)
	reading.Sort(all, places)
	for i := range all {
		r.event(&all[i])
		if r.page.out.Buffered() > 1<<16 {
			if err := r.page.flush(); err != nil {
				return err
			}
		}
	}
	return r.Close()
}
