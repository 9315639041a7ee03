package publish

import (
	"errors"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema/topology"
)

// Hopeless tells the failures of publishing a journal that no other try mends. That the journal is there no
// more, journal.Gone tells.
func Hopeless(err error) bool {
	return errors.Is(err, journal.ErrDamaged) || errors.Is(err, ErrSubject) || errors.Is(err, ErrUnstorable) || errors.Is(err, topology.ErrBlob)
}
