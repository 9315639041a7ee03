package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

func TestTheListChangesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks in the store", "Bread", "Oats")
		x := newStage(t, s, 80, 12, nil)
		x.until("▸", "Sacks in the store", "3 transcripts")
		s.mu.Lock()
		s.rows[1].Status, s.rows[1].Head = schema.StatusOpen, 7
		s.mu.Unlock()
		x.until("● open")
		x.keys("down", "down", "up")
		require.Contains(t, chosenRow(x), "Bread")
		s.mu.Lock()
		newer := newShelf("Newest")
		newer.rows[0].Key = "other"
		s.rows = append(newer.rows, s.rows...)
		s.mu.Unlock()
		x.until("Newest")
		require.Contains(t, chosenRow(x), "Bread", "what is chosen stays chosen")
		x.keys("home")
		require.Contains(t, chosenRow(x), "Newest")
		s.mu.Lock()
		s.fails = errors.New("the ledger is away")
		s.mu.Unlock()
		x.until("cannot read the list: the ledger is away", "Newest")
		s.mu.Lock()
		s.fails = nil
		s.mu.Unlock()
		x.untilThat(func(screen string) bool { return !strings.Contains(screen, "away") }, "no error")
	})
}

func TestAListThatIsNotAnsweredSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		x := newStage(t, s, 80, 12, nil)
		x.until("Sacks")
		s.mu.Lock()
		s.stuck = true
		s.mu.Unlock()
		x.until("the ledger does not answer: this is how it was 3s ago")
	})
}

func chosenRow(x *stage) string {
	for line := range strings.Lines(x.screen()) {
		if strings.HasPrefix(line, "▸") {
			return line
		}
	}
	return ""
}

func TestTheListIsFilteredAsOneTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks in the store", "Bread", "Sacks of oats")
		s.rows[2].Status, s.rows[2].Labels = schema.StatusOpen, map[string]string{"team": "mill"}
		s.rows[1].Protocol = schema.A2A
		s.rows = append(s.rows, s.rows[0])
		s.rows[3].Key, s.rows[3].Title, s.rows[3].Empty = "k", "the connection", true
		x := newStage(t, s, 80, 12, nil)
		x.until("3 transcripts")
		x.keys("/", "s", "a", "c")
		require.Contains(t, x.screen(), "2 transcripts")
		x.keys("k", "s", "space", "t", "e", "a", "m", "=")
		require.Contains(t, x.screen(), "1 transcript")
		require.Contains(t, chosenRow(x), "Sacks of oats")
		x.keys("enter")
		require.Contains(t, x.screen(), "“sacks team=”")
		x.keys("esc")
		require.Contains(t, x.until("3 transcripts"), "Bread")
		x.keys("a")
		require.Contains(t, x.screen(), "the connection")
		x.keys("a", "o")
		x.until("open  ", "1 transcript ", "Sacks of oats")
		x.keys("o", "o", "o", "o", "p", "p")
		x.until("a2a  ", "1 transcript ", "Bread")
		x.keys("o")
		x.until("nothing is left by the filter")
	})
}

func TestATranscriptIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks", "Bread")
		s.fill(0, 100)
		x := newStage(t, s, 80, 20, nil)
		x.until("Sacks")
		x.keys("enter")
		x.until("number 100.", "100  ? help", "● live")
		x.untilThat(func(string) bool { return s.followed(0) }, "followed")
		s.say(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "x", Boundary: schema.BoundaryTurnEnd})
		x.until("number 101.")
		s.tell(0, &follow.Delta{Event: schema.Event{AgentRole: "agent", EmittedAt: began, Kind: &schema.Delta{MessageID: "y", TextFragment: "and\x1b[31m then"}}})
		x.until("and␛[31m then")
		require.NotContains(t, x.m.View().Content, "\x1b[31m then")
		x.keys("pgup", "pgup")
		first := strings.Split(x.screen(), "\n")[1:15]
		for range 5 {
			s.say(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, Boundary: schema.BoundaryTurnEnd})
		}
		x.until("↓ 5 new")
		require.Equal(t, first, strings.Split(x.screen(), "\n")[1:15])
		x.keys(":", "7", "enter")
		require.Contains(t, x.until("▌  number 7."), "number 8.")
		x.keys("g", "7", "0", "0", "enter")
		require.Contains(t, x.screen(), "the last event has number 106")
		x.keys(":", "x", "enter")
		require.Contains(t, x.screen(), "a number, from 1 on")
		x.keys("end")
		require.NotContains(t, x.screen(), "new")
		x.keys("n")
		x.until(" Bread")
		require.False(t, strings.Contains(x.screen(), "number"))
		x.untilThat(func(string) bool { return !s.followed(0) }, "no longer followed")
		x.keys("p")
		x.until("number 106.")
		x.tell(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		require.Contains(t, x.screen(), "/106")
		x.keys("q")
		x.until("2 transcripts")
	})
}

func TestWhatFailsIsSaidAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.fill(0, 3)
		x := newStage(t, s, 80, 20, nil)
		x.until("Sacks")
		s.mu.Lock()
		s.fails, s.breaks = errors.New("the ledger is away"), 2
		s.mu.Unlock()
		x.keys("enter")
		x.until("cannot read: the ledger is away")
		s.mu.Lock()
		s.fails = nil
		s.mu.Unlock()
		x.until("number 3.", "cannot read: the ledger has gone")
		x.untilThat(func(string) bool { return s.followed(0) }, "followed")
		s.fill(0, 1) // nobody is told
		s.say(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, Boundary: schema.BoundaryTurnEnd})
		x.until("number 5.", "● live")
	})
}

func TestAFastAgentIsDrawnThirtyTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.fill(0, 3)
		x := newStage(t, s, 80, 20, &s.rows[0])
		x.until("number 3.")
		x.untilThat(func(string) bool { return s.followed(0) }, "followed")
		const seconds = 5
		began, said := time.Now(), make(chan time.Duration, 1)
		go func() {
			for i := range 1000 * seconds {
				s.tell(0, &follow.Delta{Event: schema.Event{AgentRole: "agent", Kind: &schema.Delta{MessageID: "m", Index: uint64(i), TextFragment: fmt.Sprintf("w%d ", i)}}})
				time.Sleep(time.Millisecond)
			}
			said <- time.Since(began)
		}()
		x.until("w4999")
		require.LessOrEqual(t, time.Since(began)-<-said, time.Second/framesPerSecond, "no lag builds up")
		require.LessOrEqual(t, x.frames, framesPerSecond*seconds+2)
		require.Greater(t, x.frames, 20*seconds)
	})
}

func TestATextIsFoundInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.fill(0, 700)
		s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "w", Text: "the windmill " + strings.Repeat("turns and ", 8) + "grinds Oats and rye", Boundary: schema.BoundaryTurnEnd})
		s.fill(0, 700)
		x := newStage(t, s, 60, 20, &s.rows[0])
		x.until("number 1401.")
		x.keys(append([]string{"/"}, strings.Split("oats and", "")...)...)
		x.keys("backspace", "backspace", "backspace")
		x.keys("a", "n", "d", "enter")
		x.until("Oats", "/1401", "/oats and")
		require.Contains(t, x.m.View().Content, chosen)
		x.keys("n")
		x.until("not found below")
		x.keys("N")
		x.until("not found above")
		x.keys("/")
		x.keys(strings.Split("number 3.", "")...)
		x.keys("enter")
		x.until("not found below")
		x.keys("N")
		x.until("▌  number 3.")
		x.keys("esc")
		require.NotContains(t, x.screen(), "/number")
	})
}

func TestSearchOpensAtTheNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.fill(0, 600)
		snippet := strings.Repeat("before ", 30) + "oats \x1b[2J behind"
		at := strings.Index(snippet, "oats")
		s.hits = []sink.Hit{
			{Summary: s.rows[0], Seq: 20, At: began, Kind: schema.TagMessage, Role: schema.User, Snippet: snippet, Matches: [][2]int{{at, at + 4}}},
			{Summary: s.rows[0], Seq: 400, At: began, Kind: schema.TagMessage, Role: schema.Assistant, Snippet: "oats", Matches: [][2]int{{0, 4}}},
		}
		x := newStage(t, s, 80, 20, nil)
		x.keys("s", ".", "enter")
		x.until("type a word")
		x.keys("backspace", "o", "a", "t", "s")
		screen := x.until("2 hits", "3 events not indexed yet", "20  user", "400  agent", "oats ␛[2J behind")
		require.NotContains(t, x.m.View().Content, "\x1b[2J")
		for line := range strings.Lines(screen) {
			require.LessOrEqual(t, ansi.StringWidth(strings.TrimSuffix(line, "\n")), 80)
		}
		x.keys("enter")
		x.until("▌  number 20.")
		x.keys("q", "down", "enter")
		x.until("▌  number 400.")
		x.keys("q", "esc")
		x.until("1 transcript")
	})
}

func TestASearchIsDroppedAndAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf("Sacks")
		s.hits = []sink.Hit{{Summary: s.rows[0], Seq: 1, At: began, Snippet: "oats"}}
		stuck := func(is bool, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stuck, s.fails = is, err
		}
		x := newStage(t, s, 80, 20, nil)
		x.until("Sacks")
		stuck(true, nil)
		x.keys("s", "o", "enter")
		x.until("searching …")
		x.keys("backspace")
		x.until("all words must be in one event")
		synctest.Wait()
		s.mu.Lock()
		require.Equal(t, 1, s.ended, "nobody waits for it")
		s.mu.Unlock()
		stuck(false, errors.New("the index is away"))
		x.keys("o", "enter")
		x.until("cannot search: the index is away")
		stuck(false, nil)
		x.keys("enter")
		x.until("1 hit")
	})
}

func TestAnErrorOfAFurtherPageLeavesTheHits(t *testing.T) {
	x := newSearch(&shared{crew: newCrew(t.Context())})
	x.take(answered{text: "oats", page: sink.HitPage{Hits: make([]sink.Hit, 2), Next: "next"}})
	require.NotNil(t, x.fill())
	x.take(answered{asked: x.asked, text: "oats", more: true, err: errors.New("away")})
	require.Len(t, x.hits, 2)
	require.NotNil(t, x.fill(), "it is asked for again")
}

// drawn are the rows of the screen on top as it draws them, before the console cuts what does not fit.
func (s *stage) drawn() []string {
	if s.m.help != nil {
		return s.m.help.view(s.m.width, s.m.height)
	}
	return s.m.top().view()
}

// sizes are those at which screens fit by themselves.
var sizes = [][2]int{{100, 30}, {80, 24}, {40, 10}, {20, 6}}

func TestEveryScreenFits(t *testing.T) {
	s := newShelf("Sacks in the store, and what is behind it 貯蔵庫の袋", "")
	s.fill(0, 30)
	s.store(0, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: "w", Boundary: schema.BoundaryTurnEnd,
		Text: strings.Repeat("貯蔵庫の袋", 40) + " " + strings.Repeat("sack", 60) + "\n\n```\n" + strings.Repeat("code ", 50) + "\n```"})
	s.hits = []sink.Hit{{Summary: s.rows[0], Seq: 20, At: began, Kind: schema.TagMessage, Role: schema.User, Snippet: strings.Repeat("袋 before ", 30)}}
	for _, size := range append([][2]int{{9, 3}, {1, 1}}, sizes...) {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			x := newStage(t, s, size[0], size[1], nil)
			fits := func(after ...string) {
				t.Helper()
				rows := strings.Split(x.m.View().Content, "\n")
				require.Len(t, rows, size[1], after)
				for _, r := range rows {
					require.LessOrEqual(t, ansi.StringWidth(r), size[0], "%s: %s", after, r)
				}
				if size[0] < 20 { // there it is cut
					return
				}
				drawn := x.drawn()
				require.LessOrEqual(t, len(drawn), size[1], "%s: %q", after, drawn)
				for _, r := range drawn {
					require.LessOrEqual(t, ansi.StringWidth(r), size[0], "%s: %q", after, r)
				}
			}
			fits()
			x.untilThat(func(string) bool { return len(x.m.list.rows) > 0 }, "the list is read")
			fits("read")
			for _, key := range []string{"/", "x", "esc", "?", "down", "x", "s", "o", "enter", "wait hits", "?", "esc", "enter", "wait open", "pgup", ":", "9", "enter", "f", "o", "r", "t", "?", "x", "R", "space", "?", "x", "q", "q"} {
				switch key {
				case "wait hits":
					x.untilThat(func(string) bool { return len(x.m.top().(*search).hits) > 0 }, "it is searched")
				case "wait open":
					x.untilThat(func(string) bool { return x.m.top().(*transcript).opened }, "it is opened")
				default:
					x.keys(key)
				}
				fits(key)
			}
		})
	}
}

