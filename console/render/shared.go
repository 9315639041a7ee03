package render

import (
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// What reading has, by the short names of here.

type (
	edit = reading.Edit
	ask  = reading.Ask
)

const (
	markCalled  = reading.MarkCalled
	markWaiting = reading.MarkWaiting
	markRunning = reading.MarkRunning
	markGood    = reading.MarkGood
	markBad     = reading.MarkBad
	markStop    = reading.MarkStop
	markNote    = reading.MarkNote
	markAlarm   = reading.MarkAlarm
)

func visible(s string) string                { return reading.Visible(s) }
func oneLine(s string) string                { return reading.OneLine(s) }
func parse(value schema.JSON) jsontree.Value { return reading.Parse(value) }
func readable(value schema.JSON) string      { return reading.Readable(value) }
func bytesOf(n int) string                   { return reading.BytesOf(n) }
func span(d time.Duration) string            { return reading.Span(d) }
func count(n int, noun string) string        { return reading.Count(n, noun) }
func plural(n int, noun string) string       { return reading.Plural(n, noun) }

func unbase64(value schema.JSON) (string, bool) { return reading.Unbase64(value) }

// styleOf is the style of a tone.
func styleOf(t reading.Tone) style {
	return map[reading.Tone]style{reading.Quiet: dim, reading.Good: good, reading.Bad: bad, reading.Warn: warn}[t]
}
