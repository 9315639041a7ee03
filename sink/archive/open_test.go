package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

// opened counts the objects of a store that are open.
type opened struct {
	archive.Store
	mu        sync.Mutex
	now, most int
}

func (o *opened) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

func (o *opened) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := o.Store.Open(ctx, name)
	if err == nil {
		o.add(1)
		in = closing{in, func() { o.add(-1) }}
	}
	return in, err
}

type closing struct {
	io.ReadCloser
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return c.ReadCloser.Close()
}

// TestWhatIsProvedIsLetGoOf, also where the proof of a capture breaks off in the middle of its events: of many that are
// damaged each would keep a file and the memory to unpack it.
func TestWhatIsProvedIsLetGoOf(t *testing.T) {
	t.Parallel()
	const many, stops = 40, 600
	s := newSite(t)
	for i := range many {
		id := identity(fmt.Sprint("one", i))
		s.tell(id, "open"+strings.Repeat(" a", 3*stops))
		s.seal(id)
	}
	store := &opened{Store: s.store()}
	c, err := archive.Check(t.Context(), store, archive.CheckOptions{NewFold: func(id schema.Identity, version string) verify.Fold {
		fold := verifytest.Fold(id, version)
		step := fold.Step
		fold.Step = func(f *schema.Frame) ([]schema.Event, error) {
			if f.Seq == stops {
				return nil, errors.New("no more")
			}
			return step(f)
		}
		return fold
	}})
	require.NoError(t, err)
	require.Len(t, c.Findings, many)
	require.Zero(t, store.now)
	require.Less(t, store.most, many)
}
