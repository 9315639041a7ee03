package interop

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mask gives what differs from run to run a name, always the same one for the same thing.
type mask struct {
	places *strings.Replacer
	ids    map[string]string
}

// newMask takes the addresses to be named, each followed by its name.
func newMask(places ...string) *mask {
	return &mask{places: strings.NewReplacer(places...), ids: map[string]string{}}
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// race is where the new line's server names one of two steps that both refuse a late cancel.
var race = strings.NewReplacer("canceler setup failed", "setup failed")

// text masks ids (by the order of their first sight), times, addresses and that race; nothing else.
func (m *mask) text(s string) string {
	s = uuids.ReplaceAllStringFunc(m.places.Replace(s), func(id string) string {
		if m.ids[id] == "" {
			m.ids[id] = fmt.Sprintf("<id %d>", len(m.ids)+1)
		}
		return m.ids[id]
	})
	return times.ReplaceAllString(race.Replace(s), "<time>")
}

// hop are the headers that belong to one connection and not to the message (RFC 9110, 7.6.1), and the
// server's clock. Those that say X-Forwarded, and the mark, are a proxy's own.
var hop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Date"}

// head writes a head. A length is held against its body, whose ids and times may change it.
func (m *mask) head(h head, body string) string {
	var b strings.Builder
	fmt.Fprintln(&b, m.text(h.line))
	names := []string{}
	for name := range h.header {
		if !slices.Contains(hop, name) && !strings.HasPrefix(name, "X-Forwarded-") && name != "Steno-Proxy" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		value := strings.Join(h.header[name], " | ")
		if name == "Content-Length" && value == strconv.Itoa(len(body)) {
			value = "<that of the body>"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, m.text(value))
	}
	length := strconv.FormatInt(h.length, 10)
	if h.length == int64(len(body)) {
		length = "that of the body"
	}
	fmt.Fprintf(&b, "(length %s)\n\n%s\n", length, m.text(body))
	return b.String()
}

func (m *mask) exchanges(all []*exchange) string {
	var b strings.Builder
	for _, x := range all {
		fmt.Fprintf(&b, "==== %s", m.head(x.request, x.asked.String()))
		if x.answer.line != "" {
			fmt.Fprintf(&b, "---- %s(%s)\n", m.head(x.answer, x.answered.String()), x.end)
		}
	}
	return b.String()
}

func (m *mask) heard(all []heard) string {
	lines := make([]string, len(all))
	for i, h := range all {
		lines[i] = m.text(h.decoded)
	}
	return strings.Join(lines, "\n")
}
