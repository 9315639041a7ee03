package archive

import (
	"slices"
	"sync"
)

// recent keeps what was used last, up to a weight in all; one more may be kept than that. The zero value is empty. It is
// safe for concurrent use.
type recent[K comparable, V any] struct {
	mu     sync.Mutex
	weight int
	order  []K // the one used last is the last
	kept   map[K]weighed[V]
}

type weighed[V any] struct {
	value  V
	weight int
}

func (r *recent[K, V]) get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.kept[key]
	if ok {
		at := slices.Index(r.order, key)
		r.order = append(slices.Delete(r.order, at, at+1), key)
	}
	return w.value, ok
}

// put keeps a value, and what fits beside it into the most that all may weigh.
func (r *recent[K, V]) put(key K, value V, weight, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[K]weighed[V]{}
	}
	if old, ok := r.kept[key]; ok {
		at := slices.Index(r.order, key)
		r.order, r.weight = slices.Delete(r.order, at, at+1), r.weight-old.weight
	}
	for len(r.order) > 0 && r.weight+weight > most {
		r.weight -= r.kept[r.order[0]].weight
		delete(r.kept, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.order, r.weight, r.kept[key] = append(r.order, key), r.weight+weight, weighed[V]{value, weight}
}
