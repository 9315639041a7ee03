package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

type proving struct {
	t      *testing.T
	path   string
	ledger *sqlite.Ledger
	claim  sink.Claim
	tale   verifytest.Tale
	id     schema.Identity
	seq    uint64
}

func newProving(t *testing.T, words string) *proving {
	p := &proving{t: t, path: filepath.Join(t.TempDir(), "ledger.db"), id: ledgertest.NewScript("one").ID}
	var err error
	p.ledger, err = sqlite.Open(p.path, sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.ledger.Close()) })
	p.claim, err = p.ledger.Claim(context.Background(), 0)
	require.NoError(t, err)
	frames := verifytest.Tell(t, words)
	p.tale = verifytest.Tale{Of: map[schema.Identity][]*schema.Frame{p.id: frames}}
	p.store(p.id, verifytest.Record(t, p.id, frames, 1))
	return p
}

func (p *proving) store(id schema.Identity, r schema.Record) {
	p.t.Helper()
	p.seq++
	e := sink.NewEntry(id, p.seq, ledgertest.Epoch, "", r)
	require.NoError(p.t, e.Refused)
	_, err := p.ledger.Store(context.Background(), sink.Batch{Claim: p.claim, Entries: []sink.Entry{e}})
	require.NoError(p.t, err)
}

func (p *proving) sql(statement string, args ...any) {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+p.path)
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, db.Close()) }()
	res, err := db.Exec(statement, args...)
	require.NoError(p.t, err)
	n, err := res.RowsAffected()
	require.NoError(p.t, err)
	require.Positive(p.t, n, "the test changed nothing")
}

func (p *proving) verify(settled bool) verify.Report {
	p.t.Helper()
	o := verify.Options{Frames: p.tale, Ledger: p.ledger, NewFold: verifytest.Fold}
	if settled {
		o.Settled = allSettled
	}
	r, err := verify.Run(context.Background(), o)
	require.NoError(p.t, err)
	return r
}

const story = "open a c c m b c m d c c"

func TestVerifyAgrees(t *testing.T) {
	p := newProving(t, story)
	for i := range 20 {
		id := p.id
		id.Run = fmt.Sprintf("more-%d", i)
		p.tale.Of[id] = verifytest.Tell(t, story)
		p.store(id, verifytest.Record(t, id, p.tale.Of[id], 1))
	}
	var last verify.Progress
	r, err := verify.Run(context.Background(), verify.Options{
		Frames: p.tale, Ledger: p.ledger, NewFold: verifytest.Fold, Settled: allSettled, Progress: func(p verify.Progress) { last = p },
	})
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Zero(t, r.ExitCode())
	require.Equal(t, 21, r.Captures)
	require.Equal(t, 42, r.Transcripts)
	require.Equal(t, uint64(21*11), r.Frames)
	require.Equal(t, uint64(21*6), r.Events)
	require.Zero(t, r.Unaccounted)
	require.Equal(t, verify.Heads{Capture: p.id.String(), Raw: 11, Folded: 11, Stored: "9.0"}, r.Heads[20])
	require.Equal(t, verify.Progress{Captures: 21, Total: 21, Frames: 21 * 11, Events: 21 * 6}, last)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(text), `"findings":[]`)
}

func TestVerifyCountsOpenApart(t *testing.T) {
	p := newProving(t, "open c c b")
	r := p.verify(true)
	require.Empty(t, r.Findings)
	require.Equal(t, uint64(2), r.Open)
	sum, err := p.ledger.Transcript(context.Background(), schema.Transcript{Identity: p.id, Session: 1})
	require.NoError(t, err)
	require.Equal(t, uint64(2), sum.Frames)
	require.Zero(t, r.Unaccounted)
}

func TestVerifyNotesGaps(t *testing.T) {
	r := newProving(t, "open a gap b").verify(true)
	require.Empty(t, r.Findings)
	require.Equal(t, 11, r.ExitCode())
	require.Equal(t, []uint64{3}, r.Heads[0].Gaps)
}

func TestVerifyStatesLag(t *testing.T) {
	p := newProving(t, story)
	p.tale.Of[p.id] = verifytest.Tell(t, story+" m e f")
	r := p.verify(false)
	require.Empty(t, r.Findings)
	require.Equal(t, verify.Heads{Capture: p.id.String(), Raw: 14, Folded: 9, Stored: "9.0"}, r.Heads[0])
	r = p.verify(true)
	require.Equal(t, 10, r.ExitCode())
	require.Len(t, r.Findings, 3)
	require.Equal(t, verify.Missing, r.Findings[0].Problem)
	require.Equal(t, uint64(12), r.Findings[0].Frame)
	require.Equal(t, uint64(3), r.Findings[0].Seq)
}

