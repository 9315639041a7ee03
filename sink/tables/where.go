package tables

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// Dialect is how a database writes what the ledgers' queries have in common.
type Dialect struct {
	Mark     string           // before the number of an argument
	Bytes    func(string) any // text of a peer, as the database keeps it
	Contains string           // format of: the first holds the second
	Collate  string           // behind text that is compared by its bytes
}

// Where collects the conditions of a query; c is captures, t is transcripts.
type Where struct {
	Dialect
	Args       []any
	conditions []string
}

// Arg adds an argument and gives its place.
func (w *Where) Arg(v any) string {
	w.Args = append(w.Args, v)
	return w.Mark + strconv.Itoa(len(w.Args))
}

// And adds a condition.
func (w *Where) And(format string, args ...any) {
	w.conditions = append(w.conditions, fmt.Sprintf(format, args...))
}

// String joins the conditions.
func (w *Where) String() string {
	if len(w.conditions) == 0 {
		return "1 = 1"
	}
	return strings.Join(w.conditions, " AND ")
}

// Agents is the query for the names of all agents, which Filter.Agent is looked for in: a database folds
// names in its own way.
const Agents = `SELECT DISTINCT t.agent FROM `

// maxAgents is how many names a query takes.
const maxAgents = 1000

// ScanAgents reads the names that the filter leaves.
func ScanAgents(rows Rows, f sink.Filter) ([]string, error) {
	names := []string{}
	for rows.Next() {
		var name Text
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if f.IsAgent(string(name)) {
			names = append(names, string(name))
		}
	}
	return names, rows.Err()
}

// About adds what a database can tell of a filter beside its times; agents are the names that it leaves.
// Some transcripts may come through that the filter does not leave: Filter decides.
func (w *Where) About(f sink.Filter, agents []string) {
	switch {
	case f.Agent == "" || len(agents) > maxAgents:
	case len(agents) == 0:
		w.And(`1 = 0`)
	default:
		var places []string
		for _, name := range agents {
			places = append(places, w.Arg(w.Bytes(name)))
		}
		w.And(`t.agent IN (%s)`, strings.Join(places, ", "))
	}
	if f.Namespace != "" {
		w.And(`%s`, w.within(f.Namespace))
	}
	if len(f.Namespaces) > 0 {
		var any []string
		for _, namespace := range f.Namespaces {
			any = append(any, w.within(namespace))
		}
		w.And(`(%s)`, strings.Join(any, " OR "))
	}
	if f.Protocol != "" {
		w.And(`t.protocol = %s`, w.Arg(w.Bytes(string(f.Protocol))))
	}
	if is := w.status(f); is != "" {
		w.And(`%s`, is)
	}
	for k, v := range f.Labels {
		if label, ok := labelText(k, v); ok {
			w.And(w.Contains, `t.labels`, w.Arg(w.Bytes(label)))
		}
	}
}

// maxParked is how many captures that are parked a query takes.
const maxParked = 1000

// status is the condition of a filter's status; empty if there is none. Of what is parked behind the ledger's
// back some comes through that has another one.
func (w *Where) status(f sink.Filter) string {
	if f.Status == "" || f.Status == schema.StatusParked && len(f.Parked) > maxParked {
		return ""
	}
	is := fmt.Sprintf(`CASE WHEN c.parked_reason <> '' THEN 'parked' WHEN c.status NOT IN ('', 'open') THEN c.status
WHEN t.status <> '' THEN t.status ELSE 'open' END = %s`, w.Arg(string(f.Status)))
	if f.Status != schema.StatusParked || len(f.Parked) == 0 {
		return is
	}
	var places []string
	for id := range f.Parked {
		places = append(places, w.Arg(id.String()))
	}
	return fmt.Sprintf(`(%s OR c.key IN (%s))`, is, strings.Join(places, ", "))
}

// within is the condition that a capture is in a namespace.
func (w *Where) within(namespace string) string {
	return fmt.Sprintf(`c.key >= %s AND c.key < %s`, w.Arg(namespace+"/"), w.Arg(namespace+"0")) // 0 is behind the slash
}

// labelText is how a label stands in the column, if it stands there just so.
func labelText(k, v string) (string, bool) {
	if !utf8.ValidString(k+v) || strings.ContainsRune(k+v, utf8.RuneError) {
		return "", false
	}
	text, err := json.Marshal(map[string]string{k: v})
	if err != nil {
		return "", false
	}
	return strings.Trim(string(text), "{}"), true
}

// Spoken adds a filter's bounds of when something was said last.
func (w *Where) Spoken(f sink.Filter) {
	for _, bound := range []struct {
		at time.Time
		op string
	}{{f.Since, ">="}, {f.Until, "<"}} {
		if !bound.at.IsZero() {
			w.And(`CASE WHEN t.last_at <> '' THEN rtrim(t.last_at, 'Z')%s %s %s ELSE t.added_at %s %s END`, w.Collate,
				bound.op, w.Arg(strings.TrimSuffix(WriteTime(bound.at), "Z")), bound.op, w.Arg(bound.at.UnixNano()))
		}
	}
}
