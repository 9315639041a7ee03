// Package tables is what the ledgers in SQL databases have in common: the columns of their tables,
// and what a row says.
package tables

import (
	"fmt"
	"io/fs"
	"time"
)

// Row is one row, or the present one of several.
type Row interface{ Scan(dest ...any) error }

// Rows are the rows of an answer, one after the other. Whoever made them closes them.
type Rows interface {
	Row
	Next() bool
	Err() error
}

// Text is text that a peer wrote: it may hold anything, U+0000 and what is not UTF-8 included. A
// database whose text takes less keeps it as bytes.
type Text string

// Scan implements sql.Scanner.
func (t *Text) Scan(src any) error {
	switch src := src.(type) {
	case string:
		*t = Text(src)
	case []byte:
		*t = Text(src)
	default:
		return fmt.Errorf("want text, got %T", src)
	}
	return nil
}

// Steps gives the migrations in a folder of an embedded file system, in the order of their names.
// The n-th makes version n.
func Steps(migrations fs.FS, folder string) ([]string, error) {
	entries, err := fs.ReadDir(migrations, folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		text, err := fs.ReadFile(migrations, folder+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// ReadTime reads what WriteTime wrote.
func ReadTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("read time: %w", err)
	}
	return t.UTC(), nil
}

// WriteTime writes a time whole: a database's own type may know no nanoseconds. The zero time is
// empty.
func WriteTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