// TestVerifyFinds spoils a good ledger or its frames in every way that it must notice.
func TestVerifyFinds(t *testing.T) {
	event := func(frame uint64) string {
		return schema.EventID(ledgertest.NewScript("one").ID, schema.Origin{Frame: frame}).String()
	}
	for _, c := range []struct {
		name  string
		spoil func(p *proving)
		want  verify.Finding // the first; without its detail
		count int
	}{
		{"a byte of an event", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '"b"', '"B"') AS BLOB) WHERE store_seq = 3 AND transcript = 1`)
		}, verify.Finding{Problem: verify.Changed, Frame: 6, Seq: 3, EventID: event(6)}, 1},
		{"the number inside an event", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '"store_seq":3', '"store_seq":4') AS BLOB) WHERE store_seq = 3 AND transcript = 1`)
		}, verify.Finding{Problem: verify.Changed, Frame: 6, Seq: 3, EventID: event(6)}, 1},
		{"an event less", func(p *proving) { p.sql(`DELETE FROM events WHERE store_seq = 1 AND transcript = 2`) },
			verify.Finding{Problem: verify.Missing, Frame: 5, Session: 1, Seq: 1, EventID: event(5)}, 1},
		{"the last event less", func(p *proving) { p.sql(`DELETE FROM events WHERE store_seq = 4 AND transcript = 1`) },
			verify.Finding{Problem: verify.Missing, Frame: 9, Seq: 4, EventID: event(9)}, 1},
		{"an event that moved", func(p *proving) { p.sql(`UPDATE events SET store_seq = 9 WHERE store_seq = 4 AND transcript = 1`) },
			verify.Finding{Problem: verify.Missing, Frame: 9, Seq: 4, EventID: event(9)}, 2},
		{"an event more, behind the head", func(p *proving) { p.sql(`INSERT INTO events VALUES (1, 5, CAST('{}' AS BLOB))`) },
			verify.Finding{Problem: verify.Added, Seq: 5}, 1},
		{"an event more, and the head with it", func(p *proving) {
			p.sql(`INSERT INTO events VALUES (1, 5, CAST('{}' AS BLOB))`)
			p.sql(`UPDATE transcripts SET head = 5 WHERE id = 1`)
		}, verify.Finding{Problem: verify.Added, Seq: 5}, 1},
		{"a capture less", func(p *proving) {
			p.sql(`DELETE FROM events`)
			p.sql(`DELETE FROM transcripts`)
			p.sql(`DELETE FROM captures`)
		}, verify.Finding{Problem: verify.Missing, Frame: 1, Seq: 1, EventID: event(1)}, 6},
		{"a capture more", func(p *proving) { delete(p.tale.Of, p.id) },
			verify.Finding{Problem: verify.Numbers, Frame: 1}, 7},
		{"another chain in the ledger", func(p *proving) { p.sql(`UPDATE captures SET chain = 'x'`) },
			verify.Finding{Problem: verify.BrokenChain, Frame: 9}, 1},
		{"bytes of a frame", func(p *proving) { p.tale.Of[p.id][9].Data = []byte("C") },
			verify.Finding{Problem: verify.BrokenChain, Frame: 10}, 2},
		{"a header of a frame", func(p *proving) { p.tale.Of[p.id][1].Writer.Offset++ },
			verify.Finding{Problem: verify.BrokenChain, Frame: 2}, 1},
		{"a frame less", func(p *proving) {
			f := p.tale.Of[p.id]
			p.tale.Of[p.id] = append(f[:3:3], f[4:]...)
		}, verify.Finding{Problem: verify.Numbers, Frame: 5}, 1},
		{"the last frames less", func(p *proving) { p.tale.Of[p.id] = p.tale.Of[p.id][:8] },
			verify.Finding{Problem: verify.Numbers, Frame: 9}, 2},
		{"a parked capture", func(p *proving) {
			p.sql(`UPDATE captures SET parked_reason = 'gap', parked_ordinal = 7, parked_have = CAST('5' AS BLOB), parked_got = CAST('7' AS BLOB)`)
		}, verify.Finding{Problem: verify.Parked, Frame: 9, Seq: 7}, 1},
		{"a translator that is not there, and not the events' own", func(p *proving) { p.sql(`UPDATE captures SET translator = 'tale/2'`) },
			verify.Finding{Problem: verify.Changed, Frame: 1, Seq: 1}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProving(t, story)
			require.Empty(t, p.verify(true).Findings)
			c.spoil(p)
			r, err := verify.Run(context.Background(), verify.Options{Frames: p.tale, Ledger: p.ledger, Settled: allSettled,
				NewFold: func(id schema.Identity, version string) verify.Fold {
					if version == "" {
						version = "tale/1"
					}
					return verifytest.Fold(id, version)
				}})
			require.NoError(t, err)
			require.Equal(t, 10, r.ExitCode())
			require.Len(t, r.Findings, c.count, "%v", r.Findings)
			got := r.Findings[0]
			require.NotEmpty(t, got.Detail)
			require.Contains(t, got.String(), p.id.String())
			got.Detail, c.want.Capture = "", p.id.String()
			require.Equal(t, c.want, got)
		})
	}
}

