package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/steno-io/steno/sink"
)

// screen is one of the console's screens. It is changed by update alone.
type screen interface {
	// init gives what begins with it.
	init() tea.Cmd
	// update takes a message, and says where to go from here, if anywhere else.
	update(msg tea.Msg) (tea.Cmd, turn)
	// resize is told first, and whenever it changes.
	resize(width, height int)
	// view gives its rows.
	view() []string
	// typing reports whether keys are text.
	typing() bool
	// keys is its part of the help.
	keys() []keyHelp
	// close ends what runs for it.
	close()
}

// turn is where a screen wants to go.
type turn any

type (
	back   struct{}
	openAt struct { // a transcript, at the event of a number; 0 = at its end
		about sink.Summary
		seq   uint64
	}
	neighbour struct { // of the transcript that is shown
		of string // its key
		by int
	}
	replayed struct { // the transcript that is shown, from a number; 0 = from its first event
		about sink.Summary
		seq   uint64
	}
	searched struct{}
)

// to is a message for one screen.
type to struct {
	screen screen
	msg    tea.Msg
}

// model is the console: screens on top of one another, the list at the bottom.
type model struct {
	*shared
	width, height int
	list          *list
	stack         []screen
	help          *help
}

// shared is what all screens work with.
type shared struct {
	o    Options
	crew *crew
	look look // as it was set last
}

func newModel(o Options, c *crew) *model {
	s := &shared{o: o, crew: c}
	m := &model{shared: s, list: newList(s)}
	m.stack = []screen{m.list}
	if o.Open != nil {
		m.list.key = o.Open.Key
		m.stack = append(m.stack, newTranscript(s, *o.Open, 0))
	}
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	var cmds []tea.Cmd
	for _, s := range m.stack {
		cmds = append(cmds, s.init())
	}
	return tea.Batch(cmds...)
}

func (m *model) top() screen { return m.stack[len(m.stack)-1] }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		for _, s := range m.stack {
			s.resize(m.width, m.height)
		}
		return m, nil
	case to:
		for _, s := range m.stack {
			if s == msg.screen {
				return m, m.pass(s, msg.msg)
			}
		}
		return m, nil // it is gone
	case tea.KeyPressMsg:
		if cmd, ok := m.key(msg); ok {
			return m, cmd
		}
	case tea.MouseMsg, tea.PasteMsg:
		if m.help != nil {
			return m, nil
		}
	default:
		return m, nil
	}
	return m, m.pass(m.top(), msg)
}

// key takes the keys that mean the same everywhere.
func (m *model) key(k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch k.String() {
	case "ctrl+c":
		return m.quit(), true
	case "ctrl+z":
		return tea.Suspend, true
	}
	if m.help != nil {
		if !m.help.key(k.String(), m.width, m.height) {
			m.help = nil
		}
		return nil, true
	}
	if k.String() == "?" && !m.top().typing() {
		m.help = newHelp(m.top().keys())
		return nil, true
	}
	return nil, false
}

func (m *model) pass(s screen, msg tea.Msg) tea.Cmd {
	cmd, turn := s.update(msg)
	if turn == nil {
		return cmd
	}
	return tea.Batch(cmd, m.turn(turn))
}

// turn goes where a screen wants to.
func (m *model) turn(t turn) tea.Cmd {
	switch t := t.(type) {
	case back:
		if len(m.stack) == 1 {
			return m.quit()
		}
		return m.pop()
	case openAt:
		return m.push(newTranscript(m.shared, t.about, t.seq))
	case replayed:
		return m.push(newReplay(m.shared, t.about, t.seq))
	case searched:
		return m.push(newSearch(m.shared))
	case neighbour:
		next, ok := m.list.neighbour(t.of, t.by)
		if !ok {
			return nil
		}
		return tea.Batch(m.pop(), m.push(newTranscript(m.shared, next, 0)))
	}
	return nil
}

func (m *model) push(s screen) tea.Cmd {
	if t, ok := s.(*transcript); ok {
		m.list.choose(t.page.about)
	}
	m.stack = append(m.stack, s)
	s.resize(m.width, m.height)
	return s.init()
}

func (m *model) pop() tea.Cmd {
	m.top().close()
	m.stack = m.stack[:len(m.stack)-1]
	return nil
}

func (m *model) quit() tea.Cmd {
	for _, s := range m.stack {
		s.close()
	}
	return tea.Quit
}

// View implements tea.Model.
func (m *model) View() tea.View {
	var v tea.View
	if m.width > 0 && m.height > 0 {
		rows := m.top().view()
		if m.help != nil {
			rows = m.help.view(m.width, m.height)
		}
		rows = sheet(rows, m.height)
		for i := range rows {
			rows[i] = ansi.Truncate(rows[i], m.width, "")
		}
		v.Content = strings.Join(rows, "\n")
	}
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}
