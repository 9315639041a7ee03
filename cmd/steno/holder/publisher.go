package holder

import (
	"context"

	"github.com/steno-io/steno/ingest/filing"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
)

// publisher stores a journal to its end.
type publisher interface {
	Run(ctx context.Context) error
	// Stored waits until what stands before an offset of the journal is stored, and gives the captures
	// that it went to with the numbers of their last frames.
	Stored(ctx context.Context, offset uint64) (map[schema.Identity]uint64, error)
	// Captures are those captures as far as they are known now.
	Captures() map[schema.Identity]uint64
}

// newPublisher makes the publisher of a connection's journal, or of a proxy's.
func newPublisher(o filing.Options) publisher {
	if o.Source.Head().Open.Protocol == schema.A2A {
		return filing.New(o)
	}
	return publish.NewPublisher(o.Options)
}
