package proxy

import (
	"iter"
	"strconv"

	"github.com/steno-io/steno/schema/wire/a2a"
)

// document is one JSON-RPC object, or the body of a REST request.
type document struct {
	member
	path   string // "" or [0], of a batch
	rpc    bool
	method string
}

// documents are what a text holds; a batch holds several.
func documents(text []byte) iter.Seq[document] {
	return func(yield func(document) bool) {
		for root := range roots(text) {
			if kindOf(text, root.at) != '[' {
				if !yield(readDocument(text, root, "")) {
					return
				}
				continue
			}
			for m := range inside(text, root.at) {
				if !yield(readDocument(text, m, "["+strconv.Itoa(m.index)+"]")) {
					return
				}
			}
		}
	}
}

func readDocument(text []byte, m member, path string) document {
	d := document{member: m, path: path}
	for field := range inside(text, m.at) {
		switch field.name {
		case "jsonrpc":
			d.rpc = true
		case "method":
			if method, ok := textOf(text, field.at); ok {
				d.rpc, d.method = true, method
			}
		}
	}
	return d
}

// calls are what a request asks for; a batch may ask for several things.
type calls struct {
	rpc     bool
	single  bool   // one request, not a batch
	method  string // of the single one, as sent
	all     map[a2a.Call]bool
	unknown bool // a method that no dialect has
}

func readCalls(verb, path string, text []byte) calls {
	c := calls{all: map[a2a.Call]bool{}}
	n := 0
	for d := range documents(text) {
		if !d.rpc {
			continue
		}
		n++
		c.rpc, c.method = true, d.method
		call, _ := a2a.ReadMethod(d.method)
		c.all[call] = true
		c.unknown = c.unknown || call == ""
		c.single = n == 1 && d.path == ""
	}
	if !c.rpc {
		call, _ := a2a.ReadPath(verb, path)
		c.all[call] = true
	}
	return c
}

// none reports whether nothing is called that A2A knows.
func (c calls) none() bool { return !c.rpc && c.all[""] }

// pushes reports whether an answer may hold push configs: what a method of no dialect does, nobody knows.
func (c calls) pushes() bool { return c.answersPush() || c.unknown }

// answersPush reports whether an answer is one to a call about push configs.
func (c calls) answersPush() bool {
	return c.all[a2a.CreatePush] || c.all[a2a.GetPush] || c.all[a2a.ListPush]
}

// sends reports whether a message is sent, which a push config may go with.
func (c calls) sends() bool { return c.all[a2a.SendMessage] || c.all[a2a.StreamMessage] }

// config is a push config in a text.
type config struct {
	at   span
	path string
}

// requestConfigs finds the push configs of a request. Which members hold one does not depend on the
// method, so that a name of no dialect hides none; but what stands flat in params is one only for the
// method that sets it, or for one that nobody knows.
func requestConfigs(text []byte, c calls) (found []config) {
	for d := range documents(text) {
		if !d.rpc {
			found = paramConfigs(found, text, config{d.at, d.path}, c.all[a2a.CreatePush])
			continue
		}
		call, _ := a2a.ReadMethod(d.method)
		for m := range inside(text, d.at) {
			if fold(m.name) == "params" {
				found = paramConfigs(found, text, config{m.at, join(d.path, m.name)}, call == a2a.CreatePush || call == "")
			}
		}
	}
	return found
}

func paramConfigs(found []config, text []byte, params config, flat bool) []config {
	if flat {
		found = append(found, params)
	}
	for m := range inside(text, params.at) {
		at := config{m.at, join(params.path, m.name)}
		switch name := fold(m.name); {
		case isConfig(name) || flat && name == "config":
			found = nestedConfigs(found, text, at, 0)
		case name == "configuration":
			for m := range inside(text, m.at) {
				if isConfig(fold(m.name)) {
					found = nestedConfigs(found, text, config{m.at, join(at.path, m.name)}, 0)
				}
			}
		}
	}
	return found
}

// answerConfigs finds the push configs of an answer to push calls.
func answerConfigs(text []byte, c calls) (found []config) {
	if !c.pushes() {
		return nil
	}
	for d := range documents(text) {
		if !c.rpc {
			found = resultConfigs(found, text, config{d.at, d.path})
			continue
		}
		for m := range inside(text, d.at) {
			if fold(m.name) == "result" {
				found = resultConfigs(found, text, config{m.at, join(d.path, m.name)})
			}
		}
	}
	return found
}

func resultConfigs(found []config, text []byte, result config) []config {
	found = nestedConfigs(found, text, result, 0)
	for m := range inside(text, result.at) {
		if fold(m.name) == "configs" {
			found = nestedConfigs(found, text, config{m.at, join(result.path, m.name)}, 0)
		}
	}
	return found
}

// isConfig tells a member that holds a push config by its folded name: of versions 0.3, 0.1 and 0.3
// over REST, and 1.0.
func isConfig(name string) bool {
	return name == "pushnotificationconfig" || name == "pushnotification" || name == "taskpushnotificationconfig"
}

// nestedConfigs takes a config, or a list of them, and those inside: versions 0.3 and half-migrated
// peers put one around the other.
func nestedConfigs(found []config, text []byte, at config, depth int) []config {
	const deepest = 4
	list := kindOf(text, at.at) == '['
	if !list {
		found = append(found, at)
	}
	if depth == deepest {
		return found
	}
	for m := range inside(text, at.at) {
		switch {
		case list:
			found = nestedConfigs(found, text, config{m.at, at.path + "[" + strconv.Itoa(m.index) + "]"}, depth+1)
		case isConfig(fold(m.name)):
			found = nestedConfigs(found, text, config{m.at, join(at.path, m.name)}, depth+1)
		}
	}
	return found
}

func join(path, name string) string {
	name = shortName(name)
	if path == "" {
		return name
	}
	return path + "." + name
}
