package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/steno-io/steno/sink"
)

// maxPhrase is the longest phrase, in words: a longer one is several, each of which must be there. An
// index that keeps a text in pieces lets them overlap by as much.
const maxPhrase = 32

// MaxWords is how many words may be searched for at once.
const MaxWords = 256

// Query is what to search for: all of its terms.
type Query struct{ Terms []Term }

// Term is one word, or several that follow one another.
type Term []string

// Parse reads a text that somebody typed. What is in quotation marks is a phrase, and so are the parts of
// what has no space in it; nothing else has a meaning. The error wraps sink.ErrNoWords where there is no
// word in it, and sink.ErrManyWords where there are more than MaxWords.
func Parse(text string) (Query, error) {
	var q Query
	count := 0
	for i, quoted := range strings.Split(text, `"`) {
		chunks := []string{quoted}
		if i%2 == 0 {
			chunks = strings.Fields(quoted)
		}
		for _, chunk := range chunks {
			var term Term
			Words(chunk, func(word []byte, _, _ int) bool {
				term = append(term, string(word))
				count++
				return count <= MaxWords
			})
			for part := range slices.Chunk(term, maxPhrase) {
				if !slices.ContainsFunc(q.Terms, func(t Term) bool { return slices.Equal(t, Term(part)) }) {
					q.Terms = append(q.Terms, Term(part))
				}
			}
		}
	}
	switch {
	case count > MaxWords:
		return Query{}, fmt.Errorf("search for a text: %w", sink.ErrManyWords)
	case count == 0:
		return Query{}, fmt.Errorf("search for %q: %w", text, sink.ErrNoWords)
	}
	return q, nil
}

// FTS5 writes the query as SQLite's FTS5 reads it.
func (q Query) FTS5() string {
	return q.write(` AND `, func(t Term) string { return `"` + strings.Join(t, " ") + `"` })
}

// TSQuery writes the query as PostgreSQL reads a tsquery.
func (q Query) TSQuery() string { return q.write(` & `, Term.TSQuery) }

// AnyTSQuery is TSQuery for what has one of the terms at least.
func (q Query) AnyTSQuery() string { return q.write(` | `, Term.TSQuery) }

// TSQuery writes the term as PostgreSQL reads a tsquery.
func (t Term) TSQuery() string { return `('` + strings.Join(t, `' <-> '`) + `')` }

func (q Query) write(between string, term func(Term) string) string {
	var parts []string
	for _, t := range q.Terms {
		parts = append(parts, term(t))
	}
	return strings.Join(parts, between)
}
