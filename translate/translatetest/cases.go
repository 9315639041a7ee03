package translatetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// CasesVariable names the environment variable with more case files: absolute paths separated by ":".
const CasesVariable = "STENO_CASES"

// Case is a hand-written conversation and what a correct transcript of it holds.
type Case struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Dialect   string            `json:"dialect"`
	Method    string            `json:"method"`
	Before    []json.RawMessage `json:"before"` // what else the case needs to have happened
	Frames    []json.RawMessage `json:"frames"`
	Durable   []Entry           `json:"durable"`
	Ephemeral []Entry           `json:"ephemeral"`
	Note      string            `json:"note"`

	given bool // durable was in the file, be it empty
}

// Entry is one line of a case: a kind and what is compared of it, such as
// ["Message","assistant","Hello"] or ["Raw","session/prompt"].
type Entry []any

// UnmarshalJSON notes whether the case says what it expects.
func (c *Case) UnmarshalJSON(data []byte) error {
	type plain Case
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	_, given := members["durable"]
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	c.given = given
	return nil
}

// Cases runs the cases whose ids begin with prefix: those of the testdata file, and those of the
// files that CasesVariable names. A case of such a file that does not say what it expects takes it,
// and what happened before, from the testdata case of the same id; where neither says it, the case
// fails.
func Cases(t *testing.T, prefix, testdata string, translate func(t *testing.T, c Case) []schema.Event) {
	own := readCases(t, testdata, prefix)
	require.NotEmpty(t, own, "no cases in %s", testdata)
	all := maps.Clone(own)
	for _, file := range filepath.SplitList(os.Getenv(CasesVariable)) {
		require.True(t, filepath.IsAbs(file), "%s: %q is not an absolute path", CasesVariable, file)
		for id, c := range readCases(t, file, prefix) {
			if !c.given {
				c.Durable, c.Ephemeral, c.given = own[id].Durable, own[id].Ephemeral, own[id].given
				c.Before = own[id].Before
			}
			all[id] = c
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		c := all[id]
		t.Run(id, func(t *testing.T) {
			require.True(t, c.given, "case %s (%s) does not say what it expects, and testdata has no such case", id, c.Title)
			events := translate(t, c)
			if err := c.Check(events); err != nil {
				t.Fatalf("case %s (%s): %v\ntranscript:\n%s", id, c.Title, err, describe(events))
			}
		})
	}
}

func readCases(t *testing.T, file, prefix string) map[string]Case {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	cases := map[string]Case{}
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 64<<20)
	for n := 1; scanner.Scan(); n++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var c Case
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &c), "%s:%d", file, n)
		if strings.HasPrefix(c.ID, prefix) {
			cases[c.ID] = c
		}
	}
	require.NoError(t, scanner.Err())
	return cases
}

// Check compares a transcript with what the case expects. Message, ToolCall, ToolResult and Stop are
// compared exactly and in order; the other entries must occur where they are listed, and what is not
// listed of their kinds is passed over.
func (c *Case) Check(events []schema.Event) error {
	next := 0
	var ephemeral []Entry
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			ephemeral = append(ephemeral, entryOf(e))
			continue
		}
		switch {
		case next < len(c.Durable) && c.Durable[next].matches(e, strings.Contains(c.Method, "*")):
			next++
		case strict(e.Kind):
			if next == len(c.Durable) {
				return fmt.Errorf("event %s: %v is not expected: the list has ended", e.Origin(), entryOf(e))
			}
			return fmt.Errorf("event %s: want %v, got %v", e.Origin(), c.Durable[next], entryOf(e))
		}
	}
	if next < len(c.Durable) {
		return fmt.Errorf("want %v, and the transcript has ended", c.Durable[next])
	}
	if len(c.Ephemeral) > 0 {
		if len(c.Ephemeral) != len(ephemeral) {
			return fmt.Errorf("want %d deltas %v, got %v", len(c.Ephemeral), c.Ephemeral, ephemeral)
		}
		for i, want := range c.Ephemeral {
			if want.text(0) != ephemeral[i].text(0) || want.text(len(want)-1) != ephemeral[i].text(len(ephemeral[i])-1) {
				return fmt.Errorf("delta %d: want %v, got %v", i, want, ephemeral[i])
			}
		}
	}
	return nil
}

