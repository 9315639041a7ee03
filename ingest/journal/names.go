package journal

import (
	"path/filepath"
	"strings"
)

// The files of a journal, all in one directory:
//
//	<id>.journal      the entries, locked by the writer while it lives
//	<id>.journal.new  a journal whose head is not written yet
//	<id>.stored       the mark: how far its entries are stored
//	<id>.….stored.new a mark that is being written
//	<id>.claim        locked by the one process that publishes a proxy's journal
const (
	suffix     = ".journal"
	markSuffix = ".stored"
	claimed    = ".claim"
	newSuffix  = ".new"
)

// Path is the file of the journal with that id.
func Path(dir, id string) string { return filepath.Join(dir, id+suffix) }

// MarkPath is the file that says how far that journal is stored.
func MarkPath(dir, id string) string { return filepath.Join(dir, id+markSuffix) }

// ClaimPath is the file that whoever publishes a proxy's journal holds locked.
func ClaimPath(dir, id string) string { return filepath.Join(dir, id+claimed) }

// journalID reads a journal's file name.
func journalID(name string) (id string, ok bool) { return strings.CutSuffix(name, suffix) }
