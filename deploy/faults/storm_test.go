//go:build faults

package faults

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/freeport"
	"github.com/steno-io/steno/sink/postgres/pgtest"
)

// storm is a rig with everything running on it.
type storm struct {
	*rig
	translators, sinks, ingest []*slot
	peer                       *peer
	zombies                    tally
	serving                    sync.Mutex   // held while a server is away
	restarts                   atomic.Int64 // of the database

	stopping chan struct{} // closed: the taps come to their end
	silent   chan struct{} // closed: proxies are not started again
	ending   chan struct{} // closed: nothing is
	taps     sync.WaitGroup
	workers  sync.WaitGroup

	mu       sync.Mutex
	imports  []imported
	records  []conversed
	talks    []exchanged
	tapsData string
	proxied  []string // data directories of the proxies
}

// tally counts by name.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name]++
}

func (c *tally) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.of {
		n += one
	}
	return n
}

// newStorm starts everything. All must be done within some minutes and four times the faults' duration: on three
// servers and two cores it takes most of the duration to drain what it leaves, and a quarter to compare it.
func newStorm(t *testing.T, p programs, replicas int, seed uint64, duration time.Duration) *storm {
	t.Helper()
	s := &storm{
		rig: newRig(t, p, replicas, seed, 4*duration+5*time.Minute), peer: &peer{seed: seed, asked: map[string]int{}},
		stopping: make(chan struct{}), silent: make(chan struct{}), ending: make(chan struct{}),
	}
	for i := range 3 {
		slot := s.slot(fmt.Sprint("translate", i+1))
		s.translators = append(s.translators, slot)
		s.workers.Go(func() { s.keep(slot, s.program(i), "translate", s.ending, "--lease", "1s") })
	}
	for i := range 2 {
		slot := s.slot(fmt.Sprint("sink", i+1))
		s.sinks = append(s.sinks, slot)
		s.workers.Go(func() { s.keep(slot, s.program(i), "sink", s.ending, "--ledger", s.ledger) })
	}
	s.startTaps()
	t.Cleanup(s.abandon)
	return s
}

// abandon ends what the test did not bring to its end, and waits for it.
func (s *storm) abandon() {
	close(s.over)
	for _, end := range []chan struct{}{s.stopping, s.silent, s.ending} {
		s.closeOnce(end)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.taps.Wait()
		s.workers.Wait()
	}()
	for sleep(done, look) {
		for _, one := range slices.Concat(s.translators, s.sinks, s.ingest) {
			one.mu.Lock()
			one.spared = false
			one.mu.Unlock()
			one.kill()
		}
	}
}

