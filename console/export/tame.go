package export

import "strings"

// Bounds of what is read as Markdown. The time that its readers need grows with the square of what stands
// open in one block, and with how deep blocks are nested at each of their lines: text beyond these is shown
// as it is.
const (
	maxMarkdown = 256 << 10 // bytes of a message
	maxMarks    = 16384     // that may begin or end something, in one block
	maxNested   = 64        // marks of blocks at the beginning of a line
	maxHeld     = 1 << 18   // how deep blocks may be nested, times the lines of the message
)

// isTame reports whether a message is one that may be read as Markdown.
func isTame(message string) bool {
	if len(message) > maxMarkdown {
		return false
	}
	marks, lines, deepest := 0, 0, 0
	for line := range strings.Lines(message) {
		nested, indent := begins(line)
		if nested > maxNested {
			return false
		}
		if nested > 0 {
			deepest = max(deepest, nested+indent/2) // a block within a list is two columns further in, or more
		}
		if lines++; lines*deepest > maxHeld {
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

// begins counts the marks of blocks at the beginning of a line: of quotations, of lists, of ordered ones too;
// and the columns of white space before the first one.
func begins(line string) (marks, indent int) {
	column := 0
	for line != "" {
		if marks == 0 {
			indent = column
		}
		switch line[0] {
		case ' ':
			column, line = column+1, line[1:]
			continue
		case '\t':
			column, line = column+4, line[1:]
			continue
		case '>':
			marks, line = marks+1, line[1:]
			continue
		}
		rest := strings.TrimLeft(line, "0123456789")
		n := len(line) - len(rest)
		if rest == "" || n > 0 && rest[0] != '.' && rest[0] != ')' || n == 0 && strings.IndexByte("-+*", rest[0]) < 0 {
			break
		}
		if rest = rest[1:]; rest != "" && strings.IndexByte(" \t\r\n", rest[0]) < 0 {
			break
		}
		marks, line = marks+1, rest
		if strings.TrimSpace(rest) == "" {
			break
		}
	}
	return marks, indent
}
