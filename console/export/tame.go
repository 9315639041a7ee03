package export

import "strings"

// Bounds of what is read as Markdown. The time that its readers need grows with the square of what stands
// open in one block, and of how deep blocks are nested: text beyond these is shown as it is.
const (
	maxMarkdown = 256 << 10 // bytes of a message
	maxMarks    = 16384     // that may begin or end something, in one block
	maxNested   = 64        // marks of blocks at the beginning of a line
)

// isTame reports whether a message is one that may be read as Markdown.
func isTame(message string) bool {
	if len(message) > maxMarkdown {
		return false
	}
	marks := 0
	for line := range strings.Lines(message) {
		rest := strings.TrimLeft(line, "> \t-+*")
		begins := line[:len(line)-len(rest)]
		if len(begins)-strings.Count(begins, " ")-strings.Count(begins, "\t") > maxNested {
			return false
		}
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		for i := range len(line) {
			if strings.IndexByte("*_[]`~<!", line[i]) >= 0 {
				marks++
			}
		}
		if marks > maxMarks {
			return false
		}
	}
	return true
}
