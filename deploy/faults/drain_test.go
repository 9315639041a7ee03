//go:build faults

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// keepHolder runs the holder of a data directory, over and over, until stopping is closed.
func (r *rig) keepHolder(s *slot, data string, stopping <-chan struct{}) {
	for {
		select {
		case <-stopping:
			return
		default:
		}
		if _, err := s.run(r, "", r.steno("up", "--data", data, "--sync", "1s", "--listen", "off")); err != nil {
			r.t.Error(err)
			return
		}
		sleep(stopping, 50*time.Millisecond)
	}
}

// drain ends all trouble and all taps, and waits until what their journals hold is stored.
func (s *storm) drain() {
	for _, l := range s.lines {
		l.calm()
	}
	s.closeOnce(s.stopping)
	s.taps.Wait()
	s.say("the taps have ended")
	s.closeOnce(s.silent)
	for _, one := range s.ingest {
		if kind(one.name) == "proxy" {
			one.end()
		}
	}
	s.drained(s.tapsData)
	for i, data := range s.proxied {
		holder := &slot{name: fmt.Sprint("drain", i+1)}
		s.workers.Go(func() { s.keepHolder(holder, data, s.ending) })
		s.ingest = append(s.ingest, holder)
		if left, err := unstored(data); err == nil {
			s.say("%s leaves %d journals", filepath.Base(data), len(left))
		}
		s.drained(data)
	}
	s.say("the journals are stored")
}

// drained waits until all journals of a data directory are stored to their end by who holds it, or none
// got there for a while.
func (r *rig) drained(data string) {
	before, since := -1, time.Now()
	for ; ; time.Sleep(look) {
		left, err := unstored(data)
		require.NoError(r.t, err)
		if len(left) == 0 {
			return
		}
		if len(left) != before {
			before, since = len(left), time.Now()
		}
		require.Less(r.t, time.Since(since), time.Minute, "%s: journals that do not get stored: %v", data, left)
	}
}

// unstored lists the journals whose mark does not say that all they hold is stored.
func unstored(data string) (left []string, err error) {
	journals, err := filepath.Glob(filepath.Join(data, "journal", "*.journal"))
	if err != nil {
		return nil, err
	}
	for _, journal := range journals {
		text, err := os.ReadFile(strings.TrimSuffix(journal, ".journal") + ".stored")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var mark struct{ Done bool }
		if len(text) > 0 {
			if err := json.Unmarshal(text, &mark); err != nil {
				return nil, fmt.Errorf("mark of %s: %w", journal, err)
			}
		}
		if !mark.Done {
			left = append(left, filepath.Base(journal))
		}
	}
	return left, nil
}
