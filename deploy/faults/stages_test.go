//go:build faults

package faults

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
	"github.com/steno-io/steno/schema/freeport"
)

// keeping keeps a worker in a slot until the test ends.
func (r *rig) keeping(s *slot, stage string, flags ...string) *slot {
	stopping, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); r.keep(s, "", stage, stopping, flags...) }()
	r.t.Cleanup(func() {
		close(stopping)
		s.end()
		<-done
	})
	return s
}

// stages keeps a translator and a sink.
func (r *rig) stages() {
	r.keeping(r.slot("translate1"), "translate", "--lease", "1s")
	r.keeping(r.slot("sink1"), "sink", "--ledger", r.ledger)
}

// holding holds a data directory until all its journals are stored, and what is waited for is there.
func (r *rig) holding(name, data string, there func() bool) {
	stopping := make(chan struct{})
	holder := &slot{name: name}
	done := make(chan struct{})
	go func() { defer close(done); r.keepHolder(holder, data, stopping) }()
	require.Eventually(r.t, there, time.Minute, 4*look)
	r.drained(data)
	close(stopping)
	holder.end()
	<-done
}

// Two taps ask for one attempt: the second one takes the next and says so, and each is whole.
func TestSecondTapOnOneAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, 2*time.Minute)
	r.stages()
	var taps []*held
	for i := range 2 {
		h := r.hold(r.slot(fmt.Sprint("record", i+1)), r.folder(fmt.Sprint("taps", i+1)), "same")
		h.says(fmt.Sprintf("tap %d begins", i+1))
		if i == 0 {
			r.partition(h.capture) // it is the first to be stored
		}
		taps = append(taps, h)
	}
	for i, h := range taps {
		h.says(fmt.Sprintf(", and tap %d ends", i+1))
		h.leaves()
		require.True(t, h.process.state.Success(), lastLine(h.process.log))
	}
	log, err := os.ReadFile(taps[1].process.log)
	require.NoError(t, err)
	require.Contains(t, string(log), "default/held/same/0/1 is taken; recording as default/held/same/0/2")
	stored, err := outside.Frames(r.ctx, r.js)
	require.NoError(t, err)
	for i, h := range taps {
		got := stored[fmt.Sprintf("default/held/same/0/%d", i+1)]
		require.NotNil(t, got)
		require.Equal(t, 2, strings.Count(string(got.Bytes("agent", "")), fmt.Sprint("tap ", i+1)), h.capture)
	}
	r.follows(stored)
}

// Two proxies are in one conversation. One is cut off from the broker and killed; its data directory is
// brought elsewhere and drained there, while the other one goes on.
func TestJournalOfAKilledProxyIsDrainedElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, 2*time.Minute)
	r.stages()
	p := &peer{seed: r.seed, asked: map[string]int{}}
	upstream := httptest.NewServer(p)
	t.Cleanup(upstream.Close)
	var proxies []*slot
	var addresses, folders []string
	for i := range 2 {
		s := r.slot(fmt.Sprint("proxy", i+1))
		address, err := freeport.Address()
		require.NoError(t, err)
		data := r.folder(s.name)
		_, err = s.begin(r, s.name, r.steno("proxy", "--nats", s.line.url(), "--data", data, "--listen", address, "--upstream", upstream.URL, "--peer", peerName))
		require.NoError(t, err)
		t.Cleanup(func() { s.process.kill(); <-s.process.ended })
		proxies, addresses, folders = append(proxies, s), append(addresses, "http://"+address), append(folders, data)
	}
	var all []exchanged
	talk := func(proxy int) {
		e := exchanged{conversation: "c-1", body: []byte(question("c-1", len(all), "how many?"))}
		require.Eventually(t, func() bool { // it may be about to listen
			e.ask(addresses[proxy])
			return e.whole
		}, 30*time.Second, look)
		all = append(all, e)
	}
	for i := range 6 {
		talk(i % 2)
	}
	proxies[0].line.stall(time.Hour)
	for range 3 {
		talk(0)
		talk(1)
	}
	require.True(t, proxies[0].kill())
	<-proxies[0].process.ended
	left, err := unstored(folders[0])
	require.NoError(t, err)
	require.Len(t, left, 1)
	elsewhere := filepath.Join(r.dir, "elsewhere")
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(folders[0])))
	require.NoError(t, os.RemoveAll(folders[0]))
	proxies[0].line.calm()
	talk(1)
	r.holding("up1", elsewhere, func() bool { return true })
	talk(1)
	proxies[1].end()

	stored, err := outside.Frames(r.ctx, r.js)
	require.NoError(t, err)
	require.NoError(t, checkTalks(p, all, stored))
	require.Len(t, stored, 1, "it is one conversation")
	r.follows(stored)
}

// An older copy of the server's store is put back: the streams have lost their tail, a journal is marked
// as published that they do not hold, a tap lives whose frames they held, and the ledger is ahead.
func TestOlderStorePutBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, 4*time.Minute)
	r.stages()
	data := r.folder("taps")
	n := 0
	tap := func() *held {
		n++
		h := r.hold(r.slot(fmt.Sprint("record", n)), data, fmt.Sprint("r-", n))
		h.says("first ")
		return h
	}
	before, living := tap(), tap()
	before.leaves()
	r.holds(before, "first")
	r.follows(r.holds(living, "first"))
	copied := filepath.Join(r.dir, "copy")
	r.servers.kill(r.all[0])
	require.NoError(t, os.CopyFS(copied, os.DirFS(r.all[0].store)))
	require.NoError(t, r.restart(r.ctx, r.js, r.all[0]))

	after := tap()
	after.says("second ")
	after.leaves()
	living.says("second ")
	r.holds(after, "second")
	whole := r.holds(living, "second")
	left, err := unstored(data)
	require.NoError(t, err)
	require.Len(t, left, 1, "only the living tap's journal has no end")
	r.follows(whole)

	r.servers.kill(r.all[0])
	require.NoError(t, os.RemoveAll(r.all[0].store))
	require.NoError(t, os.CopyFS(r.all[0].store, os.DirFS(copied)))
	require.NoError(t, r.restart(r.ctx, r.js, r.all[0]))
	r.say("an older store is put back: it holds %d captures of %d", len(r.frames()), len(whole))
	living.says("third ")
	living.leaves()
	r.holding("up1", data, func() bool { return len(r.frames()) == len(whole) })

	again := r.frames()
	for _, h := range []*held{before, after, living} {
		require.NotNil(t, again[h.capture], "%s is not stored again", h.capture)
		require.Equal(t, strings.Count(h.said.String(), " "), bytes.Count(again[h.capture].Bytes("agent", ""), []byte("\n")), "lines of %s", h.capture)
	}
	r.follows(again)
}

// holds waits until the stream has what an agent said: a tap passes it on first. It gives all that is stored
// then; nothing more may be on its way if what is stored is to be compared with the ledger.
func (r *rig) holds(h *held, said string) map[string]*outside.Capture {
	for {
		stored := r.frames()
		if c := stored[h.capture]; c != nil && bytes.Contains(c.Bytes("agent", ""), []byte(said)) {
			return stored
		}
		time.Sleep(look)
	}
}

// frames is what is stored now.
func (r *rig) frames() map[string]*outside.Capture {
	frames, err := outside.Frames(r.ctx, r.js)
	require.NoError(r.t, err)
	return frames
}
