package interop

import (
	"fmt"
	"strings"
)

// transcript is what a conversation comes to, without ids, times and the labels of frames.
type transcript []string

func (t transcript) String() string { return strings.Join(t, "\n") }

// told is the transcript that a scenario must give in a form.
func (f form) told(s scenario, streaming bool) transcript {
	user := func(text string) string { return fmt.Sprintf("User answer %q revision 0", text) }
	switch s.name {
	case "no-task-first": // the old line minds it not, the new one gives an error
		if f.noTask != "" {
			return transcript{user(s.says()[0]), f.noTask}
		}
		return append(transcript{user(s.says()[0])}, happily...)
	case "follow-up":
		first, second := s.says()[0], s.says()[1]
		told := transcript{user(first), looking, `Assistant answer "Which branch?" revision 0`, `note "interrupted: input-required"`, user(second)}
		if streaming { // who only hears the end does not hear of it
			told = append(told, `note "resumed: working"`)
		}
		return append(told, happily...)
	}
	return append(transcript{user(s.says()[0])}, s.want...)
}
