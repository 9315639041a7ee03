package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// errNothing marks a ledger without a transcript.
var errNothing = errors.New("nothing is recorded yet (steno record -- AGENT records one)")

// find finds the transcript that a command's argument names: an exact key wins, then an exact session
// id; else any part of a key, session id or title that only one transcript has. Of session ids and
// parts those of the readable list go first. Without an argument it is the newest, and errNothing if
// there is none.
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
	var ranked [4][]sink.Summary
	for t, err := range sink.All(ctx, r) {
		if err != nil {
			return sink.Summary{}, err
		}
		if rank, ok := rankOf(t, part); ok {
			ranked[rank] = append(ranked[rank], t)
		}
	}
	for _, matches := range ranked {
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

// rankOf says how well a transcript fits, 0 best.
func rankOf(t sink.Summary, part string) (rank int, ok bool) {
	switch {
	case t.SessionID == part:
	case strings.Contains(t.Key, part), strings.Contains(t.SessionID, part), strings.Contains(t.Title, part):
		rank = 2
	default:
		return 0, false
	}
	if !isListed(t) {
		rank++
	}
	return rank, true
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
		return sink.Summary{}, fmt.Errorf("find the newest transcript: %w", errNothing)
	}
	return *first, nil
}

// isListed reports whether the readable list has the transcript: neither ACP's connection itself nor a
// session without a message.
func isListed(t sink.Summary) bool {
	return !t.Empty && !(t.Protocol == schema.ACP && t.Transcript.Session == 0)
}
