package reading

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
)

// Card is a tool call as it stands.
type Card struct {
	Key     string // of all cards of a transcript
	ID      string
	Name    string
	Title   string
	Input   schema.JSON
	Phase   schema.ToolPhase
	Output  schema.JSON
	IsError bool
	Asks    []Ask
	Edits   []Edit
	Flags   []schema.Flag
	Life    []Moment // as Tools.Gather found it
}

// Moment is when a tool came into a phase.
type Moment struct {
	Seq   uint64 // of the event that says so
	At    time.Time
	Tone  Tone
	Mark  string
	Words string
	phase schema.Phase
	told  string // progress
}

// lives notes the phase that a card has come into.
func (c *Card) lives(e *schema.Event) {
	if _, ok := e.Kind.(*schema.ToolState); !ok {
		return
	}
	m := Moment{Seq: e.StoreSeq, At: e.EmittedAt, phase: c.Phase.Phase, told: c.Phase.Progress}
	if n := len(c.Life); n > 0 && c.Life[n-1].phase == m.phase && c.Life[n-1].told == m.told {
		return
	}
	m.Tone, m.Mark, m.Words = c.Words()
	if c.Phase.ConfirmedBy != "" {
		m.Words += " · confirmed by " + OneLine(string(c.Phase.ConfirmedBy))
	}
	c.Life = append(c.Life, m)
}

// Update takes over what an event says of a tool, and reports whether its input is new.
func (c *Card) Update(e *schema.Event) (newInput bool) {
	before := c.Input
	switch k := e.Kind.(type) {
	case *schema.ToolCall:
		c.Name, c.Input, c.Flags = k.Tool, given(k.Input), e.Flags
	case *schema.ToolResult:
		c.IsError = k.IsError
		if output := given(k.Output); output != nil {
			c.Output = output
		}
	case *schema.ToolState:
		c.Name, c.Title, c.Phase = k.Name, k.Title, k.State
		for _, input := range []schema.JSON{k.Input, k.State.Input, k.State.PartialInput} {
			if given(input) != nil {
				c.Input = input
				break
			}
		}
		if c.Output == nil && k.State.Output != nil {
			c.Output = outputValue(*k.State.Output)
		}
	}
	return c.Input != nil && !bytes.Equal(before, c.Input)
}

// outputValue is a state's output, which is a string, or the JSON text of anything else.
func outputValue(output string) schema.JSON {
	if strings.HasPrefix(output, "{") || strings.HasPrefix(output, "[") {
		if json.Valid([]byte(output)) {
			return schema.JSON(output)
		}
	}
	return schema.AppendString(nil, output)
}

// given is a value that is neither absent nor null nor without members.
func given(value schema.JSON) schema.JSON {
	switch string(value) {
	case "", "null", "{}", "[]":
		return nil
	}
	return value
}

// Decide answers the first question that has no answer yet.
func (c *Card) Decide(a Ask) {
	for i := range c.Asks {
		if c.Asks[i].Decided == "" {
			c.Asks[i] = a
			return
		}
	}
}

// Label is the tool's name, and its title where that says more.
func (c *Card) Label() (name, title string) {
	name, title = OneLine(c.Name), OneLine(c.Title)
	switch {
	case name == "" && title == "":
		return OneLine(c.ID), ""
	case name == "" || name == title:
		return title, ""
	}
	return name, title
}

// Words says the phase by a mark and in words.
func (c *Card) Words() (tone Tone, mark, words string) {
	p := &c.Phase
	elapsed := ""
	if p.ElapsedMs != nil {
		elapsed = " · " + Span(millis(*p.ElapsedMs))
	}
	switch p.Phase {
	case schema.Streaming:
		return Quiet, MarkCalled, "called"
	case schema.WaitingConfirmation:
		return Warn, MarkWaiting, "waits for permission"
	case schema.Executing:
		if p.Progress != "" {
			elapsed += " · " + OneLine(p.Progress)
		}
		return Plain, MarkRunning, "running" + elapsed
	case schema.Completed:
		if p.Success {
			return Good, MarkGood, "done" + elapsed
		}
		return Bad, MarkBad, "failed" + elapsed
	case schema.Cancelled:
		words := map[schema.CancelReason]string{schema.Denied: "denied", schema.Interrupted: "interrupted", schema.Timeout: "timed out"}[p.Reason]
		if words == "" {
			words = "cancelled"
		}
		if p.Message != "" {
			words += ": " + OneLine(p.Message)
		}
		return Bad, MarkBad, words
	case "":
		if c.Output != nil && c.IsError {
			return Bad, MarkBad, "failed"
		} else if c.Output != nil {
			return Good, MarkGood, "done"
		}
		return Quiet, MarkCalled, "called"
	}
	return Plain, MarkCalled, OneLine(string(p.Phase))
}

func millis(n uint64) time.Duration { return time.Duration(min(n, 1<<52)) * time.Millisecond }

// Result is the tool's output as lines of text; empty where it has none, or edits only.
func (c *Card) Result() string {
	if c.Output == nil || OnlyEdits(c.Output) {
		return ""
	}
	return strings.TrimRight(Readable(c.Output), "\n")
}
