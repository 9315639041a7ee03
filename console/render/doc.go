// Package render writes transcripts as people read them, to a terminal or to a plain file. It leaves
// out and shortens for reading only; the data is elsewhere and whole.
package render
