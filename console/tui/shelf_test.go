package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/follow"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// shelf is a ledger in memory, and followers of it.
type shelf struct {
	mu     sync.Mutex
	rows   []sink.Summary
	events map[schema.Transcript][]schema.Event
	hits   []sink.Hit
	fails  error // of every read
	stuck  bool  // lists are not answered
	breaks int   // so often following fails, behind what is stored
	heard  map[schema.Transcript]func(follow.Item) error
	typed  []schema.Event
	gave   int           // rows of lists
	ended  int           // searches that were not answered
	leaves chan struct{} // each entry ends a follower
}

var began = time.Date(2026, 11, 27, 9, 14, 0, 0, time.UTC)

func newShelf(titles ...string) *shelf {
	s := &shelf{events: map[schema.Transcript][]schema.Event{}, heard: map[schema.Transcript]func(follow.Item) error{}}
	for i, title := range titles {
		key := schema.Transcript{Identity: schema.Identity{Namespace: "default", Workflow: "mill", Run: fmt.Sprintf("run-%d", i), Attempt: 1}, Session: 1}
		s.rows = append(s.rows, sink.Summary{
			Key: key.String(), Transcript: key, Protocol: schema.ACP, Agent: "mill", Title: title, Status: schema.StatusEnded,
			FirstAt: began, LastAt: began, AddedAt: began,
		})
	}
	return s
}

// fill gives a transcript so many events: a message each.
func (s *shelf) fill(row, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.store(row, &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: fmt.Sprint(len(s.events[s.rows[row].Transcript])), Boundary: schema.BoundaryTurnEnd})
	}
}

// store adds an event, which says its number where it is a message without text.
func (s *shelf) store(row int, kind schema.Kind) schema.Event {
	r := &s.rows[row]
	seq := uint64(len(s.events[r.Transcript])) + 1
	if m, ok := kind.(*schema.Message); ok && m.Text == "" {
		m.Text = fmt.Sprintf("number %d.\nIts second line.", seq)
	}
	e := schema.Event{Transcript: r.Transcript, AgentRole: "agent", WorkerSeq: seq, StoreSeq: seq, Frames: []schema.Range{{seq, seq}},
		EmittedAt: began.Add(time.Duration(seq) * time.Second), Kind: kind, Source: schema.Source{Protocol: schema.ACP, Dialect: "1", Translator: "acp/1"}}
	s.events[r.Transcript] = append(s.events[r.Transcript], e)
	r.Head, r.Events, r.LastAt = seq, seq, e.EmittedAt
	return e
}

// say stores an event and tells who follows.
func (s *shelf) say(row int, kind schema.Kind) {
	s.mu.Lock()
	e := s.store(row, kind)
	emit := s.heard[e.Transcript]
	s.mu.Unlock()
	if emit != nil {
		_ = emit(&follow.Event{Seq: e.StoreSeq, Event: e})
	}
}

// tell tells who follows something that is not stored.
func (s *shelf) tell(row int, item follow.Item) {
	s.mu.Lock()
	emit := s.heard[s.rows[row].Transcript]
	s.mu.Unlock()
	_ = emit(item)
}

func (s *shelf) followed(row int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard[s.rows[row].Transcript] != nil
}

func (s *shelf) Transcripts(ctx context.Context, q sink.Query) (sink.Page, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return sink.Page{}, ctx.Err()
	}
	var rows []sink.Summary
	for _, r := range s.rows {
		if q.Match(r) {
			rows = append(rows, r)
		}
	}
	page := pageOfRows(rows, q.After)
	s.gave += len(page.Transcripts)
	return page, s.fails
}

// given is how many rows of lists were read.
func (s *shelf) given() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gave
}

func (s *shelf) Transcript(_ context.Context, key schema.Transcript) (sink.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		if r.Transcript == key {
			return r, s.fails
		}
	}
	return sink.Summary{}, sink.ErrNotFound
}

func (s *shelf) Events(_ context.Context, key schema.Transcript, after uint64, limit int) iter.Seq2[sink.Event, error] {
	s.mu.Lock()
	events, err := s.events[key], s.fails
	s.mu.Unlock()
	return func(yield func(sink.Event, error) bool) {
		if err != nil {
			yield(sink.Event{}, err)
			return
		}
		events = events[min(after, uint64(len(events))):]
		if limit > 0 {
			events = events[:min(limit, len(events))]
		}
		for _, e := range events {
			if !yield(sink.Event{Seq: e.StoreSeq, Bytes: e.AppendJSON(nil)}, nil) {
				return
			}
		}
	}
}

