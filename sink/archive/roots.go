package archive

import (
	"golang.org/x/mod/sumdb/tlog"

	"github.com/steno-io/steno/schema"
)

// roots holds the root of a capture's frames against those of its seals.
type roots struct {
	tree  Tree
	seals []Seal               // whose last frame is still to come
	other map[uint64]tlog.Hash // of seals that have another root, by their last frame: what the frames give
}

func (c *Contents) roots() map[schema.Identity]*roots {
	all := make(map[schema.Identity]*roots, len(c.order))
	for _, one := range c.order {
		all[one.id] = &roots{seals: one.seals, other: map[uint64]tlog.Hash{}}
	}
	return all
}

// add takes the next frame. A gap in the numbers, which is found otherwise, ends it: no root can be told then.
func (r *roots) add(frame uint64, leaf [32]byte) {
	if frame != r.tree.Size()+1 {
		r.seals = nil
	}
	if len(r.seals) == 0 {
		return
	}
	r.tree.Append(leaf)
	if seal := &r.seals[0]; seal.Last == frame {
		if root := r.tree.Root(); root != seal.Root {
			r.other[frame] = root
		}
		r.seals = r.seals[1:]
	}
}
