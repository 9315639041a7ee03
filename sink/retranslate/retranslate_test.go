package retranslate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/ledgertest"
	"github.com/steno-io/steno/sink/retranslate"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/sink/verify/verifytest"
)

var id = ledgertest.NewScript("one").ID

// told gives a capture's frames as a reader does.
func told(t testing.TB, words string) iter.Seq2[schema.Frame, error] {
	frames := verifytest.Tell(t, words)
	return func(yield func(schema.Frame, error) bool) {
		for _, f := range frames {
			if !yield(*f, nil) {
				return
			}
		}
	}
}

// another is the fold with one rule changed.
func another(rule func(f *schema.Frame, events []schema.Event) []schema.Event) verify.Fold {
	fold := verifytest.Fold(id, "tale/1")
	return verify.Fold{Open: fold.Open, Step: func(f *schema.Frame) ([]schema.Event, error) {
		events, err := fold.Step(f)
		if err != nil {
			return nil, err
		}
		events = rule(f, events)
		for i := range events {
			events[i].Part = uint32(i)
			events[i].EventID = schema.EventID(id, events[i].Origin())
			events[i].Source.Translator = "tale/2"
		}
		return events, nil
	}}
}

func compare(t testing.TB, words string, rule func(*schema.Frame, []schema.Event) []schema.Event) (retranslate.Counts, []string) {
	stored, err := retranslate.Fold(id, told(t, words), verifytest.Fold(id, "tale/1"))
	require.NoError(t, err)
	var said []string
	counts, err := retranslate.Compare(context.Background(), stored.Info, retranslate.Options{
		Ledger: stored, Frames: stored.Frames, Fold: another(rule),
		Differs: func(d retranslate.Difference) error {
			line := fmt.Sprintf("%s %d", d.Change, d.Event().WorkerSeq)
			for _, f := range d.Fields {
				line += fmt.Sprintf(" %s: %s, %s", f.Name, f.Was, f.Is)
			}
			said = append(said, line)
			return nil
		},
	})
	require.NoError(t, err)
	return counts, said
}

const story = "open a c c m b c m d"

func TestCompare(t *testing.T) {
	keep := func(_ *schema.Frame, events []schema.Event) []schema.Event { return events }
	is := func(f *schema.Frame, word string) bool { return string(f.Data) == word }
	for _, c := range []struct {
		name   string
		rule   func(*schema.Frame, []schema.Event) []schema.Event
		counts retranslate.Counts
		said   []string
	}{
		{"nothing but the version", keep, retranslate.Counts{}, nil},
		{"another text", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "m") {
				events[0].Kind = ledgertest.Raw("M")
			}
			return events
		}, retranslate.Counts{Changed: 2}, []string{`changed 5 kind.value: "m", "M"`, `changed 8 kind.value: "m", "M"`}},
		{"one event more, in front", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "b") {
				e := events[0]
				e.Kind = ledgertest.Prompt("b")
				events = []schema.Event{e, events[0]}
			}
			return events
		}, retranslate.Counts{Added: 1, Moved: 2}, []string{"added 6"}},
		{"one event less", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "a") {
				return nil
			}
			return events
		}, retranslate.Counts{Removed: 1, Moved: 2}, []string{"removed 2"}},
		{"other frames", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "m") {
				last := len(events[0].Frames) - 1
				events[0].Frames = append(events[0].Frames[:last:last], schema.Range{1, f.Seq})
			}
			return events
		}, retranslate.Counts{Changed: 2}, []string{`changed 5 frames.2.0: 5, 1`, `changed 8 frames.1.0: 8, 1`}},
		{"a flag", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "d") {
				events[0].Flags = []schema.Flag{schema.FlagLate}
			}
			return events
		}, retranslate.Counts{Changed: 1}, []string{`changed 9 flags: , ["late"]`}},
		{"another session", func(f *schema.Frame, events []schema.Event) []schema.Event {
			if is(f, "d") {
				events[0].Session = 2
			}
			return events
		}, retranslate.Counts{Added: 1, Removed: 1}, []string{"removed 9", "added 9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts, said := compare(t, story, c.rule)
			c.counts.Frames, c.counts.Events = 9, 6
			require.Equal(t, c.counts, counts)
			require.Equal(t, c.said, said)
			require.Equal(t, c.said != nil, counts.Differs())
		})
	}
}