func TestVerifyFindsUnaccountedFrames(t *testing.T) {
	p := newProving(t, "open a lost b lost c")
	r := p.verify(true)
	require.Len(t, r.Findings, 1)
	require.Equal(t, verify.Unaccounted, r.Findings[0].Problem)
	require.Equal(t, uint64(3), r.Findings[0].Frame)
	require.Equal(t, int64(1), r.Unaccounted, "frame 5 is beyond the last event")
	sum, err := p.ledger.Transcript(context.Background(), schema.Transcript{Identity: p.id})
	require.NoError(t, err)
	require.Equal(t, int64(1), sum.Unaccounted, "the list says the same")
}

// TestVerifyWithoutTheTranslator proves all but the translation where that cannot be repeated, and says so.
func TestVerifyWithoutTheTranslator(t *testing.T) {
	without := func(schema.Identity, string) verify.Fold {
		return verify.Fold{Step: func(*schema.Frame) ([]schema.Event, error) { return nil, fmt.Errorf("fold: %w", verify.ErrVersion) }}
	}
	for _, c := range []struct {
		name  string
		spoil func(p *proving)
		want  []verify.Problem
		code  int
	}{
		{"whole", func(*proving) {}, nil, 1},
		{"a frame's bytes", func(p *proving) { p.tale.Of[p.id][2].Data = []byte("B") }, []verify.Problem{verify.BrokenChain}, 10},
		{"a frame less", func(p *proving) { p.tale.Of[p.id] = p.tale.Of[p.id][:8] }, []verify.Problem{verify.Numbers}, 10},
		{"frames that nobody can count", func(p *proving) {
			p.sql(`UPDATE captures SET last_frame = 1 << 62`)
			p.sql(`UPDATE events SET event = CAST(replace(replace(replace(CAST(event AS TEXT), '"frames":[[9,9]]', '"frames":[[9,4611686018427387904]]'),
				'"worker_seq":9', '"worker_seq":4611686018427387904'), ?, ?) AS BLOB) WHERE transcript = 1 AND store_seq = 4`,
				schema.EventID(p.id, schema.Origin{Frame: 9}).String(), schema.EventID(p.id, schema.Origin{Frame: 1 << 62}).String())
		}, []verify.Problem{verify.Numbers}, 10},
		{"an event less", func(p *proving) { p.sql(`DELETE FROM events WHERE transcript = 1 AND store_seq = 3`) },
			[]verify.Problem{verify.Missing, verify.Unaccounted}, 10},
		{"the last event less", func(p *proving) { p.sql(`DELETE FROM events WHERE transcript = 1 AND store_seq = 4`) },
			[]verify.Problem{verify.Missing, verify.Unaccounted}, 10},
		{"one more", func(p *proving) { p.sql(`INSERT INTO events VALUES (1, 5, CAST('{}' AS BLOB))`) }, []verify.Problem{verify.Added}, 10},
		{"another number", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '"store_seq":2', '"store_seq":3') AS BLOB) WHERE transcript = 1 AND store_seq = 2`)
		}, []verify.Problem{verify.Changed}, 10},
		{"another id", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '"part":0', '"part":1') AS BLOB) WHERE transcript = 1 AND store_seq = 2`)
		}, []verify.Problem{verify.Changed}, 10},
		{"no event", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST('{}' AS BLOB) WHERE transcript = 1 AND store_seq = 2`)
		},
			[]verify.Problem{verify.Changed}, 10},
		{"frames that are not accounted for", func(p *proving) {
			p.sql(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), '"frames":[[2,2]]', '"frames":[[1,1]]') AS BLOB) WHERE transcript = 1 AND store_seq = 2`)
		}, []verify.Problem{verify.Unaccounted}, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProving(t, story)
			c.spoil(p)
			r, err := verify.Run(context.Background(), verify.Options{Frames: p.tale, Ledger: p.ledger, Settled: allSettled, NewFold: without})
			require.NoError(t, err)
			var got []verify.Problem
			for _, f := range r.Findings {
				got = append(got, f.Problem)
			}
			require.ElementsMatch(t, c.want, got, "%v", r.Findings)
			require.Equal(t, c.code, r.ExitCode())
			require.Len(t, r.Unrepeated, 1)
			require.Contains(t, r.Unrepeated[0].String(), "tale/1 is not in this build")
			require.Zero(t, r.Events, "none was compared")
			if c.want == nil {
				require.Equal(t, uint64(9), r.Unrepeated[0].Frames)
				require.Equal(t, uint64(6), r.Unrepeated[0].Events)
				require.Equal(t, uint64(2), r.Unrepeated[0].Behind)
				require.Zero(t, r.Unaccounted)
			}
		})
	}
}

