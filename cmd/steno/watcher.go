package main

import (
	"fmt"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

// watcher writes what is followed, one transcript after the other.
type watcher struct {
	a        *app
	f        viewFlags
	untilEnd bool

	page *render.Renderer // of the transcript that is followed; nil with --json
	item func(follow.Item) error
}

// begin writes that what comes belongs to the transcript.
func (w *watcher) begin(t sink.Summary) error {
	first := w.item == nil
	if w.f.json {
		w.item = w.a.jsonItem(w.untilEnd)
		if first {
			return nil
		}
		return w.a.out.json(map[string]any{"transcript": t})
	}
	if err := w.close(); err != nil {
		return err
	}
	if !first {
		if _, err := fmt.Fprintln(w.a.out); err != nil {
			return err
		}
	}
	w.page = w.a.renderer(w.f)
	w.item = renderItem(w.page, w.untilEnd)
	return w.page.Transcript(t)
}

func (w *watcher) emit(item follow.Item) error {
	if b, ok := item.(*follow.Begin); ok {
		return w.begin(b.Summary)
	}
	return w.item(item)
}

func (w *watcher) close() error {
	if w.page == nil {
		return nil
	}
	page := w.page
	w.page = nil
	return page.Close()
}
