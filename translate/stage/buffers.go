package stage

import "sync"

// maxKept bounds a buffer that is kept, so that one large event does not stay in memory.
const maxKept = 64 << 10

// buffers lends memory for encoding.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 0, 4<<10)
}

func (b *buffers) put(buffer []byte) {
	if cap(buffer) <= maxKept {
		b.pool.Put(&buffer)
	}
}