func (s *storm) closeOnce(c chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

// program is the one of the i-th slot of its kind: the last slot's clock jumps.
func (s *storm) program(i int) string {
	if i == 1 {
		return s.programs.skewed
	}
	return s.programs.steno
}

// startTaps starts imports, records with the directory that they share and its holder, and two proxies
// of one peer with who talks through them.
func (s *storm) startTaps() {
	s.tapsData = s.folder("taps")
	for i := range 2 {
		importer, recorder := s.slot(fmt.Sprint("import", i+1)), s.slot(fmt.Sprint("record", i+1))
		s.ingest = append(s.ingest, importer, recorder)
		s.taps.Go(func() {
			all := s.importFiles(importer, s.program(i), s.stopping)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.imports = append(s.imports, all...)
		})
		s.taps.Go(func() {
			all := s.record(recorder, s.program(i), s.tapsData, s.stopping)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.records = append(s.records, all...)
		})
	}
	holder := &slot{name: "up1"}
	s.ingest = append(s.ingest, holder)
	s.workers.Go(func() { s.keepHolder(holder, s.tapsData, s.ending) })

	upstream := httptest.NewServer(s.peer)
	s.t.Cleanup(upstream.Close)
	var listen []string
	for i := range 2 {
		proxy := s.slot(fmt.Sprint("proxy", i+1))
		address, err := freeport.Address()
		require.NoError(s.t, err)
		data := s.folder(proxy.name)
		s.ingest = append(s.ingest, proxy)
		listen, s.proxied = append(listen, address), append(s.proxied, data)
		s.workers.Go(func() { s.keepProxy(proxy, s.program(i), data, address, upstream.URL, s.silent) })
	}
	for _, name := range []string{"a", "b", "c"} {
		s.taps.Go(func() {
			all := s.talk(name, listen, s.stopping)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.talks = append(s.talks, all...)
		})
	}
}

// rage does what the schedule says, one deed beside the other, and returns when all is done.
func (s *storm) rage(deeds []deed) {
	var doing sync.WaitGroup
	defer doing.Wait()
	began := time.Now()
	for _, d := range deeds {
		if !sleep(s.ctx.Done(), time.Until(began.Add(d.at))) || s.t.Failed() {
			return
		}
		doing.Go(func() { s.do(d) })
	}
}

// do does one deed. Where its victim is not there another one is taken.
func (s *storm) do(d deed) {
	first := func(slots []*slot, hurt func(*slot) bool) {
		for _, one := range pick(slots, d.choice) {
			if hurt(one) {
				return
			}
		}
	}
	var talkers []*slot // those that append
	for _, one := range append(append([]*slot(nil), s.translators...), s.ingest...) {
		if one.line != nil {
			talkers = append(talkers, one)
		}
	}
	arm := func(t trouble) { pick(talkers, d.choice)[0].line.arm(t) }
	switch d.what {
	case "kill ingest":
		first(s.ingest, (*slot).kill)
	case "kill translate":
		first(s.translators, (*slot).kill)
	case "kill sink":
		first(s.sinks, (*slot).kill)
	case "freeze translate":
		s.freeze(s.translators, s.leases, 5*time.Second, d.choice)
	case "freeze sink":
		s.freeze(s.sinks, s.owners, 12*time.Second, d.choice)
	case "kill nats":
		s.killServer(d.choice)
	case "restart database":
		pgtest.Restart(s.t)
		s.restarts.Add(1)
	case "cut":
		pick(append(append([]*slot(nil), talkers...), s.sinks...), d.choice)[0].line.cut()
	case "stall":
		pick(append(append([]*slot(nil), talkers...), s.sinks...), d.choice)[0].line.stall(time.Second + time.Duration(d.choice%5)*time.Second)
	case "refuse":
		arm(refuse)
	case "lose":
		arm(lose)
	case "lose and cut":
		arm(loseCut)
	}
}

// freeze makes a zombie of one that has work.
func (s *storm) freeze(slots []*slot, w works, within time.Duration, choice uint64) {
	for _, one := range pick(slots, choice) {
		zombie, tried := one.freeze(w, within, time.Second)
		if zombie {
			s.zombies.add(kind(one.name))
		}
		if tried {
			return
		}
	}
}

// killServer kills a server, of three mostly one that leads a stream, and starts it again; one at a
// time, and the next when all are current.
func (s *storm) killServer(choice uint64) {
	if !s.serving.TryLock() {
		return
	}
	defer s.serving.Unlock()
	victim := s.all[choice%uint64(len(s.all))]
	if len(s.all) > 1 && choice%4 != 0 {
		if leader := s.leader(s.ctx, s.js, []string{"STENO_RAW", "STENO_EVENTS"}[choice>>8%2]); leader != nil {
			victim = leader
		}
	}
	s.servers.kill(victim)
	time.Sleep(time.Duration(choice>>16%1500) * time.Millisecond)
	ctx, cancel := context.WithTimeout(s.ctx, 90*time.Second)
	defer cancel()
	if err := s.restart(ctx, s.js, victim); err != nil {
		s.t.Errorf("restart %s: %v", victim.name, err)
	}
}
