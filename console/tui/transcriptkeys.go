package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

func (t *transcript) press(key string) (tea.Cmd, turn) {
	if t.player != nil {
		if cmd, ok := t.control(key); ok {
			return cmd, nil
		}
	}
	page := max(1, t.page.height-2)
	switch key {
	case "down", "j":
		t.page.scroll(1)
	case "up", "k":
		t.page.scroll(-1)
	case "pgdown", "ctrl+f", "space":
		t.page.scroll(page)
	case "pgup", "ctrl+b", "b":
		t.page.scroll(-page)
	case "ctrl+d":
		t.page.scroll(page / 2)
	case "ctrl+u":
		t.page.scroll(-page / 2)
	case "home":
		return t.jump(anchor{seq: 1}), nil
	case "end", "G":
		t.mark = 0
		t.jumps++
		t.page.toEnd()
	case ":", "g":
		t.asks = &prompt{label: ":"}
	case "/":
		t.asks = &prompt{label: "/"}
	case "n", "N":
		if t.find != nil {
			return t.findNext(key == "N"), nil
		}
		if key == "n" {
			return nil, t.next(1)
		}
	case "]":
		return nil, t.next(1)
	case "p", "[":
		return nil, t.next(-1)
	case "f":
		t.look.thoughts = !t.look.thoughts
		t.say(map[bool]string{true: "thoughts folded", false: "thoughts shown"}[t.look.thoughts])
	case "o":
		t.look.bodies = t.look.bodies.next()
		t.say(t.look.bodies.String())
	case "r":
		t.look.raw = !t.look.raw
		t.say(map[bool]string{true: "every raw record", false: "raw records only where nothing else says it"}[t.look.raw])
	case "t":
		t.look.times = !t.look.times
		t.relook()
	case "s":
		return nil, searched{}
	case "R":
		if t.player == nil {
			return nil, replayed{about: t.page.about, seq: t.here()}
		}
	case "esc":
		if t.find != nil {
			t.endFind()
			return nil, nil
		}
		return nil, back{}
	case "q":
		return nil, back{}
	}
	return t.fill(), nil
}

func (t *transcript) next(by int) turn {
	if t.player != nil {
		return nil
	}
	return neighbour{t.page.about.Key, by}
}

// say answers a key that changes the look.
func (t *transcript) say(what string) {
	t.said = what
	t.relook()
}

// here is the number at which a replay begins: that of the first line that is seen, or 0 for the beginning
// where the end is.
func (t *transcript) here() uint64 {
	if t.page.atEnd {
		return 0
	}
	return t.page.anchorOf(t.page.firstSeen()).seq
}

// ask takes what is typed into the prompt.
func (t *transcript) ask(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	switch {
	case ok && k.String() == "esc":
		t.asks = nil
	case ok && k.String() == "enter":
		p := t.asks
		t.asks = nil
		if p.label == "/" {
			return t.findText(p.text)
		}
		return t.goTo(p.text)
	default:
		t.asks.edit(msg)
	}
	return nil
}

// goTo jumps to the number that was typed.
func (t *transcript) goTo(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	seq, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seq == 0 {
		t.said = "a number, from 1 on, such as 118"
		return nil
	}
	if head := t.page.head(); seq > head {
		t.said = "the last event has number " + strconv.FormatUint(head, 10)
	}
	return t.jump(anchor{seq: seq})
}