// TestVerifyTurnsPages proves sessions that end before, at and behind a page's end, whole, with an event
// less and with one more behind the head.
func TestVerifyTurnsPages(t *testing.T) {
	for _, events := range []int{127, 128, 129, 255, 256, 257, 300} {
		for _, c := range []struct {
			name, spoil string
			want        verify.Problem
		}{
			{"whole", "", ""},
			{"the last less", `DELETE FROM events WHERE store_seq = ?`, verify.Missing},
			{"one more", `INSERT INTO events VALUES (1, 1 + ?, CAST('{}' AS BLOB))`, verify.Added},
		} {
			t.Run(fmt.Sprintf("%d events, %s", events, c.name), func(t *testing.T) {
				p := newProving(t, strings.Repeat("a ", events))
				if c.spoil == "" {
					r := p.verify(true)
					require.Empty(t, r.Findings)
					require.Equal(t, uint64(events), r.Events)
					return
				}
				p.sql(c.spoil, events)
				r := p.verify(true)
				require.Len(t, r.Findings, 1, "%v", r.Findings)
				require.Equal(t, c.want, r.Findings[0].Problem)
			})
		}
	}
}

// TestVerifyIsOfItsBeginning proves what was there when it began: neither a frame that a known capture
// gets meanwhile nor a capture that begins meanwhile is in the report.
func TestVerifyIsOfItsBeginning(t *testing.T) {
	p := newProving(t, story)
	later := p.id
	later.Run = "later"
	r, err := verify.Run(context.Background(), verify.Options{
		Frames: growing{p.tale, later, verifytest.Tell(t, story+" x y z")}, Ledger: p.ledger, NewFold: verifytest.Fold, Settled: allSettled,
	})
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, 1, r.Captures)
	require.Equal(t, uint64(11), r.Frames)
}

// growing is a source in which each capture has more frames, and there is one more capture, when the
// frames are read.
type growing struct {
	verifytest.Tale
	later  schema.Identity
	frames []*schema.Frame
}

func (g growing) Frames(ctx context.Context) iter.Seq2[verify.Frame, error] {
	more := verifytest.Tale{Of: map[schema.Identity][]*schema.Frame{g.later: g.frames}}
	for id := range g.Of {
		more.Of[id] = g.frames
	}
	return more.Frames(ctx)
}

func TestVerifyBoundsItsFindings(t *testing.T) {
	p := newProving(t, strings.Repeat("a ", 50))
	p.sql(`DELETE FROM events`)
	r, err := verify.Run(context.Background(), verify.Options{Frames: p.tale, Ledger: p.ledger, NewFold: verifytest.Fold, MaxFindings: 10})
	require.NoError(t, err)
	require.Len(t, r.Findings, 10)
	require.Equal(t, 40, r.More)
}

func TestVerifyPassesErrorsOn(t *testing.T) {
	p := newProving(t, story)
	broken := errors.New("the source broke")
	_, err := verify.Run(context.Background(), verify.Options{Frames: breaking{p.tale, broken}, Ledger: p.ledger, NewFold: verifytest.Fold})
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, p.id.String())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = verify.Run(ctx, verify.Options{Frames: p.tale, Ledger: p.ledger, NewFold: verifytest.Fold})
	require.ErrorIs(t, err, context.Canceled)
}

