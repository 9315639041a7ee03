package web_test

import (
	"fmt"
	"strings"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/schema"
)

// An answer with whatever Markdown has, and the files of a change.
const (
	answer = "## What I changed\n\nThe sacks are counted **once**, in `store.go`:\n\n" +
		"1. read the *whole* shelf\n2. add up\n   - oats\n   - rye\n3. ~~guess~~\n\n" +
		"- [x] counted\n- [ ] weighed\n\n" +
		"```go\nfunc Count(shelf []Sack) (n int) {\n\tfor range shelf {\n\t\tn++\n\t}\n\treturn n\n}\n```\n\n" +
		"| grain | sacks | weight |\n|:------|------:|:------:|\n| oats | 14 | 700 kg |\n| rye | 3 | 150 kg |\n\n" +
		"> Nobody counts what is already ground.\n\nMore is in [the ledger](https://example.org/ledger?year=2026) and at https://example.org.\n\n---\n\nDone.\n"
	before = "package store\n\nfunc Count(shelf []Sack) int {\n\tn := 0\n\tfor i := 0; i < len(shelf); i++ {\n\t\tn = n + 1\n\t}\n\treturn n\n}\n"
	after  = "package store\n\n// Count says how many there are.\nfunc Count(shelf []Sack) (n int) {\n\tfor range shelf {\n\t\tn++\n\t}\n\treturn n\n}\n"
)

// turn has everything that a page shows of a turn.
func turn(c *consoletest.Talk, n int) {
	tool := func(name string) string { return fmt.Sprintf("%s-%d", name, n) }
	c.Prompt(fmt.Sprintf("How many sacks are in store %d? Count them, *please*.", n))
	for _, piece := range strings.SplitAfter("Let me think. The shelf is long, so I read the whole of it, and then I count.", " ") {
		c.Thought(piece)
	}
	c.Plan("Read the shelf", "in_progress", "Count the sacks", "pending", "Tell", "pending")
	c.Chunk("I look into ")
	c.Chunk("the store.")
	c.Tool(tool("read"), "Read the shelf", consoletest.Object{"path": "/w/shelf.txt", "limit": 100})
	c.ToolIs(tool("read"), "in_progress", nil)
	c.ToolIs(tool("read"), "completed", consoletest.Object{"rawOutput": "oats oats oats\nrye rye\n"})
	c.Tool(tool("edit"), "Edit store.go", consoletest.Object{"path": "/w/store.go"})
	c.Ask(tool("edit"), "Edit store.go")
	c.Choose("y")
	c.ToolIs(tool("edit"), "in_progress", nil)
	c.ToolIs(tool("edit"), "completed", consoletest.Object{"content": []any{consoletest.Diff("/w/store.go", before, after)}})
	c.Plan("Read the shelf", "completed", "Count the sacks", "in_progress", "Tell", "pending")
	c.Tool(tool("weigh"), "Weigh", consoletest.Object{"cmd": []string{"scale", "--all"}})
	c.ToolIs(tool("weigh"), "failed", consoletest.Object{"rawOutput": consoletest.Object{"error": "there is no scale", "code": 2}})
	c.Plan("Read the shelf", "completed", "Count the sacks", "completed", "Tell", "completed")
	for _, line := range strings.SplitAfter(answer, "\n") {
		if line != "" {
			c.Chunk(line)
		}
	}
	c.Update("usage_update", consoletest.Object{"used": 812 * n, "size": 200000, "cost": consoletest.Object{"amount": 0.01, "currency": "USD"}})
	c.Line(schema.FromStderr, "warning: the scale is not here")
	c.Stop("end_turn")
}

// turns is a conversation of so many turns, whole.
func turns(s *consoletest.Site, run string, n int) *consoletest.Talk {
	c := s.Talk(s.Namespace, run)
	c.Together(func() {
		c.Title("Sacks in the store")
		for i := range n {
			turn(c, i+1)
		}
		c.Close()
	})
	s.Stored(c.Key, consoletest.Ended)
	return c
}