func strict(k schema.Kind) bool {
	switch k.(type) {
	case *schema.Message, *schema.ToolCall, *schema.ToolResult, *schema.Stop:
		return true
	}
	return false
}

// entryOf writes an event as a case would.
func entryOf(e *schema.Event) Entry {
	switch k := e.Kind.(type) {
	case *schema.Message:
		if k.Channel == schema.Thought {
			return Entry{"Message", "thought", k.Text}
		}
		return Entry{"Message", strings.ToLower(string(k.Role)), k.Text}
	case *schema.ToolCall:
		return Entry{"ToolCall", k.Tool, k.CallID, value(k.Input)}
	case *schema.ToolResult:
		return Entry{"ToolResult", k.CallID, value(k.Output), k.IsError}
	case *schema.ToolState:
		return Entry{"ToolState", k.ToolID, string(k.State.Phase)}
	case *schema.Stop:
		return Entry{"Stop", string(k.Reason), k.Detail}
	case *schema.Raw:
		return Entry{"Raw", k.Source}
	case *schema.Delta:
		return Entry{"Delta", k.TextFragment}
	case *schema.Progress:
		switch d := k.Detail.(type) {
		case *schema.Note:
			return Entry{"Progress", "Note", d.Text}
		case *schema.Thinking:
			return Entry{"Progress", "Thinking", d.Text}
		}
		return Entry{"Progress", k.Detail.DetailTag()}
	}
	return Entry{e.Kind.Tag()}
}

// value is JSON as encoding/json reads it, numbers by their text.
func value(j schema.JSON) any {
	if len(j) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Sprintf("not JSON: %s", j)
	}
	return v
}

func (want Entry) text(i int) string {
	if i < 0 || i >= len(want) {
		return ""
	}
	s, _ := want[i].(string)
	return s
}

// matches compares an entry with an event. With anyCall the case does not say which call it is about,
// and of a label only the last element counts.
func (want Entry) matches(e *schema.Event, anyCall bool) bool {
	if want.text(0) == "Progress" && want.text(1) == "Thinking" { // an older way to write a thought
		want = Entry{"Message", "thought", want.text(2)}
	}
	got := entryOf(e)
	if want.text(0) != got.text(0) {
		return false
	}
	switch got.text(0) {
	case schema.TagMessage:
		return strings.EqualFold(want.text(1), got.text(1)) && want.text(2) == got.text(2)
	case schema.TagStop:
		detailed := got.text(1) == string(schema.StopError) || got.text(1) == string(schema.StopOther)
		return want.text(1) == got.text(1) && (!detailed || len(want) < 3 || want.text(2) == got.text(2))
	case schema.TagRaw:
		return sourceMatches(want.text(1), got.text(1), anyCall)
	}
	return equal(want, got)
}

// sourceMatches compares labels; where the case writes a "*", by their last element only.
func sourceMatches(want, got string, anyCall bool) bool {
	if !anyCall && !strings.Contains(want, "*") {
		return want == got
	}
	ok, err := path.Match(path.Base(want), path.Base(got))
	return err == nil && ok
}

// equal compares entries as JSON, so that numbers are compared by value.
func equal(a, b Entry) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

func describe(events []schema.Event) string {
	var b strings.Builder
	for i := range events {
		e := &events[i]
		line, err := json.Marshal(entryOf(e))
		if err != nil {
			line = []byte(err.Error())
		}
		fmt.Fprintf(&b, "%6s session %d %v %s\n", e.Origin(), e.Session, e.Flags, line)
	}
	return b.String()
}