// TestWhatDiffersIsTold changes events at random: what is told makes the one transcript of the other.
func TestWhatDiffersIsTold(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom([]string{"x", "y", "z"})
		made := map[uint64][]string{}
		for n := uint64(1); n <= 4; n++ {
			made[n] = rapid.SliceOfN(text, 0, 5).Draw(r, "was")
		}
		many := func(of map[uint64][]string) verify.Fold {
			return verify.Fold{Step: func(f *schema.Frame) (events []schema.Event, _ error) {
				for part, word := range of[f.Seq] {
					e := schema.Event{Transcript: schema.Transcript{Identity: id}, WorkerSeq: f.Seq, Part: uint32(part), Kind: ledgertest.Raw(word)}
					if word == "z" {
						e.Kind = ledgertest.Prompt(word)
					}
					events = append(events, e)
				}
				return events, nil
			}}
		}
		made[4] = append(made[4], "x") // the last frame gives an event
		stored, err := retranslate.Fold(id, told(t, "1 2 3 4"), many(made))
		require.NoError(r, err)
		other := map[uint64][]string{}
		for n := range made {
			other[n] = rapid.SliceOfN(text, 0, 5).Draw(r, "is")
		}
		got := map[uint64][]string{} // the stored ones with what is told done to them, each frame's in some order
		for n, words := range made {
			got[n] = slices.Clone(words)
		}
		take := func(e *schema.Event) {
			at := slices.Index(got[e.WorkerSeq], wordOf(e))
			require.GreaterOrEqual(r, at, 0, "it is stored once more than told")
			got[e.WorkerSeq] = slices.Delete(got[e.WorkerSeq], at, at+1)
		}
		counts, err := retranslate.Compare(context.Background(), stored.Info, retranslate.Options{
			Ledger: stored, Frames: stored.Frames, Fold: many(other),
			Differs: func(d retranslate.Difference) error {
				if d.Was != nil {
					take(d.Was)
				}
				if d.Is != nil {
					got[d.Is.WorkerSeq] = append(got[d.Is.WorkerSeq], wordOf(d.Is))
				}
				require.Equal(r, d.Change == retranslate.Changed, len(d.Fields) > 0)
				return nil
			},
		})
		require.NoError(r, err)
		for n, words := range other {
			require.ElementsMatch(r, words, got[n])
		}
		require.Equal(r, uint64(4), counts.Frames)
	})
}

func wordOf(e *schema.Event) string {
	if m, ok := e.Kind.(*schema.Message); ok {
		return m.Text
	}
	return strings.Trim(string(e.Kind.(*schema.Raw).Value), `"`)
}

func TestCompareEndsWithWhatItIsTold(t *testing.T) {
	stored, err := retranslate.Fold(id, told(t, story), verifytest.Fold(id, "tale/1"))
	require.NoError(t, err)
	full := errors.New("the disk is full")
	_, err = retranslate.Compare(context.Background(), stored.Info, retranslate.Options{
		Ledger: stored, Frames: stored.Frames, Fold: another(func(*schema.Frame, []schema.Event) []schema.Event { return nil }),
		Differs: func(retranslate.Difference) error { return full },
	})
	require.ErrorIs(t, err, full)

	_, err = retranslate.Compare(context.Background(), stored.Info, retranslate.Options{
		Ledger: stored, Frames: func(ctx context.Context, _ schema.Identity) iter.Seq2[schema.Frame, error] { return told(t, "open a") },
		Fold: verifytest.Fold(id, "tale/1"),
	})
	require.ErrorContains(t, err, "the frames end at 2, the events go to frame 9")
}
