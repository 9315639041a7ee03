//go:build faults

package faults

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
)

// checked is what the outside checker found.
type checked struct{ captures, frames, records, events, transcripts int }

// check checks all that was done in the storm.
func (s *storm) check() {
	frames, err := outside.Frames(s.ctx, s.js)
	require.NoError(s.t, err)
	for _, one := range s.imports {
		require.NoError(s.t, one.check(frames))
	}
	for _, one := range s.records {
		require.NoError(s.t, one.check(frames))
	}
	require.NoError(s.t, checkTalks(s.peer, s.talks, frames))
	s.say("what was given to %d imports, %d records and in %d exchanges is stored, in order, once", len(s.imports), len(s.records), len(s.talks))
	c := s.follows(frames)
	s.say("%d frames of %d captures fold to %d events of %d transcripts; %d records and PostgreSQL hold each once, in order, byte for byte",
		c.frames, c.captures, c.events, c.transcripts, c.records)
}

// check compares what is stored of an import with its file.
func (i *imported) check(stored map[string]*outside.Capture) error {
	got := stored[i.capture]
	if got == nil {
		return fmt.Errorf("%s: nothing is stored", i.capture)
	}
	frames := got.Frames
	if len(frames) != len(i.frames)+2 || frames[0].Type != "open" || frames[len(frames)-1].Type != "close" {
		return fmt.Errorf("%s: %d frames are stored, want %d between open and close", i.capture, len(frames), len(i.frames))
	}
	for n, want := range i.frames {
		f := frames[n+1]
		if f.From != want.From || f.Type != want.Type || f.End != want.End || f.Exchange != want.Exchange || f.Chan != want.Chan || !bytes.Equal(f.Data, want.Data) {
			return fmt.Errorf("%s: frame %d is %+v, want %+v", i.capture, n+2, f, want)
		}
	}
	return nil
}

// follows waits until records and ledger follow from the frames, and compares them.
func (r *rig) follows(frames map[string]*outside.Capture) (c checked) {
	want := r.fold(frames)
	numbered := map[string][]string{}
	for transcript, list := range want {
		numbered[transcript] = outside.Numbered(list)
	}
	c = checked{captures: len(frames), events: outside.Count(want), transcripts: len(want)}
	for _, one := range frames {
		c.frames += len(one.Frames)
	}
	var records *outside.Records
	r.await("records", c.events, func() (n int, err error) {
		if records, err = outside.ReadRecords(r.ctx, r.js); err != nil {
			return 0, err
		}
		return outside.Count(records.Events), nil
	})
	require.NoError(r.t, outside.Same("records", want, records.Events))
	parked, err := outside.Parked(r.ctx, r.js)
	require.NoError(r.t, err)
	require.Empty(r.t, parked, "captures parked by the stage")
	c.records = records.Count

	db := r.database()
	defer db.Close(r.ctx) //nolint:errcheck // it only read
	r.await("ledger", c.events, func() (int, error) { return outside.Stored(r.ctx, db) })
	ledger, err := outside.ReadLedger(r.ctx, db)
	require.NoError(r.t, err)
	require.NoError(r.t, outside.Same("ledger", numbered, ledger.Events))
	for partition, last := range records.Last {
		require.Equal(r.t, last, ledger.Positions[partition], "the ledger's position in partition %s", partition)
	}
	return c
}

// fold folds all captures, two at a time.
func (r *rig) fold(frames map[string]*outside.Capture) map[string][]string {
	var mu sync.Mutex
	want, next := map[string][]string{}, make(chan *outside.Capture)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for c := range next {
				sessions, err := outside.Fold(r.steno, r.dir, c)
				if err != nil {
					r.t.Error(err)
				}
				mu.Lock()
				for session, list := range sessions {
					want[c.Name+"/"+session] = list
				}
				mu.Unlock()
			}
		})
	}
	for _, c := range frames {
		next <- c
	}
	close(next)
	wg.Wait()
	require.False(r.t, r.t.Failed())
	return want
}

// await waits until as many events are there as must be, or none came for a while.
func (r *rig) await(where string, want int, count func() (int, error)) {
	last, since := -1, time.Now()
	for {
		n, err := count()
		require.NoError(r.t, err)
		if n >= want {
			return
		}
		if n != last {
			last, since = n, time.Now()
		}
		if time.Since(since) > time.Minute {
			r.t.Errorf("%s: %d of %d events, and no more come", where, n, want)
			return
		}
		time.Sleep(4 * look)
	}
}
