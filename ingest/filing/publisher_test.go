package filing

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// rig is a server with what a publisher needs.
type rig struct {
	*natstest.Server
	blobs *topology.Blobs
	filed *topology.FiledKeys
}

func newRig(t testing.TB) *rig {
	t.Helper()
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(deadline(t), s.JS)
	require.NoError(t, err)
	filed, err := topology.OpenFiled(deadline(t), s.JS)
	require.NoError(t, err)
	return &rig{s, blobs, filed}
}

func (r *rig) publisher(source publish.Source, change ...func(*Options)) *Publisher {
	o := Options{Options: publish.Options{Source: source, JS: r.JS, Blobs: r.blobs, Partitions: r.Info.Partitions}, Filed: r.filed}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

// conversation is the capture of a contextId, or of an exchange's id.
func conversation(name string) schema.Identity {
	return schema.Identity{Namespace: "n", Workflow: "mill", Run: schema.ConversationRun("mill", name), Attempt: 1}
}

// stored reads a capture: numbers 1, 2, 3 … with an open frame first, which is left out.
func (r *rig) stored(t testing.TB, id schema.Identity) (frames []schema.Frame) {
	t.Helper()
	chain := ""
	for m, err := range topology.Read(deadline(t), r.JS, topology.Raw, schema.RawSubject(id, r.Info.Partitions), 1) {
		require.NoError(t, err)
		f, _, err := r.blobs.Frame(deadline(t), m)
		require.NoError(t, err)
		require.Equal(t, uint64(len(frames))+1, f.Seq)
		chained, err := schema.ChainHash(chain, &f)
		require.NoError(t, err)
		require.Equal(t, f.Chain, chained)
		chain = f.Chain
		frames = append(frames, f)
	}
	if len(frames) == 0 {
		return nil
	}
	require.Equal(t, schema.TypeOpen, frames[0].Type)
	var info schema.OpenInfo
	require.NoError(t, json.Unmarshal(frames[0].Data, &info))
	require.Equal(t, "mill", info.Peer)
	for _, f := range frames[1:] {
		require.NotEqual(t, schema.TypeOpen, f.Type, "one of all writers opens a capture")
	}
	return frames[1:]
}

func send(context, task string) string {
	message := `"messageId":"m"`
	if context != "" {
		message += `,"contextId":"` + context + `"`
	}
	if task != "" {
		message += `,"taskId":"` + task + `"`
	}
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{` + message + `,"parts":[{"text":"hi"}]}}}`
}

func taskOf(context, task string) string {
	return `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"` + task + `","contextId":"` + context + `","status":{"state":"TASK_STATE_COMPLETED"}}}}`
}

const noNames = `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"x","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}}`

// exchangesIn lists which exchanges' frames a capture holds, in order.
func exchangesIn(frames []schema.Frame) (out []string) {
	for i := range frames {
		out = append(out, fmt.Sprintf("%d.%d %s", names[frames[i].Exchange], frames[i].No, strings.TrimPrefix(string(frames[i].Type), "data")))
	}
	return out
}

func whole(n int) []string {
	return []string{fmt.Sprintf("%d.0 ", n), fmt.Sprintf("%d.1 ", n), fmt.Sprintf("%d.0 close", n)}
}

