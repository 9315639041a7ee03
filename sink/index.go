package sink

import (
	"context"
	"time"
)

// Index is the index of a ledger's search, as it is filled. It is made of what is stored, in transactions
// of its own: the ledger is right without it, and one that is gone is filled again.
type Index interface {
	// Index indexes the next of the events that are stored and not indexed yet, and gives how many it took;
	// 0 = there is none, or others are at it. An event that the index does not take is passed over, and
	// counted in Indexing.Failed. After an error what was taken may or may not be indexed, and calling
	// again is right.
	Index(ctx context.Context) (int, error)
}

// indexEvery is how often the index is looked after where nothing is stored: an earlier run may have left
// something to do, or another process.
const indexEvery = 2 * time.Second

// index fills the index until ctx ends. What fails is tried again, and never hurts the storing; while
// something is stored it rests as long as it works.
func (s *Sink) index(ctx context.Context) {
	if s.o.Index == nil {
		return
	}
	for {
		began := time.Now()
		n, err := retry(ctx, s, "index what is stored", func() (int, error) { return s.o.Index.Index(ctx) })
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.o.Log.Warn().Err(err).Msg("index what is stored")
		}
		if n > 0 && len(s.fresh) == 0 {
			continue
		}
		rest, fresh := indexEvery, s.fresh
		if n > 0 {
			<-s.fresh // nobody else takes it
			rest, fresh = time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return
		case <-fresh:
		case <-time.After(rest):
		}
	}
}
