package compat_test

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// drawn is a value that both versions can hold, as each writes it.
type drawn struct{ v03, v10 string }

var words = []string{"role", "user", "ROLE_USER", "state", "completed", "TASK_STATE_FAILED", "kind", "text", "data", "value", "task", "x", "ł\n\"", ""}

// anything is any JSON value, mostly made of the words that are rewritten elsewhere.
func anything(t *rapid.T, depth int) string {
	switch n := rapid.IntRange(0, 6).Draw(t, "shape"); {
	case n == 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
	case n == 1:
		return rapid.SampledFrom([]string{"0", "-1.50", "12345678901234567890", "1E5", "2"}).Draw(t, "number")
	case n < 4 || depth == 0:
		return quoted(rapid.SampledFrom(words).Draw(t, "string"))
	case n == 4:
		elements := make([]string, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range elements {
			elements[i] = anything(t, depth-1)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	return object(t, depth-1)
}

func object(t *rapid.T, depth int) string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 0, 4, rapid.ID).Draw(t, "names")
	members := make([]string, len(names))
	for i, name := range names {
		members[i] = quoted(name) + ": " + anything(t, max(depth, 0))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// members joins members that may be missing, in any order, into an object; both versions keep it.
type members struct{ old, current []string }

func (m *members) add(old, current string) {
	m.old, m.current = append(m.old, old), append(m.current, current)
}

func (m *members) maybe(t *rapid.T, name string, value func() drawn) {
	if rapid.Bool().Draw(t, "has "+name) {
		v := value()
		m.add(quoted(name)+":"+v.v03, quoted(name)+":"+v.v10)
	}
}

func (m *members) always(name string, v drawn) { m.add(quoted(name)+":"+v.v03, quoted(name)+":"+v.v10) }

// draw gives the object; kind comes first in version 0.3, which is where it is written.
func (m *members) draw(kind string) drawn {
	old := m.old
	if kind != "" {
		old = append([]string{`"kind":` + quoted(kind)}, old...)
	}
	return drawn{"{" + strings.Join(old, ",") + "}", "{" + strings.Join(m.current, ",") + "}"}
}

func both(text string) drawn { return drawn{text, text} }

func word(t *rapid.T) drawn { return both(quoted(rapid.SampledFrom(words).Draw(t, "word"))) }

func metadata(t *rapid.T) func() drawn { return func() drawn { return both(object(t, 2)) } }

func list(t *rapid.T, label string, element func(*rapid.T) drawn) drawn {
	var old, current []string
	for range rapid.IntRange(0, 3).Draw(t, label) {
		e := element(t)
		old, current = append(old, e.v03), append(current, e.v10)
	}
	return drawn{"[" + strings.Join(old, ",") + "]", "[" + strings.Join(current, ",") + "]"}
}

func drawPart(t *rapid.T) drawn {
	var m members
	switch kind := rapid.SampledFrom([]string{"text", "bytes", "uri", "data", "value"}).Draw(t, "part"); kind {
	case "text":
		m.always("text", word(t))
		m.maybe(t, "metadata", metadata(t))
		return m.draw("text")
	case "bytes", "uri":
		content, name := quoted(rapid.SampledFrom([]string{"aGkK", "_-8=", "https://f", ""}).Draw(t, "content")), word(t).v03
		arm := map[string]string{"bytes": "raw", "uri": "url"}[kind]
		m.add(`"file":{`+quoted(kind)+`:`+content+`,"name":`+name+`,"mimeType":"a/b"}`, quoted(arm)+`:`+content+`,"filename":`+name+`,"mediaType":"a/b"`)
		m.maybe(t, "metadata", metadata(t))
		return m.draw("file")
	case "data":
		m.always("data", both(object(t, 3)))
		m.maybe(t, "metadata", metadata(t))
		return m.draw("data")
	}
	value := rapid.Custom(func(t *rapid.T) string { return anything(t, 2) }).
		Filter(func(s string) bool { return s[0] != '{' }).Draw(t, "value")
	m.add(`"data":{"value":`+value+`},"metadata":{"data_part_compat":true}`, `"data":`+value)
	return m.draw("data")
}

func drawMessage(t *rapid.T) drawn {
	var m members
	m.always("messageId", word(t))
	role := rapid.SampledFrom([]drawn{{`"user"`, `"ROLE_USER"`}, {`"agent"`, `"ROLE_AGENT"`}}).Draw(t, "role")
	m.always("role", role)
	m.always("parts", list(t, "parts", drawPart))
	m.maybe(t, "contextId", func() drawn { return word(t) })
	m.maybe(t, "extensions", func() drawn { return list(t, "extensions", word) })
	m.maybe(t, "metadata", metadata(t))
	return m.draw("message")
}

func drawStatus(t *rapid.T) (status drawn, state string) {
	var m members
	state = rapid.SampledFrom([]string{"submitted", "working", "completed", "failed", "canceled", "input-required", "rejected", "auth-required", "unknown"}).Draw(t, "state")
	m.always("state", drawn{quoted(state), quoted(states[state])})
	m.maybe(t, "message", func() drawn { return drawMessage(t) })
	m.maybe(t, "timestamp", func() drawn { return both(`"2026-03-04 05:06"`) })
	return m.draw(""), state
}

func drawArtifact(t *rapid.T) drawn {
	var m members
	m.always("artifactId", word(t))
	m.always("parts", list(t, "parts", drawPart))
	m.maybe(t, "name", func() drawn { return word(t) })
	m.maybe(t, "metadata", metadata(t))
	return m.draw("")
}

func drawTask(t *rapid.T) drawn {
	var m members
	m.always("id", word(t))
	m.always("contextId", word(t))
	status, _ := drawStatus(t)
	m.always("status", status)
	m.maybe(t, "history", func() drawn { return list(t, "history", drawMessage) })
	m.maybe(t, "artifacts", func() drawn { return list(t, "artifacts", drawArtifact) })
	m.maybe(t, "metadata", metadata(t))
	m.maybe(t, "vendor", metadata(t))
	return m.draw("task")
}

func drawEvent(t *rapid.T) drawn {
	wrap := func(arm string, d drawn) drawn { return drawn{d.v03, "{" + quoted(arm) + ":" + d.v10 + "}"} }
	var m members
	switch rapid.IntRange(0, 3).Draw(t, "arm") {
	case 0:
		return wrap("task", drawTask(t))
	case 1:
		return wrap("message", drawMessage(t))
	case 2:
		m.always("taskId", word(t))
		m.always("contextId", word(t))
		status, state := drawStatus(t)
		m.always("status", status)
		m.maybe(t, "metadata", metadata(t))
		event := m.draw("status-update")
		final := "false"
		switch state {
		case "completed", "failed", "canceled", "rejected", "input-required":
			final = "true"
		}
		event.v03 = event.v03[:len(event.v03)-1] + `,"final":` + final + `}`
		return wrap("statusUpdate", event)
	}
	m.always("taskId", word(t))
	m.always("contextId", word(t))
	m.always("artifact", drawArtifact(t))
	m.maybe(t, "append", func() drawn { return both("true") })
	m.maybe(t, "lastChunk", func() drawn { return both("false") })
	return wrap("artifactUpdate", m.draw("artifact-update"))
}

func drawConfig(t *rapid.T, nested bool) drawn {
	var m members
	m.always("url", word(t))
	m.maybe(t, "id", func() drawn { return word(t) })
	m.maybe(t, "token", func() drawn { return word(t) })
	m.maybe(t, "authentication", func() drawn {
		scheme := word(t).v03
		return drawn{`{"schemes":[` + scheme + `],"credentials":"x"}`, `{"scheme":` + scheme + `,"credentials":"x"}`}
	})
	flat := m.draw("")
	if !nested {
		return flat
	}
	return drawn{`{"taskId":"t","pushNotificationConfig":` + flat.v03 + `}`, `{"taskId":"t",` + flat.v10[1:]}
}

// drawRequest gives a request and its method's name in version 0.3.
func drawRequest(t *rapid.T) (drawn, string) {
	method := rapid.SampledFrom([]string{
		"message/send", "message/stream", "tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/pushNotificationConfig/set",
		"tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/delete",
	}).Draw(t, "method")
	var m members
	switch method {
	case "message/send", "message/stream":
		m.always("message", drawMessage(t))
		var c members
		if blocking := rapid.Bool().Draw(t, "blocking"); blocking {
			c.add(`"blocking":true`, `"returnImmediately":false`)
		} else {
			c.add(`"blocking":false`, `"returnImmediately":true`)
		}
		if rapid.Bool().Draw(t, "push") {
			config := drawConfig(t, false)
			c.add(`"pushNotificationConfig":`+config.v03, `"taskPushNotificationConfig":`+config.v10)
		}
		m.always("configuration", c.draw(""))
		m.maybe(t, "metadata", metadata(t))
	case "tasks/pushNotificationConfig/set":
		config := drawConfig(t, true)
		return drawn{call(method, config.v03), call(compat.MethodUp(method), config.v10)}, method
	case "tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/delete":
		m.add(`"id":"t","pushNotificationConfigId":"p"`, `"taskId":"t","id":"p"`)
	case "tasks/pushNotificationConfig/list":
		m.add(`"id":"t"`, `"taskId":"t"`)
	default:
		m.always("id", word(t))
		m.maybe(t, "historyLength", func() drawn { return both("3") })
		m.maybe(t, "metadata", metadata(t))
	}
	params := m.draw("")
	return drawn{call(method, params.v03), call(compat.MethodUp(method), params.v10)}, method
}
