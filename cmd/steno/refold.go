package main

import (
	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// newFold starts the fold of a capture by a translator version, for a proof.
func newFold(id schema.Identity, version string) verify.Fold {
	return proof.Folds(protocols())(id, version)
}
