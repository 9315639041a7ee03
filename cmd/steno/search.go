package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/sink"
)

func (a *app) searchCommand() *cobra.Command {
	var f filterFlags
	var asJSON bool
	limit := sink.DefaultHits
	cmd := &cobra.Command{
		Use:   "search TEXT…",
		Short: "Find what was said and done",
		Long: `search finds events by their words: what users and agents said and thought, names,
titles, inputs and outputs of tools, diffs, notes, and errors. All words of TEXT must
be in one event; words in quotation marks must follow one another. A word is found
whole, in upper and lower case, with and without accents; a name such as foo_bar.go or
/etc/passwd is found by its parts, too. No character of TEXT has another meaning.

Hits are printed by transcript, those said last first, each with its number: steno show
KEY --from NUMBER opens it there. --json prints one object a hit, with a summary of
its transcript, and the byte ranges of the snippet that match.

search ends with 0 where nothing is found, too, and says so on stderr. What is stored
and not indexed yet is not found; search waits for it a while, and says if some is left.`,
		Example: `  steno search windmill
  steno search '"connection refused"' --since 7d --agent claude
  steno search /etc/passwd --protocol acp --label team=mill
  steno search --json flour | jq -r '[.transcript.key, .store_seq] | @tsv'
  steno search flour --nats nats://127.0.0.1:4222 --ledger postgres://steno@127.0.0.1/steno`,
		Args: atLeastOne("search for what? such as: steno search windmill"),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := f.filter(a, time.Now())
			if err != nil {
				return err
			}
			if limit < 0 {
				return a.badValue(fmt.Errorf("--limit %d: want 0 or more", limit), "limit")
			}
			return a.search(cmd.Context(), sink.SearchQuery{Text: strings.Join(args, " "), Filter: filter}, limit, asJSON)
		},
	}
	f.register(cmd, "what was said")
	cmd.Flags().IntVar(&limit, "limit", limit, "print so many hits at most; 0 = all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a hit")
	a.ledgerFlag(cmd)
	a.archiveFlag(cmd)
	return cmd
}

func (a *app) search(ctx context.Context, q sink.SearchQuery, limit int, asJSON bool) error {
	return a.inSession(ctx, "search", func(ctx context.Context, s *session) error {
		if err := s.indexed(ctx); err != nil {
			return err
		}
		list, err := s.parked(ctx)
		if err != nil {
			return err
		}
		view := s.view(list)
		var hits []sink.Hit
		count, more := 0, false
		var now sink.Indexing
		for left := limit; ; {
			q.Limit = sink.MaxHits
			if limit > 0 {
				q.Limit = min(left, sink.MaxHits)
			}
			var page sink.HitPage
			err := s.patient(ctx, func() (err error) {
				page, err = view.Search(ctx, q)
				return err
			})
			if err != nil {
				return queryError(err)
			}
			for _, h := range page.Hits {
				if asJSON {
					if err := a.out.json(h); err != nil {
						return err
					}
				}
			}
			if !asJSON {
				hits = append(hits, page.Hits...)
			}
			count, left, now = count+len(page.Hits), left-len(page.Hits), page.Indexing
			q.After, more = page.Next, page.Next != ""
			if !more || limit > 0 && left <= 0 {
				break
			}
		}
		if !asJSON {
			if err := render.Hits(a.out, render.Options{Colour: a.colour(), Width: a.width()}, hits); err != nil {
				return err
			}
			a.sayHits(count, more)
		}
		sayUnindexed(a.err, now)
		return nil
	})
}

// sayHits says how many there are, and how to go on.
func (a *app) sayHits(count int, more bool) {
	switch {
	case count == 0:
		fmt.Fprintln(a.err, "nothing found")
	case more:
		fmt.Fprintf(a.err, "the newest %s; there are more (--limit). steno show KEY --from NUMBER opens one\n", plural(count, "hit"))
	default:
		fmt.Fprintf(a.err, "%s. steno show KEY --from NUMBER opens one\n", plural(count, "hit"))
	}
}

// queryError is of the usage where the text is not one to search for.
func queryError(err error) error {
	if isAny(err, sink.ErrNoWords, sink.ErrManyWords) {
		return usage("%w", err)
	}
	return err
}

// sayUnindexed says of what a search knows nothing.
func sayUnindexed(to io.Writer, now sink.Indexing) {
	if now.Behind > 0 {
		fmt.Fprintf(to, "steno: warning: %s not indexed yet, and not searched\n", pluralIs(now.Behind, "stored event"))
	}
	if now.Failed > 0 {
		fmt.Fprintf(to, "steno: warning: %s could not be indexed, and cannot be found\n", plural(now.Failed, "event"))
	}
}

// Times of waiting for the index.
const (
	indexPatience = 10 * time.Second
	indexEvery    = 20 * time.Millisecond
)

// indexed waits until what is stored in the data directory is indexed, as every command waits for what the
// journals hold; not for long, since a search says what is left. A cluster's sinks are not waited for.
func (s *session) indexed(ctx context.Context) error {
	if _, ok := s.site.(*directory); !ok {
		return nil
	}
	goal := uint64(0)
	for began := time.Now(); ; {
		var stats sink.Stats
		err := s.patient(ctx, func() (err error) {
			stats, err = s.ledger.Stats(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if goal == 0 {
			goal = stats.Events
		}
		if stats.Indexing.Behind == 0 || stats.Events-min(stats.Events, stats.Indexing.Behind) >= goal || time.Since(began) > indexPatience {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(indexEvery):
		}
	}
}
