package holder

import (
	"context"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// Publisher stores a journal to its end.
type Publisher interface {
	Run(ctx context.Context) error
	// Stored waits until what stands before an offset of the journal is stored, and gives the captures
	// that it went to with the numbers of their last frames.
	Stored(ctx context.Context, offset uint64) (map[schema.Identity]uint64, error)
	// Captures are those captures as far as they are known now.
	Captures() map[schema.Identity]uint64
}

// NewPublisher makes the publisher of a connection's journal, or of a proxy's.
func NewPublisher(o filing.Options) Publisher {
	if o.Source.Head().Open.Protocol == schema.A2A {
		return filing.New(o)
	}
	return publish.NewPublisher(o.Options)
}

// Claim makes this process the one that publishes a proxy's journal, until the claim is released. Of a
// connection's journal there may be several.
func Claim(dir Dir, h journal.Head) (release func() error, err error) {
	if h.Open.Protocol != schema.A2A {
		return func() error { return nil }, nil
	}
	return journal.Claim(dir.Journals(), h.ID)
}
