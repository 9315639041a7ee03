package files

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// advice is what to do about a line whose side stays open.
const advice = "write > before it if the client sent it, < if the agent did"

// sides finds the side that sent a JSON-RPC message: a request's or notification's from its method,
// an answer's from the request that it answers.
type sides struct {
	tree jsontree.Reader
	open map[request]int // requests without an answer so far
}

// request is what an answer names: the side that asked, and the id with its type.
type request struct {
	from schema.From
	id   string
}

// of gives the side of a message and remembers what it asks or answers. marked is the side that the
// line states, if it does.
func (s *sides) of(marked schema.From, data []byte) (schema.From, error) {
	end, err := s.tree.Read(data)
	if err == nil && len(bytes.Trim(data[end:], " \t\r")) > 0 {
		err = fmt.Errorf("%q stands behind the message", cut(data[end:]))
	}
	if err != nil {
		if marked != "" {
			return marked, nil
		}
		return "", fmt.Errorf("want one JSON-RPC message a line, or any text behind > or <: %w", err)
	}
	root := s.tree.Root()
	from := marked
	if from == "" {
		if from, err = s.infer(root); err != nil {
			return "", err
		}
	}
	if root.Kind() == jsontree.Array {
		for message := range root.Children() {
			s.learn(from, message)
		}
		return from, nil
	}
	s.learn(from, root)
	return from, nil
}

func (s *sides) infer(message jsontree.Value) (schema.From, error) {
	if message.Kind() == jsontree.Array {
		return "", errors.New("a batch does not tell who sent it: " + advice)
	}
	if method, ok := message.Get("method").Text(); ok {
		from := acp.Sender(method)
		switch {
		case from != "":
			return from, nil
		case acp.SharedMethod(method):
			return "", fmt.Errorf("both sides send %q: %s", method, advice)
		}
		return "", fmt.Errorf("%q is no method of ACP, so it does not tell who sent it: %s", method, advice)
	}
	id, ok := idOf(message)
	if !ok || !answers(message) {
		return "", errors.New("want a JSON-RPC message: a method, or an id with a result or an error")
	}
	byClient, byAgent := s.open[request{schema.FromClient, id}] > 0, s.open[request{schema.FromAgent, id}] > 0
	switch {
	case byClient && byAgent:
		return "", fmt.Errorf("both sides have a request with the id %s open: %s", message.Get("id").Raw(), advice)
	case byClient:
		return schema.FromAgent, nil
	case byAgent:
		return schema.FromClient, nil
	}
	return "", fmt.Errorf("no request with the id %s is open before this answer: %s", message.Get("id").Raw(), advice)
}

// learn remembers a request, or that one was answered.
func (s *sides) learn(from schema.From, message jsontree.Value) {
	id, ok := idOf(message)
	if !ok {
		return
	}
	if _, asks := message.Get("method").Text(); asks {
		s.open[request{from, id}]++
		return
	}
	asked := request{schema.FromClient, id}
	if from == schema.FromClient {
		asked.from = schema.FromAgent
	}
	if s.open[asked]--; s.open[asked] <= 0 {
		delete(s.open, asked)
	}
}

// idOf gives an id with its type; a number's id is its text. Neither null nor anything else that is
// no string and no number is an id.
func idOf(message jsontree.Value) (string, bool) {
	id := message.Get("id")
	if text, ok := id.Text(); ok {
		return `"` + text, true
	}
	if id.Kind() == jsontree.Number {
		return string(id.Raw()), true
	}
	return "", false
}

func answers(message jsontree.Value) bool {
	return message.Get("result").Present() || message.Get("error").Present()
}

// cut shortens bytes for an error.
func cut(data []byte) []byte {
	if len(data) > 40 {
		return append(append([]byte(nil), data[:40]...), "…"...)
	}
	return data
}