// breaking is a source that breaks after five frames.
type breaking struct {
	verifytest.Tale
	err error
}

func (b breaking) Frames(ctx context.Context) iter.Seq2[verify.Frame, error] {
	return func(yield func(verify.Frame, error) bool) {
		for f := range b.Tale.Frames(ctx) {
			if f.Seq == 6 {
				yield(verify.Frame{Capture: f.Capture}, b.err)
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// TestVerifyReadsTheStream proves the frames as they stand on STENO_RAW.
func TestVerifyReadsTheStream(t *testing.T) {
	s := ledgertest.NewStage(t, 0, files{}.open)
	p := newProving(t, story)
	id := p.id
	for _, f := range p.tale.Of[id] {
		_, err := s.JS.PublishMsg(within(t), &nats.Msg{Subject: schema.RawSubject(id, s.Info.Partitions), Header: f.Header(), Data: bytes.Clone(f.Data)})
		require.NoError(t, err)
	}
	blobs, err := topology.OpenBlobs(within(t), s.JS)
	require.NoError(t, err)
	stream := verify.Stream{JS: s.JS, Blobs: blobs, Partitions: s.Info.Partitions}
	r, err := verify.Run(within(t), verify.Options{Frames: stream, Ledger: p.ledger, NewFold: verifytest.Fold, Settled: allSettled})
	require.NoError(t, err)
	require.Empty(t, r.Findings)
	require.Equal(t, uint64(11), r.Frames)
	require.Equal(t, uint64(6), r.Events)

	_, err = s.JS.Publish(within(t), "steno.raw.0.what.is.this", nil)
	require.NoError(t, err)
	_, err = verify.Run(within(t), verify.Options{Frames: stream, Ledger: p.ledger, NewFold: verifytest.Fold})
	require.ErrorContains(t, err, "steno.raw.0.what.is.this")
}

// allSettled says that nothing is on its way to the ledger.
func allSettled(schema.Identity) uint64 { return math.MaxUint64 }

// TestVerifyGoesOnBehindWhatCannotBeRead: of one capture a frame's bytes are gone, of another a frame's
// headers cannot be read. Each is a finding of its capture, and the third one is proved as ever.
func TestVerifyGoesOnBehindWhatCannotBeRead(t *testing.T) {
	s := ledgertest.NewStage(t, 0, files{}.open)
	p := newProving(t, story)
	blobs, err := topology.OpenBlobs(within(t), s.JS)
	require.NoError(t, err)
	gone, torn := p.id, p.id
	gone.Run, torn.Run = "gone", "torn"
	frames := map[schema.Identity][]*schema.Frame{p.id: p.tale.Of[p.id], gone: verifytest.Tell(t, "a b c"), torn: verifytest.Tell(t, "a b c")}
	frames[gone][1].Blob = strings.Repeat("0", 64)
	verifytest.Chain(t, frames[gone])
	for id, all := range frames {
		for n, f := range all {
			m := &nats.Msg{Subject: schema.RawSubject(id, s.Info.Partitions), Header: f.Header(), Data: bytes.Clone(f.Data)}
			if f.Blob != "" {
				m.Data = nil
			}
			if id == torn && n == 1 {
				m.Header.Set(schema.HeaderSeq, "two")
			}
			_, err := s.JS.PublishMsg(within(t), m)
			require.NoError(t, err)
		}
	}
	stream := verify.Stream{JS: s.JS, Blobs: blobs, Partitions: s.Info.Partitions}
	r, err := verify.Run(within(t), verify.Options{Frames: stream, Ledger: p.ledger, NewFold: verifytest.Fold})
	require.NoError(t, err)
	require.Equal(t, uint64(6), r.Events)
	require.Equal(t, 10, r.ExitCode())
	require.Len(t, r.Findings, 2)
	for i, want := range []struct {
		id     schema.Identity
		detail string
	}{{gone, "get blob " + gone.String() + "/" + strings.Repeat("0", 64)}, {torn, "header " + schema.HeaderSeq}} {
		f := r.Findings[i]
		require.Equal(t, verify.Unreadable, f.Problem)
		require.Equal(t, want.id.String(), f.Capture)
		require.EqualValues(t, 2, f.Frame)
		require.Contains(t, f.Detail, want.detail)
	}
}