// TestEveryRowCanBeReached by keys, and is in sight then: of the list, of what was found, of the help and of a transcript.
func TestEveryRowCanBeReached(t *testing.T) {
	const rows = 40
	var titles []string
	for i := range rows {
		titles = append(titles, fmt.Sprintf("T%02d", i))
	}
	s := newShelf(titles...)
	s.fill(0, rows)
	for i := range rows {
		s.hits = append(s.hits, sink.Hit{Summary: s.rows[i], Seq: uint64(100 + i), At: began, Snippet: fmt.Sprintf("S%02d", i)})
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			x := newStage(t, s, size[0], size[1], nil)
			x.untilThat(func(string) bool { return len(x.m.list.rows) == rows }, "the list is read")
			for i, title := range titles {
				if i > 0 {
					x.keys("down")
				}
				require.Contains(t, chosenRow(x), title)
			}
			for i := range titles {
				if i > 0 {
					x.keys("up")
				}
				require.Contains(t, chosenRow(x), titles[rows-1-i])
			}
			clicked(t, x, titles)

			x.keys("?")
			shown := map[string]bool{}
			for range 2 * rows {
				for _, r := range strings.Split(x.screen(), "\n") {
					shown[strings.TrimSpace(r)] = true
				}
				x.keys("down")
			}
			require.NotNil(t, x.m.help)
			words := strings.Join(slices.Collect(maps.Keys(shown)), " ")
			for _, k := range x.m.help.keys {
				for _, part := range strings.Fields(k.key + " " + k.does) {
					require.Contains(t, words, part, "of what the help says of %q", k.key)
				}
			}
			x.keys("x", "s", "o", "enter")
			x.untilThat(func(string) bool { return len(x.m.top().(*search).hits) == rows }, "it is searched")
			for i := range rows {
				if i > 0 {
					x.keys("down")
				}
				at := slices.IndexFunc(strings.Split(x.screen(), "\n"), func(r string) bool { return strings.HasPrefix(r, "▌") })
				require.GreaterOrEqual(t, at, 0, x.screen())
				require.Contains(t, strings.Split(x.screen(), "\n")[at+1], fmt.Sprintf("S%02d", i), x.screen())
			}
			x.keys("esc", "home", "enter")
			x.untilThat(func(screen string) bool { return strings.Contains(screen, fmt.Sprintf("number %d.", rows)) }, "it is opened")
			x.keys("home")
			for i := 1; i <= rows; i++ {
				for n := 0; !strings.Contains(x.screen(), fmt.Sprintf("number %d.", i)); n++ {
					require.Less(t, n, 10, "event %d cannot be scrolled to:\n%s", i, x.screen())
					x.keys("down")
				}
			}
		})
	}
}

// clicked chooses each row that is in sight with the mouse, from the beginning of the list.
func clicked(t *testing.T, x *stage, titles []string) {
	t.Helper()
	x.keys("home")
	for y := listTop; y < x.m.height-1 && y-listTop < len(titles); y++ {
		if y > listTop { // a click on what is chosen opens it
			x.tell(tea.MouseClickMsg{Button: tea.MouseLeft, Y: y})
		}
		require.Contains(t, chosenRow(x), titles[y-listTop])
		require.Contains(t, strings.Split(x.screen(), "\n")[y], titles[y-listTop])
	}
	x.tell(tea.MouseClickMsg{Button: tea.MouseLeft, Y: x.m.height - 1}) // the last line is none
	x.keys("home")
}
