package publish

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
)

// lateEnd is a source whose end is not seen before it may be.
type lateEnd struct {
	*reader
	may chan struct{}
}

func (l *lateEnd) Next(ctx context.Context) (journal.Entry, error) {
	e, err := l.reader.Next(ctx)
	if err == io.EOF {
		<-l.may
	}
	return e, err
}

// Who waits for all that a journal holds waits for what the writer's death adds, once that is known.
func TestStoredCountsWhatTheWritersDeathAdds(t *testing.T) {
	r := newRig(t)
	p := newTape("j").agent("{}\nhalf a li")
	source := &lateEnd{p.source(), make(chan struct{})}
	publisher := r.publisher(source)
	turn := make(chan struct{})
	publisher.made = func(a *Appender) {
		a.store = func(ctx context.Context, m []*nats.Msg) (uint64, error) {
			<-turn
			return a.publish(ctx, m)
		}
	}
	done := make(chan error, 1)
	go func() { done <- publisher.Run(deadline(t)) }()
	turn <- struct{}{} // the open frame
	turn <- struct{}{} // the line
	size := p.entries[len(p.entries)-1].End()
	captures, err := publisher.Stored(deadline(t), size)
	require.NoError(t, err)
	require.EqualValues(t, 2, captures[capture], "a line that has not ended is not waited for")

	close(source.may)
	require.Eventually(t, func() bool {
		publisher.progress.mu.Lock()
		defer publisher.progress.mu.Unlock()
		return publisher.progress.cut == 4
	}, 10*time.Second, time.Millisecond)
	brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = publisher.Stored(brief, size)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the rest and the close are not yet stored")

	close(turn)
	captures, err = publisher.Stored(deadline(t), size)
	require.NoError(t, err)
	require.EqualValues(t, 4, captures[capture], "open, the line, the rest and close")
	require.NoError(t, <-done)
}
