package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/verify"
)

// proved is an answer of …/verify.
type proved struct {
	Verdict, Capture, Translator  string
	At                            time.Time
	Frames, Verified, Events      int
	Unaccounted, Open, Gaps, More int
	Findings                      []verify.Finding
	Sealed                        *uint64
}

// proves asks for a proof of a transcript's capture.
func (s *site) proves(key schema.Transcript) (p proved) {
	s.t.Helper()
	a := s.get(path(key) + "/verify")
	require.Equal(s.t, http.StatusOK, a.StatusCode, a.body)
	require.NoError(s.t, json.Unmarshal([]byte(a.body), &p))
	return p
}

func TestACaptureIsVerified(t *testing.T) {
	p := newPipeline(t)
	p.finished("oats", "another")
	tp, key := p.begin("oats", "run")
	tp.note(t, 1)
	p.stored(key, func(s sink.Summary) bool { return s.Head == 3 })
	s := p.serve(api.Options{})
	first := s.proves(key)
	require.Equal(t, proved{
		Verdict: "verified", At: first.At, Capture: key.Identity.String(), Frames: 7, Verified: 7, Events: first.Events, Findings: []verify.Finding{},
	}, first)
	require.Greater(t, first.Events, 3, "those of the connection, too")
	require.WithinDuration(t, time.Now(), first.At, within)
	require.Equal(t, first, s.proves(key), "nothing was added")
	connection := key
	connection.Session = 0
	require.Equal(t, first, s.proves(connection), "it is of the same capture")

	tp.chunk(t, "Once ")
	p.folded(tp)
	open := s.proves(key)
	require.Equal(t, 8, open.Frames)
	require.Equal(t, 7, open.Verified, "the ledger has nothing of it yet")
	tp.end(t)
	p.stored(key, ended)
	whole := s.proves(key)
	require.Equal(t, 10, whole.Frames)
	require.Equal(t, 10, whole.Verified)
	require.Greater(t, whole.Events, first.Events)
	require.True(t, whole.At.After(first.At))

	require.Equal(t, http.StatusOK, s.ask(http.MethodHead, path(key)+"/verify", "").StatusCode)
	s.refuses(http.StatusBadRequest, "bad_parameter", path(key)+"/verify?since=1d")
	key.Run = "none"
	s.refuses(http.StatusNotFound, "not_found", path(key)+"/verify")
}

func TestAChangedRowIsNamed(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	p.Tamper(key, 2, "Tell", "Sell")
	s := p.serve(api.Options{Sealed: func(context.Context, schema.Identity) (uint64, bool, error) { return 7, true, nil }})
	got := s.proves(key)
	require.Equal(t, "differs", got.Verdict)
	require.Len(t, got.Findings, 1)
	f := got.Findings[0]
	require.Equal(t, verify.Changed, f.Problem)
	require.Equal(t, uint64(2), f.Seq)
	require.Equal(t, uint32(1), f.Session)
	require.Equal(t, uint64(6), f.Frame)
	require.EqualValues(t, 7, *got.Sealed)

	p.Tamper(key, 2, "Sell", "Tell") // it is mended
	require.Equal(t, "verified", s.proves(key).Verdict, "what differed is looked at again")
}

func TestWhatIsSealedIsNotWhatIsProved(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	known := false
	s := p.serve(api.Options{Sealed: func(context.Context, schema.Identity) (uint64, bool, error) {
		if !known {
			return 0, false, nil
		}
		return 0, true, errors.New("the archive is away")
	}})
	require.Nil(t, s.proves(key).Sealed)
	known = true
	got := s.proves(key)
	require.Nil(t, got.Sealed)
	require.Equal(t, "verified", got.Verdict)
}

