package render

import "github.com/steno-io/steno/console/reading"

// styleOf is the style of a tone.
func styleOf(t reading.Tone) style {
	return map[reading.Tone]style{reading.Quiet: dim, reading.Good: good, reading.Bad: bad, reading.Warn: warn}[t]
}
