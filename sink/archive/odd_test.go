package archive_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

// oddFrames are what a hostile or another writer can put on a stream and a reader of it takes: control
// frames that say anything, and evidence that no two readers of JSON agree about.
func oddFrames(t *testing.T) []*schema.Frame {
	frames := verifytest.Tell(t, "open a c m")
	for _, typ := range []schema.FrameType{schema.TypeOpen, schema.TypeClose, schema.TypeHTTP} {
		for _, payload := range []string{
			"", "no JSON", "\xff\xfe", "[]", "null", `{} {}`, `{"protocol":"a2a"}`, `{"protocol":1}`, `{"a":"\ud800","a":2}`, strings.Repeat("[", 20_000),
		} {
			frames = append(frames, &schema.Frame{From: schema.FromControl, Type: typ, End: schema.EndNone, Data: []byte(payload)})
		}
	}
	for _, evidence := range []string{`{"a":1,"a":2}`, `{"a":"\udfff"}`, "{} \t", `{"a":` + strings.Repeat("[", 7000) + strings.Repeat("]", 7000) + `}`} {
		frames = append(frames, &schema.Frame{From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF, Data: []byte("b"), HTTP: []byte(evidence)})
	}
	for i, f := range frames[4:] {
		n := uint64(5 + i)
		f.Seq, f.At, f.Salt, f.Writer = n, time.Unix(int64(n), 0).UTC(), strings.Repeat("0b", 16), schema.Writer{Journal: "hostile", Offset: n}
		read, err := schema.FrameFromHeader(f.Header(), f.Data)
		require.NoError(t, err, "a reader of the stream takes it")
		require.Equal(t, *f, read)
	}
	verifytest.Chain(t, frames)
	return frames
}

func TestOddFramesAreSealedAsTheyAre(t *testing.T) {
	s := newSite(t)
	id, other := identity("odd"), identity("other")
	frames := oddFrames(t)
	s.take(id, frames)
	s.tell(other, story+" m")
	require.Equal(t, uint64(len(frames)), s.seal(id).Last)
	n := 0
	for f, err := range (archive.Archived{Store: s.store()}).Frames(t.Context(), id, 1) {
		require.NoError(t, err)
		require.Equal(t, *frames[n], f)
		n++
	}
	require.Equal(t, len(frames), n)
	s.seal(other)
	c := s.check(s.key.Public())
	require.Empty(t, c.Findings)
	require.Zero(t, c.Unaccounted)
	require.Equal(t, uint64(len(frames)+len(s.frames[other])), c.Frames)
}

// A message whose headers make no frame is in no record, so no seal covers it: what is before it is sealed,
// at once and on top of what was sealed before.
func TestWhatIsBehindAnUnreadableFrameWaits(t *testing.T) {
	s := newSite(t)
	id := identity("one")
	s.tell(id, story)
	source := endsUnreadable{s.frames}
	for _, words := range []string{"m", "e f"} {
		s.tell(id, words)
		seal, err := archive.NewSealer(s.store(), source, s.ledger, s.key).Seal(context.Background(), id)
		require.NoError(t, err)
		require.Equal(t, uint64(len(s.frames[id])), seal.Last)
	}
	require.Empty(t, s.check("").Findings)
}

// endsUnreadable has a frame behind all others that cannot be read.
type endsUnreadable struct{ captures }

func (e endsUnreadable) Frames(ctx context.Context, id schema.Identity, first uint64) iter.Seq2[schema.Frame, error] {
	return func(yield func(schema.Frame, error) bool) {
		for f, err := range e.captures.Frames(ctx, id, first) {
			if !yield(f, err) {
				return
			}
		}
		yield(schema.Frame{}, errors.New("its type is unknown"))
	}
}
