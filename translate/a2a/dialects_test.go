package a2a

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate/a2a/a2atest"
	"github.com/steno-io/steno/translate/translatetest"
)

// durable writes a transcript without what a dialect gives: ids, times, labels of frames, and how a
// frame was read.
func durable(events []schema.Event) (lines []string) {
	for i := range events {
		e := &events[i]
		if e.Ephemeral {
			continue
		}
		switch k := e.Kind.(type) {
		case *schema.Message:
			lines = append(lines, fmt.Sprintf("%s %s %q revision %d", k.Role, k.Channel, k.Text, k.Revision))
		case *schema.Progress:
			lines = append(lines, fmt.Sprintf("note %q", k.Detail.(*schema.Note).Text))
		case *schema.Stop:
			lines = append(lines, fmt.Sprintf("stop %s %q", k.Reason, k.Detail))
		case *schema.Raw:
			if path.Base(path.Dir(k.Source)) == "part" {
				lines = append(lines, "part "+path.Base(k.Source))
			}
		default:
			lines = append(lines, e.Kind.Tag())
		}
	}
	return lines
}

var forms = []string{"v03-jsonrpc-stream-", "v03-rest-stream-", "v10-jsonrpc-send-", "v10-jsonrpc-stream-", "v10-rest-stream-"}

// The same scenario gives one transcript, whatever its dialect and binding, sent or streamed.
func TestADialectLeavesNoTrace(t *testing.T) {
	all := a2atest.Recordings(t, "testdata/a2a-go.jsonl")
	for scenario, want := range map[string][]string{
		"happy": {
			`note "Looking at the order list"`, `Assistant answer "Seven <b>open</b> orders in Łódź." revision 0`,
			"part data", "part raw", "part url", `stop EndTurn ""`,
		},
		"auth":         {`note "Looking at the order list"`, `Assistant answer "Sign in first" revision 0`, `note "interrupted: auth-required"`},
		"input":        {`note "Looking at the order list"`, `Assistant answer "Which branch?" revision 0`, `note "interrupted: input-required"`},
		"reject":       {`note "Looking at the order list"`, `Assistant answer "Out of scope" revision 0`, `stop Other "rejected"`},
		"message-only": {`Assistant answer "Only a message." revision 0`, `stop EndTurn ""`},
		"fail":         {`note "Looking at the order list"`, `Assistant answer "Upstream said no" revision 0`, `stop Error "Upstream said no"`},
		"boom":         {`stop Error ""`},
		"slow":         nil,
	} {
		want = append([]string{fmt.Sprintf("User answer %q revision 0", "orders "+scenario)}, want...)
		for i, form := range forms {
			frames := all[form+scenario]
			require.NotEmpty(t, frames, form+scenario)
			frames = a2atest.Ending(frames)
			got := durable(translatetest.Fold(Translator{}, frames))
			if scenario == "slow" { // it is told by the others
				if i == 0 {
					want = got
				}
				require.Len(t, got, 7)
			}
			require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), form+scenario)
		}
	}
}

func TestEveryRecordingHasTheProperties(t *testing.T) {
	for name, frames := range a2atest.Recordings(t, "testdata/a2a-go.jsonl") {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			translatetest.Properties(t, Translator{}, frames)
			translatetest.Properties(t, Translator{}, a2atest.Ending(frames))
		})
	}
}