func TestAnExchangeIsFiledByItsConversation(t *testing.T) {
	for name, tt := range map[string]struct {
		write func(p *tape)
		want  map[string][]string
	}{
		"the request names it": {
			func(p *tape) { p.ask(1, send("c", "")).answer(1, noNames).end(1) }, map[string][]string{"c": whole(1)},
		},
		"the answer names it": {
			func(p *tape) { p.ask(1, send("", "")).answer(1, taskOf("c", "t")).end(1) }, map[string][]string{"c": whole(1)},
		},
		"another exchange's task": {
			func(p *tape) {
				p.ask(1, send("", "")).answer(1, taskOf("c", "t")).end(1)
				p.ask(2, send("", "t")).answer(2, noNames).end(2)
			}, map[string][]string{"c": append(whole(1), whole(2)...)},
		},
		"nothing names it": {
			func(p *tape) { p.ask(1, send("", "")).answer(1, noNames).end(1) },
			map[string][]string{exchangeID(1).String(): whole(1)},
		},
		"a task that nobody knows, and an error": {
			func(p *tape) {
				p.ask(1, send("", "t")).answer(1, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`).end(1)
			},
			map[string][]string{exchangeID(1).String(): whole(1)},
		},
		"a request that is no JSON": {
			func(p *tape) { p.ask(1, "<no>").answer(1, "<no>").end(1) }, map[string][]string{exchangeID(1).String(): whole(1)},
		},
		"the request is held, others go on": {
			func(p *tape) {
				p.ask(1, send("", "")).ask(2, send("c", "")).answer(2, noNames).answer(1, taskOf("c", "t")).end(1).end(2)
			}, map[string][]string{"c": {"2.0 ", "1.0 ", "1.1 ", "1.0 close", "2.1 ", "2.0 close"}},
		},
		"an answer that is late": {
			func(p *tape) {
				p.ask(1, send("", "")).begins(1, "stream").chunk(1, "stream", ": ping\n\n").after(answerWithin)
				p.chunk(1, "stream", "data: "+taskOf("c", "t")+"\n\n").end(1)
				p.ask(2, send("", "t")).answer(2, noNames).end(2)
			}, map[string][]string{exchangeID(1).String(): append(whole(1), whole(2)...)},
		},
		"an answer that takes its time to begin": {
			func(p *tape) { p.ask(1, send("", "")).after(time.Hour).answer(1, taskOf("c", "t")).end(1) }, map[string][]string{"c": whole(1)},
		},
		"a client that goes away": {
			func(p *tape) { p.ask(1, send("", "")).end(1) }, map[string][]string{exchangeID(1).String(): {"1.0 ", "1.0 close"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, p := newRig(t), newTape(t)
			tt.write(p)
			p.stop()
			var mark journal.Mark
			for range 2 { // the second run finds everything stored
				publisher := r.publisher(p.open(), func(o *Options) { o.SaveMark = func(m journal.Mark) error { mark = m; return nil } })
				require.NoError(t, publisher.Run(deadline(t)))
				for context, want := range tt.want {
					require.Equal(t, want, exchangesIn(r.stored(t, conversation(context))), context)
				}
				info, err := r.JS.Stream(deadline(t), topology.Raw)
				require.NoError(t, err)
				total := 0
				for _, want := range tt.want {
					total += 1 + len(want)
				}
				require.Equal(t, uint64(total), info.CachedInfo().State.Msgs)
				require.True(t, mark.Done)
				for context, want := range tt.want {
					require.Equal(t, uint64(1+len(want)), mark.Captures[conversation(context)])
				}
			}
		})
	}
}

// While nothing comes, an exchange that has waited long enough is filed by the clock.
func TestAnAnswerThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	r, p := newRig(t), newTape(t)
	p.now = time.Now().Add(-answerWithin).Add(100 * time.Millisecond)
	p.ask(1, send("", "")).begins(1, "stream").chunk(1, "stream", "data: {")
	ctx, cancel := context.WithCancel(deadline(t))
	publisher := r.publisher(p.open())
	done := make(chan error, 1)
	go func() { done <- publisher.Run(ctx) }()
	own := conversation(exchangeID(1).String())
	require.Eventually(t, func() bool { return publisher.Captures()[own] == 2 }, 20*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	p.chunk(1, "stream", "}\n\n").end(1).stop()
	require.NoError(t, r.publisher(p.open()).Run(deadline(t)))
	require.Equal(t, whole(1), exchangesIn(r.stored(t, own)))
}

// What stands before an offset is waited for, but not what nobody can file yet.
func TestStoredWaitsForWhatCanBeFiled(t *testing.T) {
	r, p := newRig(t), newTape(t)
	p.ask(1, send("c", "")).ask(2, send("", "unknown"))
	publisher := r.publisher(p.open())
	ctx, cancel := context.WithCancel(deadline(t))
	done := make(chan error, 1)
	go func() { done <- publisher.Run(ctx) }()
	captures, err := publisher.Stored(deadline(t), uint64(sizeOf(t, p.w.Path())))
	require.NoError(t, err)
	require.Equal(t, map[schema.Identity]uint64{conversation("c"): 2}, captures)
	cancel()
	<-done
	_, err = publisher.Stored(deadline(t), uint64(sizeOf(t, p.w.Path()))+1)
	require.ErrorIs(t, err, publish.ErrEnded)
	p.stop()
}

// traffic writes a random proxy's life: exchanges of few conversations, at the same time, named in all
// ways. It gives how many there are.
func traffic(p *tape, draw *rand.Rand, first int) (exchanges int) {
	type going struct {
		n, step int
		context string
		task    string
	}
	var open []*going
	n := 12
	for started := 0; started < n || len(open) > 0; {
		if started < n && (len(open) == 0 || draw.IntN(3) == 0) {
			g := &going{n: first + started, context: fmt.Sprint("c", draw.IntN(3))}
			g.task = "t" + g.context
			started++
			switch draw.IntN(4) {
			case 0:
				p.ask(g.n, send(g.context, ""))
			case 1:
				p.ask(g.n, send("", g.task))
			case 2:
				p.ask(g.n, send("", ""))
			case 3:
				p.ask(g.n, send("", ""))
				g.context = ""
			}
			open = append(open, g)
			continue
		}
		i := draw.IntN(len(open))
		g := open[i]
		if draw.IntN(8) == 0 {
			p.after(3 * time.Second)
		}
		whole := noNames // one answer instead of a stream, whose end only the close shows
		if g.context != "" {
			whole = taskOf(g.context, g.task)
		}
		switch g.step++; {
		case g.step == 1 && draw.IntN(2) == 0:
			p.answer(g.n, whole)
			g.step = 4
		case g.step == 1:
			p.begins(g.n, "stream").chunk(g.n, "stream", ": ping\n\n")
		case g.step < 4:
			item := noNames
			if g.context != "" {
				item = taskOf(g.context, g.task)
			}
			p.chunk(g.n, "stream", "data: "+item+"\n\n")
		default:
			if draw.IntN(4) > 0 {
				p.end(g.n)
			}
			open = append(open[:i], open[i+1:]...)
		}
	}
	return n
}

// TestKilledAnywhere stops publishers at random moments, over and over: each frame is stored once, an
// exchange is in one capture, in its order, its request first.
func TestKilledAnywhere(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 1))
			r, p := newRig(t), newTape(t)
			traffic(p, draw, 1)
			p.stop()
			want := map[string][]string{}
			for _, f := range cut(t, p.open()) {
				want[f.Exchange] = append(want[f.Exchange], line(&f))
			}
			for tries := 0; ; tries++ {
				ctx, cancel := context.WithCancel(deadline(t))
				kill := time.AfterFunc(time.Duration(draw.IntN(12))*time.Millisecond, cancel)
				if tries > 25 {
					kill.Stop()
				}
				err := r.publisher(p.open()).Run(ctx)
				kill.Stop()
				cancel()
				if err == nil {
					break
				}
				require.ErrorIs(t, err, context.Canceled)
			}
			r.check(t, want)
		})
	}
}

// check compares what all captures hold with what was said in each exchange.
func (r *rig) check(t *testing.T, want map[string][]string) {
	t.Helper()
	got := map[string][]string{}
	where := map[string]schema.Identity{}
	for _, id := range r.captures(t) {
		for _, f := range r.stored(t, id) {
			got[f.Exchange] = append(got[f.Exchange], line(&f))
			if at, ok := where[f.Exchange]; ok {
				require.Equal(t, at, id, "an exchange is in one capture")
			}
			where[f.Exchange] = id
		}
	}
	for exchange := range want {
		require.Equal(t, want[exchange], got[exchange], "exchange %d", names[exchange])
	}
	require.Len(t, got, len(want))
}

func (r *rig) captures(t *testing.T) (ids []schema.Identity) {
	t.Helper()
	stream, err := r.JS.Stream(deadline(t), topology.Raw)
	require.NoError(t, err)
	seen := map[schema.Identity]bool{}
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(deadline(t), seq)
		require.NoError(t, err)
		id, err := schema.ParseIdentitySubject(strings.SplitN(m.Subject, ".", 4)[3])
		require.NoError(t, err)
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// Two replicas of a proxy in the same conversations: each frame once, each capture opened once.
func TestTwoReplicasInOneConversation(t *testing.T) {
	r := newRig(t)
	want := map[string][]string{}
	var tapes []*tape
	for i := range 2 {
		p := tapeIn(t, t.TempDir(), fmt.Sprint("replica-", i))
		traffic(p, rand.New(rand.NewPCG(uint64(i), 2)), 1+100*i)
		p.stop()
		tapes = append(tapes, p)
		for _, f := range cut(t, p.open()) {
			want[f.Exchange] = append(want[f.Exchange], line(&f))
		}
	}
	var all sync.WaitGroup
	for _, p := range tapes {
		all.Go(func() { require.NoError(t, r.publisher(p.open()).Run(deadline(t))) })
	}
	all.Wait()
	r.check(t, want)
}

// lossy is a bucket whose every write fails twice: refused, and stored with the answer lost.
type lossy struct {
	keys
	failures map[string]int
}

func (l *lossy) Keep(ctx context.Context, key string, f topology.Filing) (topology.Filing, error) {
	l.failures[key]++
	switch l.failures[key] {
	case 1:
		return topology.Filing{}, fmt.Errorf("refused")
	case 2:
		if _, err := l.keys.Keep(ctx, key, f); err != nil {
			return topology.Filing{}, err
		}
		return topology.Filing{}, fmt.Errorf("the answer is lost")
	}
	return l.keys.Keep(ctx, key, f)
}

func TestTheBucketFails(t *testing.T) {
	r, p := newRig(t), newTape(t)
	traffic(p, rand.New(rand.NewPCG(5, 5)), 1)
	p.stop()
	want := map[string][]string{}
	for _, f := range cut(t, p.open()) {
		want[f.Exchange] = append(want[f.Exchange], line(&f))
	}
	bucket := &lossy{r.filed, map[string]int{}}
	failed := 0
	for {
		publisher := r.publisher(p.open())
		publisher.filer.keys = bucket
		err := publisher.Run(deadline(t))
		if err == nil {
			break
		}
		failed++
		require.Less(t, failed, 200)
	}
	require.Greater(t, failed, 4)
	r.check(t, want)
}

// A capture that takes no more frames does not keep the others from being stored.
func TestACaptureThatTakesNoFrames(t *testing.T) {
	r, p := newRig(t), newTape(t)
	_, err := r.JS.Publish(deadline(t), schema.RawSubject(conversation("broken"), r.Info.Partitions), []byte("no frame"))
	require.NoError(t, err)
	p.ask(1, send("broken", "")).ask(2, send("c", "")).answer(1, noNames).answer(2, noNames).end(1).end(2).stop()
	var hurt []schema.Identity
	var marks []journal.Mark
	err = r.publisher(p.open(), func(o *Options) {
		o.Failed = func(id schema.Identity, err error) {
			hurt = append(hurt, id)
			require.ErrorIs(t, err, publish.ErrSubject)
		}
		o.SaveMark = func(m journal.Mark) error { marks = append(marks, m); return nil }
	}).Run(deadline(t))
	require.ErrorIs(t, err, publish.ErrSubject)
	require.Equal(t, []schema.Identity{conversation("broken")}, hurt)
	require.Equal(t, whole(2), exchangesIn(r.stored(t, conversation("c"))))
	for _, m := range marks {
		require.False(t, m.Done, "what is not stored stays in the journal")
	}
}

// Many conversations at once, larger together than what may wait.
func TestManyConversations(t *testing.T) {
	r, p := newRig(t), newTape(t)
	text := strings.Repeat("large ", 50_000)
	for n := range 200 {
		p.ask(n, send(fmt.Sprint("c", n), ""))
	}
	for n := range 200 {
		p.begins(n, "stream").chunk(n, "stream", "data: "+noNames+"\n\n: "+text+"\n\n").end(n)
	}
	p.stop()
	require.NoError(t, r.publisher(p.open()).Run(deadline(t)))
	for n := range 200 {
		frames := r.stored(t, conversation(fmt.Sprint("c", n)))
		require.Len(t, frames, 4)
		require.Equal(t, ": "+text+"\n\n", string(frames[2].Data))
	}
}

// A journal that lost its end is read to what is left of it, though a decision was made behind that.
func TestTheEndOfTheJournalIsLost(t *testing.T) {
	r, p := newRig(t), newTape(t)
	p.ask(1, send("", ""))
	left := sizeOf(t, p.w.Path())
	p.answer(1, taskOf("c", "t")).end(1).stop()
	_, err := r.filed.Keep(deadline(t), topology.ExchangeKey(exchangeID(1)), topology.Filing{Capture: conversation("c"), Offset: uint64(left) + 500})
	require.NoError(t, err)
	require.NoError(t, os.Truncate(p.w.Path(), left))
	require.NoError(t, r.publisher(p.open()).Run(deadline(t)))
	require.Equal(t, []string{"1.0 ", "1.0 close"}, exchangesIn(r.stored(t, conversation("c"))))
}

// At the journal's end every exchange is filed by what the journal holds of its answer, however late
// that is read, and behind nothing that stands behind it.
func TestExchangesThatTheEndDecides(t *testing.T) {
	r, p := newRig(t), newTape(t)
	p.ask(2, send("c", "")).begins(2, "stream").chunk(2, "stream", "data: "+noNames+"\n\n")
	p.ask(1, send("", "")).answer(1, taskOf("c", "t"))
	p.ask(3, send("", "")).answer(3, taskOf("c", "t")).stop()
	for range 2 {
		require.NoError(t, r.publisher(p.open()).Run(deadline(t)))
		require.Equal(t, []string{"2.0 ", "2.1 ", "2.0 close", "1.0 ", "1.1 ", "1.0 close", "3.0 ", "3.1 ", "3.0 close"},
			exchangesIn(r.stored(t, conversation("c"))))
	}
}

// TestKilledWhileItFollows stops publishers over and over while the writer goes on.
func TestKilledWhileItFollows(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 3))
			r, p := newRig(t), newTape(t)
			p.now = time.Now()
			written := make(chan struct{})
			go func() {
				defer close(written)
				traffic(p, rand.New(rand.NewPCG(seed, 4)), 1)
				require.NoError(t, p.w.Close())
			}()
			for done := false; !done; {
				select {
				case <-written:
					done = true
				default:
				}
				ctx, cancel := context.WithCancel(deadline(t))
				if !done {
					time.AfterFunc(time.Duration(1+draw.IntN(8))*time.Millisecond, cancel)
				}
				err := r.publisher(openJournal(t, p.w.Path())).Run(ctx)
				cancel()
				if err != nil {
					require.ErrorIs(t, err, context.Canceled)
					done = false
				}
			}
			want := map[string][]string{}
			for _, f := range cut(t, p.open()) {
				want[f.Exchange] = append(want[f.Exchange], line(&f))
			}
			r.check(t, want)
		})
	}
}

// brokenSource is a journal that cannot be read on behind some entries.
type brokenSource struct {
	*journal.Reader
	left int
}

func (b *brokenSource) Next(ctx context.Context) (journal.Entry, error) {
	if b.left--; b.left < 0 {
		return journal.Entry{}, fmt.Errorf("read: %w", journal.ErrDamaged)
	}
	return b.Reader.Next(ctx)
}

// What stands before a place that cannot be read is stored.
func TestWhatStandsBeforeAnErrorIsStored(t *testing.T) {
	r, p := newRig(t), newTape(t)
	for n := range 40 {
		p.ask(n, send(fmt.Sprint("c", n), ""))
	}
	p.stop()
	require.ErrorIs(t, r.publisher(&brokenSource{p.open(), 60}).Run(deadline(t)), journal.ErrDamaged)
	for n := range 30 {
		require.Len(t, r.stored(t, conversation(fmt.Sprint("c", n))), 1)
	}
}

// A frame that would be taken for one that is stored is an error, not a loss.
func TestOffsetsMustRise(t *testing.T) {
	boxes := newOutboxes()
	boxes.past[conversation("c")] = &sent{given: 7}
	err := boxes.put(deadline(t), conversation("c"), schema.Frame{Exchange: "e", Writer: schema.Writer{Offset: 7}})
	require.ErrorContains(t, err, "it ends at 7, behind one that ends at 7")
}

// keeping counts what is written to the bucket.
type keeping struct {
	keys
	kept int
}

func (k *keeping) Keep(ctx context.Context, key string, f topology.Filing) (topology.Filing, error) {
	k.kept++
	return k.keys.Keep(ctx, key, f)
}

// What an earlier run has filed, as far as its mark says so, is looked up and not tried to be filed again.
func TestWhatWasFiledIsLookedUp(t *testing.T) {
	r, p := newRig(t), newTape(t)
	p.ask(1, send("c", "")).answer(1, taskOf("c", "t1")).end(1)
	p.ask(2, send("c", "")).answer(2, taskOf("c", "t2")).end(2)
	p.stop()
	var mark journal.Mark
	for _, want := range []int{2, 0} {
		publisher := r.publisher(p.open(), func(o *Options) {
			o.Mark, o.SaveMark = mark, func(m journal.Mark) error { mark = m; return nil }
		})
		bucket := &keeping{keys: r.filed}
		publisher.filer.keys = bucket
		require.NoError(t, publisher.Run(deadline(t)))
		require.Equal(t, want, bucket.kept)
		require.Equal(t, append(whole(1), whole(2)...), exchangesIn(r.stored(t, conversation("c"))))
	}
}