// What an archive has and cannot be read is no difference. What it has damaged is one, and so is what nobody gave back.
func TestFramesInAnArchiveThatIsAway(t *testing.T) {
	p := newPipeline(t)
	key := p.finished("oats", "run")
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	by := p.Prover()
	why := topology.ErrAway
	by.Stream.Returned = func(context.Context, schema.Identity, uint64, uint64) iter.Seq2[schema.Frame, error] {
		return func(yield func(schema.Frame, error) bool) {
			yield(schema.Frame{}, fmt.Errorf("%w: %w", topology.ErrReturned, why))
		}
	}
	s := p.serve(api.Options{Prover: by})
	require.Equal(t, "verified", s.proves(key).Verdict, "they are still there")

	key = p.finished("oats", "away")
	subject := schema.RawSubject(key.Identity, p.Info.Partitions)
	first, ok, err := topology.First(ctx, p.js, topology.Raw, subject)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, topology.Purge(ctx, p.js, topology.Raw, subject, first.Seq+1, func(topology.Message) error { return nil }))
	missing := func() {
		t.Helper()
		got := s.proves(key)
		require.Equal(t, "differs", got.Verdict)
		require.Equal(t, [2]any{verify.Unreadable, uint64(1)}, [2]any{got.Findings[0].Problem, got.Findings[0].Frame})
	}
	missing()
	require.NoError(t, topology.WriteReturned(ctx, p.js, key.Identity, topology.Returned{Frame: 3}))
	a := s.get(path(key) + "/verify")
	require.Equal(t, http.StatusServiceUnavailable, a.StatusCode, a.body)
	require.Contains(t, a.body, "these frames are in an archive")
	why = verify.ErrDamaged
	missing()
}

// prover gives reports when it is told to.
type prover struct {
	stand proof.Stand
	begun chan struct{}
	end   chan verify.Report
}

func (p *prover) Stand(context.Context, schema.Identity) (proof.Stand, error) { return p.stand, nil }

func (p *prover) Prove(ctx context.Context, _ schema.Identity) (verify.Report, error) {
	p.begun <- struct{}{}
	select {
	case r := <-p.end:
		return r, nil
	case <-ctx.Done():
		return verify.Report{}, fmt.Errorf("verify: %w", context.Cause(ctx))
	}
}

// TestFewCapturesAreVerifiedAtATime, each once, whoever asks.
func TestFewCapturesAreVerifiedAtATime(t *testing.T) {
	p := newPipeline(t)
	key, other, third := p.finished("oats", "run"), p.finished("oats", "other"), p.finished("oats", "third")
	by := &prover{begun: make(chan struct{}), end: make(chan verify.Report)}
	s := p.serve(api.Options{Prover: by})
	ask := func(ctx context.Context, key schema.Transcript) <-chan error {
		left := make(chan error, 1)
		go func() {
			r, err := open(ctx, s.url+path(key)+"/verify", "")
			if err == nil {
				err = r.Body.Close()
			}
			if err == nil && r.StatusCode != http.StatusOK {
				err = errors.New(r.Status)
			}
			left <- err
		}()
		return left
	}
	ctx, leave := context.WithCancel(t.Context())
	first, long := ask(ctx, key), ask(t.Context(), other)
	<-by.begun
	<-by.begun
	s.refuses(http.StatusServiceUnavailable, "too_many_proofs", path(third)+"/verify")
	second := ask(t.Context(), key) // waits for the first
	leave()
	require.ErrorIs(t, <-first, context.Canceled)
	<-by.begun // its client has gone: it is made for the second
	by.end <- verify.Report{Gaps: 2}
	by.end <- verify.Report{Gaps: 2}
	require.NoError(t, <-second)
	require.NoError(t, <-long)
	require.Equal(t, "gaps", s.proves(other).Verdict, "it is kept")

	by.stand.Frame++
	again, beside := ask(t.Context(), key), make(chan error)
	<-by.begun
	go func() { beside <- <-ask(t.Context(), key) }()
	by.end <- verify.Report{Unrepeated: []verify.Unrepeated{{Translator: "acp/0"}}}
	require.NoError(t, <-again)
	require.NoError(t, <-beside, "nobody has begun another one")
	got := s.proves(key)
	require.Equal(t, "not_repeated", got.Verdict)
	require.Equal(t, "acp/0", got.Translator)

	last := ask(t.Context(), third)
	<-by.begun
	s.stop() // ends it
	require.Error(t, <-last)
}
