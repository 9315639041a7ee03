package reading

import (
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// change is what a patch does to the lines of one file.
type change struct{ removed, added []string }

// changesIn are the edits of a diff that tells what is done with files, as version 2 of ACP has it. Which
// lines go and come stands in its patch, if it has one that can be read.
func changesIn(diff jsontree.Value) (edits []Edit) {
	var lines map[string]*change
	if patch := diff.Get("patch"); patch.Get("format").Is("git_patch") {
		text, _ := patch.Get("text").Text()
		lines = patchOf(text)
	}
	for c := range diff.Get("changes").Children() {
		path, _ := c.Get("path").Text()
		did, _ := c.Get("operation").Text()
		e := Edit{Path: path, Did: "changed"}
		if word := didWords[did]; word != "" {
			e.Did = word
		}
		if from, ok := c.Get("oldPath").Text(); ok {
			e.Path = from + " → " + path
		}
		if l := lines[path]; l != nil {
			e.Removed, e.Added = l.removed, l.added
		}
		edits = append(edits, e)
	}
	return edits
}

// didWords say what is done with a file. The list is open: what is not in it is a change.
var didWords = map[string]string{"add": "added", "delete": "deleted", "move": "moved", "copy": "copied"}

// patchOf reads a patch as git writes it, by the file that each part leads to; of a deleted file, by that.
// What it does not know it passes over.
func patchOf(text string) map[string]*change {
	files := map[string]*change{}
	var from string
	var at *change
	old, next := 0, 0 // lines of either side that the present hunk still has
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case old > 0 && strings.HasPrefix(line, "-"):
			old--
			at.removed = append(at.removed, line[1:])
		case next > 0 && strings.HasPrefix(line, "+"):
			next--
			at.added = append(at.added, line[1:])
		case old > 0 && next > 0 && (line == "" || line[0] == ' '):
			old, next = old-1, next-1
		case strings.HasPrefix(line, "diff --git "):
			from, at, old, next = "", nil, 0, 0
		case strings.HasPrefix(line, "--- "):
			from = patchPath(line[4:])
		case strings.HasPrefix(line, "+++ "):
			path := patchPath(line[4:])
			if path == "/dev/null" {
				path = from
			}
			if at = files[path]; at == nil {
				at = &change{}
				files[path] = at
			}
		case at != nil && strings.HasPrefix(line, "@@ -"):
			old, next = hunkLines(line)
		}
	}
	return files
}

// patchPath is a path as it stands in a patch, quoted where there are unusual characters in it.
func patchPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if plain, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return plain
	}
	return s
}

// hunkLines reads how many lines of either side a hunk has: @@ -3,4 +3,5 @@, where ,1 is left out.
func hunkLines(head string) (old, next int) {
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return 0, 0
	}
	count := func(field string) int {
		_, n, ok := strings.Cut(field, ",")
		if !ok {
			return 1
		}
		lines, err := strconv.Atoi(n)
		if err != nil {
			return 0
		}
		return lines
	}
	return count(fields[1]), count(fields[2])
}
