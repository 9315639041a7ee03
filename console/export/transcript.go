package export

import (
	"iter"
	"time"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Transcript is what is written for people. Summary is needed, and of one with events Events and Stored.
type Transcript struct {
	Summary sink.Summary
	Events  []schema.Event // in the order of their numbers; they are brought into the order of reading
	// Stored gives the same events as they are stored; HTML reads them once, behind everything else.
	Stored iter.Seq2[sink.Event, error]
	// At tells when a frame came that no event is emitted at; nil, or the zero time: it is not known.
	At func(frame uint64) time.Time
}

// page reads the transcript.
func (t *Transcript) page() *reading.Page { return reading.NewPage(t.Summary, t.Events, t.At) }

// part says why the page is not the whole; empty if it is.
func (t *Transcript) part() string {
	switch t.Summary.Status {
	case schema.StatusOpen:
		return "This is a part: the recording had not ended when this was written (status open), after " +
			reading.Count(len(t.Events), "event") + ". What was being typed then is not in it."
	case schema.StatusParked:
		return "This is a part: the recording is parked, since it could not be translated any further (status parked). " +
			"steno doctor says why."
	}
	return ""
}

// left says what is left out, and where it is.
func left(hidden int) string {
	return reading.Count(hidden, "raw record") + " left out: other parts of this page say the same"
}

// clock writes when something was said, from the transcript's first event on.
type clock struct{ first time.Time }

func (c clock) since(at time.Time) string { return "+" + reading.Span(at.Sub(c.first)) }

// when is the transcript's time and how long it took; empty if nothing was said.
func when(s sink.Summary) string {
	if s.FirstAt.IsZero() {
		return ""
	}
	return s.FirstAt.UTC().Format("2006-01-02 15:04:05 UTC") + " · " + reading.Span(s.LastAt.Sub(s.FirstAt))
}
