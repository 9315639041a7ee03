package interop

import (
	"encoding/json"
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// event is what a transcript needs of an event.
type event struct {
	StoreSeq int `json:"store_seq"`
	Kind     struct {
		Kind     string
		Role     struct{ Role string }
		Channel  string
		Text     string
		Revision int
		Detail   struct{ Detail, Text string }
		Reason   struct{ Stop, Message, Reason string }
		Source   string
	}
}

// read makes a transcript of the lines of steno show, whose numbers have no gap.
func read(t *testing.T, lines []string) (told transcript) {
	t.Helper()
	for i, line := range lines {
		var e event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		k := e.Kind
		switch k.Kind {
		case "Message":
			told = append(told, fmt.Sprintf("%s %s %q revision %d", k.Role.Role, k.Channel, k.Text, k.Revision))
		case "Progress":
			require.Equal(t, "Note", k.Detail.Detail, line)
			told = append(told, fmt.Sprintf("note %q", k.Detail.Text))
		case "Stop":
			told = append(told, fmt.Sprintf("stop %s %q", k.Reason.Stop, k.Reason.Message+k.Reason.Reason))
		case "Raw":
			if path.Base(path.Dir(k.Source)) == "part" {
				told = append(told, "part "+path.Base(k.Source))
			}
		default:
			told = append(told, k.Kind)
		}
		require.Equal(t, i+1, e.StoreSeq, line)
	}
	return told
}
