package main

import (
	"fmt"
	"io"

	"github.com/steno-io/steno/schema"
)

// paper prints what a console tells: nothing that was printed can be taken back, so a text that begins anew
// is printed again.
type paper struct {
	out   io.Writer
	end   func() // is called when the transcript has ended
	now   Message
	shown map[Message]int // open messages: bytes of their text that are printed
}

// Event implements Screen.
func (p *paper) Event(number uint64, _ []byte, e *schema.Event) error {
	if m, ok := e.Kind.(*schema.Message); ok {
		message := Message{m.Role == schema.User, m.Channel, m.MessageID}
		n := p.shown[message]
		if n < len(m.Text) { // its last pieces may come later, or never
			if err := p.Piece(message, m.Text[n:], n == 0); err != nil {
				return err
			}
		}
		delete(p.shown, message)
	}
	return p.line("%d %s", number, e.Kind.Tag())
}

// Open implements Screen.
func (p *paper) Open(messages []schema.OpenMessage) error {
	clear(p.shown)
	for _, m := range messages {
		if err := p.Piece(Message{m.Role == schema.User, m.Channel, m.MessageID}, m.Text, true); err != nil {
			return err
		}
	}
	return nil
}

// Piece implements Screen.
func (p *paper) Piece(m Message, text string, anew bool) error {
	if p.shown == nil {
		p.shown = map[Message]int{}
	}
	if anew {
		p.shown[m] = 0
	}
	p.shown[m] += len(text)
	if anew || p.now != m {
		who := string(m.Channel)
		if m.User {
			who = "user"
		}
		if err := p.line("%s:", who); err != nil {
			return err
		}
		p.now = m
	}
	_, err := io.WriteString(p.out, text)
	return err
}

// About implements Screen.
func (p *paper) About(about schema.About) error {
	if about.Status != schema.StatusEnded && about.Status != schema.StatusAbandoned {
		return nil
	}
	p.end()
	return p.line("%s", about.Status)
}

// Lag implements Screen.
func (p *paper) Lag(why string) error { return p.line("… %s", why) }

// line prints a line of its own, behind the text that stands there.
func (p *paper) line(format string, args ...any) error {
	if p.now != (Message{}) {
		p.now = Message{}
		format = "\n" + format
	}
	_, err := fmt.Fprintf(p.out, format+"\n", args...)
	return err
}
