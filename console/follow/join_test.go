package follow_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
	"github.com/steno-io/steno/translate/lease"
	"github.com/steno-io/steno/translate/stage"
)

var seedFlag = flag.Uint64("seed", 0, "decides where an answer is joined and when its translator dies; 0: the time does")

// The answer, and its joins: in each of ten conversations five while all is well and five around the death
// of the translator.
const (
	pieces    = 2000
	joinAfter = 1000
	talks     = 10
	joinsEach = 5
)

// crew is translators that share the partitions, and can be killed.
type crew struct {
	p     *pipeline
	count int
	kills map[string]func()
}

// hire starts a translator with leases of a second, on a connection of its own. Killing it takes the
// connection away at once: of what it folds nothing is stored any more, and its leases run out, as those of
// a process that was killed.
func (c *crew) hire() {
	c.count++
	name := fmt.Sprint("w", c.count)
	conn, js := c.p.Connect(c.p.t)
	w, err := stage.New(stage.Options{
		JS: js, Log: zerolog.Nop(), Leases: &stage.Leases{Worker: name, TTL: time.Second},
		Catalogue: translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}}),
	})
	require.NoError(c.p.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	kill := sync.OnceFunc(func() {
		conn.Close()
		if err := <-done; err == nil {
			c.p.t.Errorf("translator %s ended by itself", name)
		}
		cancel()
	})
	c.kills[name] = kill
	c.p.t.Cleanup(kill)
}

// owner waits until a capture has an owner, and names it.
func (c *crew) owner(id schema.Identity) (name string) {
	c.p.t.Helper()
	require.Eventually(c.p.t, func() bool {
		owners, err := lease.Owners(c.p.t.Context(), c.p.JS)
		name = owners[id.Partition(c.p.Info.Partitions)]
		return err == nil && c.kills[name] != nil
	}, within, 10*time.Millisecond)
	return name
}

// kill kills a translator, which another one replaces. It does not wait for its end; the returned function
// does.
func (c *crew) kill(name string) (wait func()) {
	var dying sync.WaitGroup
	dying.Go(c.kills[name])
	delete(c.kills, name)
	c.hire()
	return dying.Wait
}

// A long answer is joined in its second half, a hundred times at random points, half of them around the
// death of the translator that has it. At every moment the text is a beginning of the true one and none of
// it is taken back; at its end it is whole; all of it is checked by the viewer.
func TestALongAnswerIsJoinedAHundredTimes(t *testing.T) {
	seed := cmp.Or(*seedFlag, uint64(time.Now().UnixNano()))
	t.Logf("again: go test ./console/follow -run %s -args -seed %d", t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 5))
	p := newPipeline(t)
	c := &crew{p: p, kills: map[string]func(){}}
	c.hire()
	c.hire()
	answer := words(pieces)
	want := map[schema.Channel]string{schema.Answer: strings.Join(answer, "")}
	var well, hurt []time.Duration
	for talk := range talks {
		tp := p.begin(fmt.Sprintf("run-%d", talk))
		death := joinAfter + 200 + rng.IntN(600)
		at := map[int]int{} // joins by piece
		for range joinsEach {
			at[joinAfter+rng.IntN(death-joinAfter-20)]++
			at[death-20+rng.IntN(80)]++
		}
		var joined []*viewer
		var waits []func()
		reached := func() {
			t.Helper()
			for _, v := range joined {
				select {
				case <-v.texted:
				case <-time.After(conversation):
					require.Fail(t, "a join shows no text while the answer is open")
				}
			}
		}
		for i, piece := range answer {
			for range at[i] {
				v := newViewer(want, 0)
				v.poll = 0 // as consoles have it
				joined, waits = append(joined, v), append(waits, p.watch(schema.Transcript{Identity: tp.id, Session: 1}, v))
			}
			switch i {
			case death - 20:
				reached()
			case death:
				waits = append(waits, c.kill(c.owner(tp.id)))
			case pieces - 50:
				reached()
			}
			if i >= joinAfter { // as fast as it is read, not as fast as it can be written
				time.Sleep(time.Millisecond)
			}
			tp.chunk(t, "agent_message_chunk", piece)
		}
		tp.end(t)
		for _, wait := range waits {
			wait()
		}
		require.Len(t, joined, 2*joinsEach)
		for i, v := range joined {
			require.Positive(t, v.partial)
			if i < joinsEach {
				well = append(well, v.firstText)
			} else {
				hurt = append(hurt, v.firstText)
			}
		}
	}
	t.Logf("text is there after (aim: 200 ms)\n  %s\n  %s", spread("all is well", well), spread("the translator is killed", hurt))
}

// spread says how long something took.
func spread(what string, times []time.Duration) string {
	slices.Sort(times)
	at := func(q float64) time.Duration {
		return times[int(math.Ceil(q*float64(len(times)-1)))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d joins while %s: min %s, median %s, p99 %s", len(times), what, at(0), at(.5), at(.99))
}
