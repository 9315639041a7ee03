package sink

import (
	"context"
	"errors"
	"iter"

	"github.com/steno-io/steno/schema"
)

// Reader is what lists and transcripts are read from, while a writer stores.
type Reader interface {
	// Transcripts gives a page of the list, the newest first: by when the first record of each was
	// put on STENO_EVENTS. The order is fixed, whatever the filter is, so that no page skips or repeats
	// one. A text that says nothing to look for is ErrNoWords.
	Transcripts(ctx context.Context, q Query) (Page, error)
	// Transcript gives one transcript; ErrNotFound if the ledger has none of that key.
	Transcript(ctx context.Context, key schema.Transcript) (Summary, error)
	// Events gives the events numbered above after, in order, at most limit of them; 0 = up to the
	// head. A slow reader holds up no writer. Bytes are the caller's. A ledger by itself gives a *DroppedError in
	// the place of events that are in an archive; archive.Through reads them there.
	Events(ctx context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[Event, error]
}

// Auditor is what proofs and operators read a ledger by.
type Auditor interface {
	// Captures gives the captures whose keys sort behind after, in that order, at most limit.
	Captures(ctx context.Context, after string, limit int) ([]CaptureInfo, error)
	// Capture gives one capture as it is at one moment; ErrNotFound if the ledger has none of it.
	Capture(ctx context.Context, id schema.Identity) (CaptureInfo, error)
	// Stats counts what is in the ledger.
	Stats(ctx context.Context) (Stats, error)
}

// Errors of opening and reading.
var (
	// ErrNotFound: the ledger does not have it.
	ErrNotFound = errors.New("not in the ledger")
	// ErrVersion: the ledger's tables are not those of this build.
	ErrVersion = errors.New("ledger of another version")
)

// Query asks for a page of the list.
type Query struct {
	Filter
	// Text leaves those in which a search for it finds something; empty = all. What is stored and not
	// indexed yet is not found.
	Text  string
	Limit int    // at most so many; 0 = MaxPage
	After string // Page.Next of the page before; empty = from the newest
}

// MaxPage is the longest page of the list.
const MaxPage = 1000

// Page is a part of the list.
type Page struct {
	Transcripts []Summary
	Next        string // asks for the page behind this one; empty if there is none
}

// Event is one stored event: its encoding with the number in it.
type Event struct {
	Seq   uint64
	Bytes []byte
}

// CaptureInfo is a capture with its sessions, in ascending order.
type CaptureInfo struct {
	Capture
	Sessions []SessionInfo
}

// SessionInfo is how far one session of a capture is stored.
type SessionInfo struct {
	Session uint32
	Head    uint64
	Dropped uint64 // as Transcript has it
	Frames  uint64
}

// Stats counts a ledger.
type Stats struct {
	Captures    uint64 `json:"captures"`
	Transcripts uint64 `json:"transcripts"`
	Events      uint64 `json:"events"`
	Dropped     uint64 `json:"dropped"` // of those: in an archive, and not in the ledger any more
	Parked      uint64 `json:"parked"`
	// Indexing is how far the search has come; see Searcher.Indexing.
	Indexing  Indexing            `json:"search"`
	Positions map[uint32]Position `json:"-"` // of the partitions that were ever claimed
}

// All gives every transcript of the list, page by page.
func All(ctx context.Context, r Reader) iter.Seq2[Summary, error] { return Each(ctx, r, Query{}) }

// Each gives every transcript that the query leaves, page by page.
func Each(ctx context.Context, r Reader, q Query) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		q := q
		for {
			page, err := r.Transcripts(ctx, q)
			if err != nil {
				yield(Summary{}, err)
				return
			}
			for _, s := range page.Transcripts {
				if !yield(s, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
		}
	}
}
