package proxy

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/a2a"
)

// object is JSON's.
type object map[string]any

// messageID is the id of an injected message: the same wherever and however often it is made.
func messageID(task, intervention string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/steno-io/steno/intervention/"+intervention+"/"+task)).String()
}

// request makes the request that carries an intervention to a task: in the words, the binding and at the
// address in which its client calls, with its headers.
func (w *way) request(ctx context.Context, t Task, i schema.Intervention) (*http.Request, error) {
	params, path := w.params(t, i), w.path
	body := any(params)
	switch {
	case w.rpc:
		body = object{"jsonrpc": "2.0", "id": i.ID, "method": w.method(i.Kind.Kind), "params": params}
	case i.Kind.Kind == schema.PrimitiveCancel:
		body, path = object{}, path+"/tasks/"+url.PathEscape(t.ID)+":cancel"
	default:
		path += "/message:send"
	}
	text := asJSON(body)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("make a call about task %q: %w", t.ID, err)
	}
	r.URL = &url.URL{Path: unescaped(path), RawPath: path, RawQuery: w.query}
	r.Host = w.host
	if w.header != nil {
		r.Header = w.header.Clone()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "steno-proxy")
	return r, nil
}

// method is what JSON-RPC calls a primitive.
func (w *way) method(p schema.Primitive) string {
	cancels := p == schema.PrimitiveCancel
	switch {
	case w.dialect == a2a.V10 && cancels:
		return string(a2a.CancelTask)
	case w.dialect == a2a.V10:
		return string(a2a.SendMessage)
	case cancels:
		return "tasks/cancel"
	case w.dialect == a2a.V01:
		return "tasks/send"
	}
	return "message/send"
}

// params are those of the call, or the body of a REST request. A message is sent so that the peer need not
// wait for the end of what it brings about: who listens to the task hears that.
func (w *way) params(t Task, i schema.Intervention) object {
	params := object{}
	switch {
	case i.Kind.Kind == schema.PrimitiveCancel:
		params["id"] = t.ID
	case w.dialect == a2a.V01:
		params["id"] = t.ID
		if t.Context != "" {
			params["sessionId"] = t.Context
		}
		params["message"] = object{"role": "user", "parts": []object{{"type": "text", "text": i.Kind.Text}}}
	default:
		params["message"], params["configuration"] = w.message(t, i), object{"returnImmediately": true}
		if w.dialect == a2a.V03 {
			params["configuration"] = object{"blocking": false}
		}
	}
	if w.tenant != "" {
		params["tenant"] = w.tenant
	}
	return params
}

// message is the user's, in version 0.3 or 1.0.
func (w *way) message(t Task, i schema.Intervention) object {
	m := object{"messageId": messageID(t.ID, i.ID), "taskId": t.ID, "role": "ROLE_USER"}
	if t.Context != "" {
		m["contextId"] = t.Context
	}
	text := []object{{"text": i.Kind.Text}}
	switch {
	case w.dialect == a2a.V10:
		m["parts"] = text
	case w.rpc:
		text[0]["kind"] = "text"
		m["kind"], m["role"], m["parts"] = "message", "user", text
	default: // ProtoJSON
		m["content"] = text
	}
	return m
}
