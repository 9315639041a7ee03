package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// query is a request's parameters. Its methods remember the first fault.
type query struct {
	values url.Values
	fault  *refusal
}

// readQuery reads the parameters and refuses those that are not known: a mistyped filter would leave
// everything. Only those in many may stand more than once.
func readQuery(r *http.Request, known []string, many ...string) (*query, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, bad(codeParameter, "the query is not one: %v", err)
	}
	for name, given := range values {
		switch {
		case slices.Contains(many, name):
		case !slices.Contains(known, name):
			return nil, bad(codeParameter, "there is no parameter %q; there is %s", name, strings.Join(slices.Concat(known, many), ", "))
		case len(given) > 1:
			return nil, bad(codeParameter, "%s is given %d times: want one", name, len(given))
		}
	}
	return &query{values: values}, nil
}

func (q *query) refuse(code, format string, args ...any) {
	if q.fault == nil {
		q.fault = bad(code, format, args...)
	}
}

// err is the first fault.
func (q *query) err() error {
	if q.fault == nil {
		return nil
	}
	return q.fault
}

func (q *query) text(name string) string { return q.values.Get(name) }

// limit is how many there are at most on a page.
func (q *query) limit(usual, most int) int {
	text := q.text("limit")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 || n > uint64(most) {
		q.refuse(codeParameter, "limit %q: want 1 to %d", text, most)
	}
	return int(n)
}

// number is a parameter that is a number from 0 on; 0 if it is not there.
func (q *query) number(code, name string) (n uint64, given bool) {
	text, given := q.values[name]
	if !given {
		return 0, false
	}
	return q.parse(code, name, text[0]), true
}

func (q *query) parse(code, name, text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		q.refuse(code, "%s %q: want the number of an event or a frame, 0 for the beginning", name, text)
	}
	return n
}

// from is where a page or a stream begins: behind after, or so that last are left.
func (q *query) from(head uint64) (after uint64) {
	after, behind := q.number(codeCursor, "after")
	last, tail := q.number(codeParameter, "last")
	if behind && tail {
		q.refuse(codeParameter, "after and last: want one of them")
	}
	if tail {
		after = head - min(head, last)
	}
	return after
}

// filterNames are the parameters that filter reads, beside label.
var filterNames = []string{"namespace", "protocol", "agent", "status", "since", "until"}

const labelName = "label"

// filter reads what transcripts are asked for.
func (q *query) filter() sink.Filter {
	f := sink.Filter{
		Namespace: q.text("namespace"), Agent: q.text("agent"),
		Protocol: schema.Protocol(q.text("protocol")), Status: schema.Status(q.text("status")),
		Since: q.time("since"), Until: q.time("until"),
	}
	if f.Namespace != "" && !schema.IsToken(f.Namespace) {
		q.refuse(codeParameter, "namespace %q: want 1 to %d characters of [A-Za-z0-9_-]", f.Namespace, schema.MaxToken)
	}
	if protocols := []schema.Protocol{"", schema.ACP, schema.A2A}; !slices.Contains(protocols, f.Protocol) {
		q.refuse(codeParameter, "protocol %q: want acp or a2a", f.Protocol)
	}
	statuses := []schema.Status{"", schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned, schema.StatusParked}
	if !slices.Contains(statuses, f.Status) {
		q.refuse(codeParameter, "status %q: want open, ended, abandoned or parked", f.Status)
	}
	for _, label := range q.values[labelName] {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			q.refuse(codeParameter, "label %q: want k=v", label)
			continue
		}
		if have, twice := f.Labels[name]; twice && have != value {
			q.refuse(codeParameter, "label %s is given with two values", name)
		}
		if f.Labels == nil {
			f.Labels = map[string]string{}
		}
		f.Labels[name] = value
	}
	return f
}

// time is a parameter that is a time, a day of UTC, or how long ago; zero if it is not there.
func (q *query) time(name string) time.Time {
	at, err := sink.ParseMoment(q.text(name), time.Now().UTC())
	if err != nil {
		q.refuse(codeParameter, "%s %s", name, err)
	}
	return at
}
