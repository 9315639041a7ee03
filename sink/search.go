package sink

import (
	"context"
	"errors"
	"time"

	"github.com/steno-io/steno/schema"
)

// Searcher finds events by what is said in them.
type Searcher interface {
	// Search gives a page of what is found, the newest first: by when it was said. The order is fixed,
	// so that no page skips or repeats a hit; what is indexed meanwhile stands on the page that its time
	// gives it. A text that says nothing to look for is ErrNoWords, one that
	// says too much is ErrManyWords, a cursor that no page gave is ErrCursor.
	Search(ctx context.Context, q SearchQuery) (HitPage, error)
	// Indexing says how far the index has come.
	Indexing(ctx context.Context) (Indexing, error)
}

// Errors of a query.
var (
	// ErrNoWords: the text to search for has no letter, no digit and no symbol.
	ErrNoWords = errors.New("no word to search for")
	// ErrManyWords: there are more words in the text than can be searched for at once.
	ErrManyWords = errors.New("too many words to search for")
	// ErrCursor: the page cursor is not one that a page gave.
	ErrCursor = errors.New("not a page cursor")
)

// SearchQuery asks for a page of hits.
type SearchQuery struct {
	Filter
	// Text is what the event must say: every word of it, and what is in quotation marks as a phrase. A
	// word is found whole, in any case, with or without its accents. A name such as foo_bar.go or
	// /etc/passwd is a phrase of its parts. No character has another meaning.
	Text  string
	Limit int    // at most so many; 0 = DefaultHits, never more than MaxHits
	After string // HitPage.Next of the page before; empty = from the newest
}

// Bounds of a page of hits.
const (
	DefaultHits = 50
	MaxHits     = 500
)

// HitPage is a part of what a search finds.
type HitPage struct {
	Hits     []Hit    `json:"hits"`
	Next     string   `json:"next"` // asks for the page behind this one; empty if there is none
	Indexing Indexing `json:"indexing"`
}

// Hit is one event that says what was searched for.
type Hit struct {
	Summary Summary        `json:"transcript"`
	Seq     uint64         `json:"store_seq"`
	At      time.Time      `json:"at"`                // when it was said
	Kind    string         `json:"kind"`              // the tag of its kind
	Role    schema.Role    `json:"role,omitempty"`    // of a Message
	Channel schema.Channel `json:"channel,omitempty"` // of a Message
	Tool    string         `json:"tool,omitempty"`    // of a ToolCall or a ToolState: its name
	// Snippet is a part of what it says around the first match, on one line. Matches are the closed-open
	// ranges of its bytes that match, in order.
	Snippet string   `json:"snippet"`
	Matches [][2]int `json:"matches"`
	// Dropped is where the event is, if the ledger has it no more: then of what is above only Summary, Seq and
	// At are there. search.Read fills in the rest; archive.Through does.
	Dropped *Dropped `json:"-"`
}

// Indexing is how far the index of the search has come. Lag is shown, never hidden.
type Indexing struct {
	Behind uint64 `json:"behind"` // events that are stored and not indexed yet
	Failed uint64 `json:"failed"` // events that could not be indexed, and are not found
}
