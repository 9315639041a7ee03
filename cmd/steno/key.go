package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// find finds the transcript that a command's argument names: an exact key wins; else any part of a
// key, session id or title that only one transcript has, those of the readable list first; without an
// argument it is the newest.
func find(ctx context.Context, r sink.Reader, args []string) (sink.Summary, error) {
	if len(args) == 0 {
		return newest(ctx, r)
	}
	part := args[0]
	if key, err := schema.ParseTranscript(part); err == nil {
		t, err := r.Transcript(ctx, key)
		if !errors.Is(err, sink.ErrNotFound) {
			return t, err
		}
	}
	var listed, others []sink.Summary
	for t, err := range sink.All(ctx, r) {
		switch {
		case err != nil:
			return sink.Summary{}, err
		case !strings.Contains(t.Key, part) && !strings.Contains(t.SessionID, part) && !strings.Contains(t.Title, part):
		case isListed(t):
			listed = append(listed, t)
		default:
			others = append(others, t)
		}
	}
	for _, matches := range [][]sink.Summary{listed, others} {
		switch len(matches) {
		case 0:
		case 1:
			return matches[0], nil
		default:
			return sink.Summary{}, ambiguous(part, matches)
		}
	}
	return sink.Summary{}, fmt.Errorf("find transcript %q: no key, session id or title has it (steno ls --all lists them)", part)
}

func ambiguous(part string, matches []sink.Summary) error {
	const most = 5
	var b strings.Builder
	for i, t := range matches {
		if i == most {
			fmt.Fprintf(&b, "\n  … and %d more", len(matches)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", t.Key, t.Title)
	}
	return usage("find transcript %q: %d transcripts have it; give more of one:%s", part, len(matches), b.String())
}

// newest is the newest transcript of the readable list, or of all where none is listed.
func newest(ctx context.Context, r sink.Reader) (sink.Summary, error) {
	var first *sink.Summary
	for t, err := range sink.All(ctx, r) {
		if err != nil {
			return sink.Summary{}, err
		}
		if isListed(t) {
			return t, nil
		}
		if first == nil {
			first = &t
		}
	}
	if first == nil {
		return sink.Summary{}, errors.New("find the newest transcript: nothing is recorded yet (steno record -- AGENT records one)")
	}
	return *first, nil
}

// isListed reports whether the readable list has the transcript: neither ACP's connection itself nor a
// session without a message.
func isListed(t sink.Summary) bool {
	return !t.Empty && !(t.Protocol == schema.ACP && strings.HasSuffix(t.Key, "/0"))
}
