package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	words "github.com/steno-io/steno/console/reading"
)

// output is a command's standard output. It remembers its first error, so that a command that prints
// line by line need not ask after each, and cannot end well with half of its answer written.
type output struct {
	to    io.Writer
	first error
}

// Write implements io.Writer; after an error nothing more is written.
func (o *output) Write(p []byte) (int, error) {
	if o.first != nil {
		return 0, o.first
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.first = fmt.Errorf("write output: %w", err)
	}
	return n, o.first
}

// line prints one line. What others said, or named, may be in it: no character of it is one that a terminal
// obeys, or that begins another line.
func (o *output) line(format string, args ...any) {
	text := words.Visible(fmt.Sprintf(format, args...))
	_, _ = io.WriteString(o, strings.ReplaceAll(text, "\n", "␊")+"\n") // o remembers its error
}

// json prints a value as one line of JSON.
func (o *output) json(v any) error {
	encoder := json.NewEncoder(o)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
