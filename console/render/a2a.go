package render

import (
	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
)

// settleFault writes the error that waits, which nothing else said.
func (r *Renderer) settleFault() {
	if e := r.fault; e != nil {
		r.fault = nil
		r.says(e, reading.FaultOf(e.Kind.(*schema.Raw)))
	}
}

// part writes a part that is not text on one line: under the words that it came with, if it did.
func (r *Renderer) part(e *schema.Event, text string) {
	if !r.spoken {
		r.line(dim, reading.MarkNote, "["+fit(text, r.page.room(6))+"]", "", e)
		return
	}
	r.page.put(plain, body)
	r.page.put(dim, "["+fit(text, r.page.room(2))+"]")
	r.page.newline()
}

// began writes how a recording of A2A began: it belongs to the heading, if that was written last.
func (r *Renderer) began(e *schema.Event, said reading.Said) {
	if !r.headed {
		r.says(e, said)
		return
	}
	r.hidden++
	r.dots(said.More)
}

// task writes which task what follows belongs to, where a conversation has several.
func (r *Renderer) task(e *schema.Event) {
	id := e.Source.TaskID
	if e.Source.Protocol != schema.A2A || id == "" || id == r.shownTask {
		return
	}
	first := r.shownTask == ""
	r.shownTask = id
	if first && !r.several {
		return // perhaps it is the only one
	}
	r.page.gap()
	r.page.put(dim, fit("── task "+reading.OneLine(id), r.page.room(0)))
	r.page.newline()
	r.current = textBlock
}
