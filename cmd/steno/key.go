package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// errNothing marks a ledger without a transcript.
var errNothing = errors.New("nothing is recorded yet (steno record -- AGENT records one)")

// find finds the transcript that a command's argument names: an exact key wins, then an exact session
// id; else any part of a key, session id or title that only one transcript has. Of session ids and
// parts those of the readable list go first. What none has may be the id of a task, or the beginning of one
// that only one transcript has. Without an argument it is the newest, and errNothing if
// there is none.
func find(ctx context.Context, r sink.Reader, args []string) (sink.Summary, error) {
	if len(args) == 0 {
		return newest(ctx, r, anyPeer)
	}
	part := args[0]
	if key, err := schema.ParseTranscript(part); err == nil {
		t, err := r.Transcript(ctx, key)
		if !errors.Is(err, sink.ErrNotFound) {
			return t, err
		}
	}
	var ranked [4][]sink.Summary
	var all []sink.Summary
	for t, err := range sink.All(ctx, r) {
		if err != nil {
			return sink.Summary{}, err
		}
		all = append(all, t)
		if rank, ok := rankOf(t, part); ok {
			ranked[rank] = append(ranked[rank], t)
		}
	}
	lists := ranked[:]
	if part != "" && len(slices.Concat(lists...)) == 0 {
		tasks, err := withTask(ctx, r, all, part)
		if err != nil {
			return sink.Summary{}, err
		}
		lists = append(lists, tasks)
	}
	for _, matches := range lists {
		switch len(matches) {
		case 0:
		case 1:
			return matches[0], nil
		default:
			return sink.Summary{}, ambiguous(part, matches)
		}
	}
	return sink.Summary{}, fmt.Errorf("find transcript %q: no key, session id, title or task has it (steno ls --all lists them)", part)
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

// anyPeer is the name that all agents have.
const anyPeer = ""

// isPeer reports whether a transcript is one with the agent of that name.
func isPeer(t sink.Summary, name string) bool { return name == anyPeer || t.Agent == name }

// newest is the newest transcript of the readable list, or of all where none is listed, of those with one
// agent.
func newest(ctx context.Context, r sink.Reader, peer string) (sink.Summary, error) {
	var best [2]sink.Summary // listed, and not
	var at [2]time.Time
	for t, err := range sink.All(ctx, r) {
		if err != nil {
			return sink.Summary{}, err
		}
		if !isPeer(t, peer) {
			continue
		}
		i := 0
		if !isListed(t) {
			i = 1
		}
		if when := recency(t); best[i].Key == "" || when.After(at[i]) {
			best[i], at[i] = t, when
		}
	}
	for _, t := range best {
		if t.Key != "" {
			return t, nil
		}
	}
	return sink.Summary{}, fmt.Errorf("find the newest transcript: %w", errNothing)
}

// recency is what makes a transcript the newest: when it was recorded, and for a conversation of A2A, which
// may be taken up again at any time, also when it last said something.
func recency(t sink.Summary) time.Time {
	if t.Protocol == schema.A2A && t.LastAt.After(t.AddedAt) {
		return t.LastAt
	}
	return t.AddedAt
}

// isListed reports whether the readable list has the transcript: neither ACP's connection itself nor a
// session without a message.
func isListed(t sink.Summary) bool {
	return !t.Empty && !(t.Protocol == schema.ACP && t.Transcript.Session == 0)
}
