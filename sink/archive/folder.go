package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"slices"
	"strings"

	"github.com/steno-io/steno/schema"
)

// maxObject bounds an object that is read whole, in bytes: a blob is one message's bytes.
const maxObject = 1 << 30

// sealNames are the last frames of a capture's seals, and of its notes, in ascending order.
type sealNames struct{ seals, notes []uint64 }

func sealsOf(ctx context.Context, store Store, id schema.Identity) (names sealNames, err error) {
	for listed, err := range store.List(ctx, Folder(id)+"seal-") {
		if err != nil {
			return names, err
		}
		o, err := ParseObject(listed.Name)
		if err != nil {
			return names, err
		}
		switch o.Kind {
		case SealFile:
			names.seals = append(names.seals, o.Last)
		case Note:
			names.notes = append(names.notes, o.Last)
		}
	}
	slices.Sort(names.seals)
	return names, nil
}

// sum is a SHA-256 that is being made.
type sum struct{ hash.Hash }

func newSum() sum { return sum{sha256.New()} }

func (s sum) hex() string { return hex.EncodeToString(s.Sum(nil)) }

func compareIdentities(a, b schema.Identity) int { return strings.Compare(a.String(), b.String()) }

// keysOf gives the captures of a namespace.
func keysOf(folders map[schema.Identity]*folder, namespace string) iter.Seq[schema.Identity] {
	return func(yield func(schema.Identity) bool) {
		for id := range folders {
			if id.Namespace == namespace && !yield(id) {
				return
			}
		}
	}
}
