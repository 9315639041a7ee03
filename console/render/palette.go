package render

// style is what a piece of text is, for its colour.
type style int

const (
	plain style = iota
	dim
	heading
	user
	agent
	thought
	name // of a tool
	good
	bad
	warn
	match // of what is searched for
)

// palette gives the terminal's own colours, so that its theme decides how they look.
var palette = map[style]string{
	dim:     "\x1b[2m",
	heading: "\x1b[1m",
	user:    "\x1b[1;34m",
	agent:   "\x1b[1;32m",
	thought: "\x1b[2;3m",
	name:    "\x1b[1m",
	good:    "\x1b[32m",
	bad:     "\x1b[31m",
	warn:    "\x1b[33m",
	match:   "\x1b[1;31m",
}

const reset = "\x1b[0m"

// Indents and what is cut off.
const (
	rail     = "  │ "
	body     = "  "
	deep     = "    "
	ellipsis = "…"
)