func (s *shelf) Search(ctx context.Context, q sink.SearchQuery) (sink.HitPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		s.ended++
		return sink.HitPage{}, ctx.Err()
	}
	if strings.Trim(q.Text, ". ") == "" {
		return sink.HitPage{}, sink.ErrNoWords
	}
	return sink.HitPage{Hits: s.hits, Indexing: sink.Indexing{Behind: 3}}, s.fails
}

// follow gives what is stored behind a number, and then what is told.
func (s *shelf) follow(ctx context.Context, key schema.Transcript, after uint64, emit func(follow.Item) error) error {
	s.mu.Lock()
	for _, e := range s.events[key][min(after, uint64(len(s.events[key]))):] {
		_ = emit(&follow.Event{Seq: e.StoreSeq, Event: e})
	}
	if s.breaks > 0 {
		s.breaks--
		s.mu.Unlock()
		return errors.New("the ledger has gone")
	}
	s.heard[key] = emit
	s.mu.Unlock()
	var err error
	select {
	case <-ctx.Done():
	case <-s.leaves:
		err = errors.New("the follower has gone")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.heard, key)
	return err
}

func (s *shelf) replay(context.Context, schema.Transcript) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		s.mu.Lock()
		err := s.fails
		s.mu.Unlock()
		if err != nil {
			yield(schema.Event{}, err)
			return
		}
		for _, e := range s.typed {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// stage runs a console without a terminal.
type stage struct {
	t      *testing.T
	m      *model
	msgs   chan tea.Msg
	frames int // that were drawn of what came
}

func newStage(t *testing.T, s *shelf, width, height int, open *sink.Summary) *stage {
	ctx, end := context.WithCancel(t.Context())
	c := newCrew(ctx)
	m := newModel(Options{Ledger: s, Follow: s.follow, Typed: s.replay, Listed: func(r sink.Summary) bool { return !r.Empty }, Open: open, Poll: 20 * time.Millisecond}, c)
	st := &stage{t: t, m: m, msgs: make(chan tea.Msg)}
	t.Cleanup(func() {
		left := make(chan struct{})
		go func() { defer close(left); c.leave() }()
		for waiting := true; waiting; { // commands that are over hand in what they have
			select {
			case <-st.msgs:
			case <-left:
				waiting = false
			}
		}
		end()
	})
	st.tell(tea.WindowSizeMsg{Width: width, Height: height})
	st.start(m.Init())
	return st
}

func (s *stage) tell(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	s.start(cmd)
}

// start runs a command as the terminal's driver does.
func (s *stage) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				s.start(c)
			}
		default:
			select {
			case s.msgs <- msg:
			case <-s.t.Context().Done():
			}
		}
	}()
}

// keys presses keys: names, or single characters.
func (s *stage) keys(keys ...string) {
	s.t.Helper()
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
	}
	for _, k := range keys {
		if k == " " {
			k = "space"
		}
		msg := tea.KeyPressMsg{Code: named[k]}
		switch {
		case strings.HasPrefix(k, "ctrl+"):
			msg = tea.KeyPressMsg{Code: rune(k[5]), Mod: tea.ModCtrl}
		case k == "space":
			msg.Text = " "
		case msg.Code == 0:
			msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		}
		require.Equal(s.t, k, msg.String())
		s.tell(msg)
	}
}

// screen is what is shown, without colours.
func (s *stage) screen() string { return ansi.Strip(s.m.View().Content) }

// until takes messages until all parts are shown.
func (s *stage) until(parts ...string) string {
	s.t.Helper()
	return s.untilThat(func(screen string) bool {
		for _, part := range parts {
			if !strings.Contains(screen, part) {
				return false
			}
		}
		return true
	}, parts)
}

func (s *stage) untilThat(is func(screen string) bool, what any) string {
	s.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	for {
		if screen := s.screen(); is(screen) {
			return screen
		}
		select {
		case msg := <-s.msgs:
			if m, ok := msg.(to); ok {
				if _, ok := m.msg.(came); ok {
					s.frames++
				}
			}
			s.tell(msg)
		case <-deadline.C:
			s.t.Fatalf("never shown: %v\n%s", what, s.screen())
		}
	}
}
