package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// withTask gives the transcripts of A2A that have a task of that id, or, where none has, one whose id begins
// like that. Lists do not know tasks, so it reads the events of all: what finds nothing faster is found so.
func withTask(ctx context.Context, r sink.Reader, all []sink.Summary, part string) ([]sink.Summary, error) {
	var exact, begun []sink.Summary
	quoted := schema.AppendString([]byte(`"task_id":`), part)
	needle := quoted[:len(quoted)-1] // an id that begins like that
	for _, t := range all {
		if t.Protocol != schema.A2A {
			continue
		}
		best := ""
		for e, err := range r.Events(ctx, t.Transcript, 0, 0) {
			if err != nil {
				return nil, err
			}
			if !bytes.Contains(e.Bytes, needle) {
				continue
			}
			event, err := schema.DecodeEvent(e.Bytes)
			if err != nil {
				return nil, err
			}
			if id := event.Source.TaskID; id == part {
				best = id
				break
			} else if best == "" && strings.HasPrefix(id, part) {
				best = id
			}
		}
		switch {
		case best == part:
			exact = append(exact, t)
		case best != "":
			begun = append(begun, t)
		}
	}
	if len(exact) > 0 {
		return exact, nil
	}
	return begun, nil
}
