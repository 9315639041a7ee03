package compat

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema/wire/jsontree"
)

// ErrTrailing marks a body that goes on after its JSON value.
var ErrTrailing = errors.New("something stands behind the JSON value")

// RequestUp rewrites the body of a JSON-RPC request from version 0.3 to 1.0: the method's name and
// its params. The params of a method that version 0.3 lacks, and a body that is no request, stay.
//
// Not carried over: all but the first of a push configuration's authentication schemes. A request
// for a push configuration that names none, which version 0.3 allows, names none afterwards. Metadata
// stays where version 1.0 has no place for it.
//
// The result may be body itself. An error means that body is not one JSON value.
func RequestUp(body []byte) ([]byte, error) { return apply("request", body, each(requestUp)) }

// RequestDown rewrites the body of a JSON-RPC request from version 1.0 to 0.3: the method's name and
// its params. That the sender waits for the end, which version 1.0 takes for granted and version 0.3
// does not, is written out for SendMessage.
//
// Fields that version 0.3 lacks, such as tenant, the file name and media type of a text, and the
// pages of a list, stay as fields that it does not know.
//
// The result may be body itself. An error means that body is not one JSON value.
func RequestDown(body []byte) ([]byte, error) { return apply("request", body, each(requestDown)) }

// ResponseUp rewrites the body of a JSON-RPC response, or of one JSON-RPC item of a stream, from
// version 0.3 to 1.0. The method is that of the request, in either version's name; empty or unknown,
// the result is read as an item of a stream.
//
// Not carried over: final of a status update, and what RequestUp names. Error data that is no list of
// typed details becomes one.
//
// The result may be body itself. An error means that body is not one JSON value.
func ResponseUp(method string, body []byte) ([]byte, error) {
	result := resultUp(MethodUp(method))
	return apply("response", body, each(func(o *object) {
		o.apply("result", result)
		o.apply("error", upward(faultUp))
	}))
}

// ResponseDown rewrites the body of a JSON-RPC response, or of one JSON-RPC item of a stream, from
// version 1.0 to 0.3. The method is that of the request, in either version's name; empty or unknown,
// the result is read as an item of a stream.
//
// Not carried over: the token of a further page of push configurations. The errors -32008 and -32009
// become -32600 and -32004, their reason in the data. Data parts that hold no object are wrapped and
// marked in the part's metadata.
//
// The result may be body itself. An error means that body is not one JSON value.
func ResponseDown(method string, body []byte) ([]byte, error) {
	result := resultDown(MethodUp(method))
	return apply("response", body, each(func(o *object) {
		o.apply("result", result)
		o.apply("error", upward(faultDown))
	}))
}

func requestUp(o *object) {
	method, _ := o.get("method").Text()
	current := MethodUp(method)
	o.apply("method", wordUp(methods))
	o.apply("params", paramsUp(current))
	if current == getExtendedCard && o.has("method") {
		o.fill("params", []byte("{}"))
	}
}

func requestDown(o *object) {
	method, _ := o.get("method").Text()
	current := MethodUp(method)
	o.apply("method", wordDown(methods))
	o.apply("params", paramsDown(current))
	if params, ok := open(o.get("params")); ok && current == getExtendedCard && len(params.members) == 0 {
		o.drop("params")
	}
}

// resultUp is how the result of a method of version 1.0 comes from that of version 0.3.
func resultUp(method string) rewrite {
	switch method {
	case getTask, cancelTask:
		return upward(taskUp)
	case listTasks:
		return upward(func(o *object) { o.apply("tasks", elements(upward(taskUp))) })
	case createPushConfig, getPushConfig:
		return upward(taskPushConfigUp)
	case listPushConfigs:
		return pushConfigsUp
	case deletePushConfig:
		return deletedUp
	case getExtendedCard:
		return upward(cardUp)
	}
	return eventUp
}

// resultDown is how the result of a method of version 1.0 becomes that of version 0.3.
func resultDown(method string) rewrite {
	switch method {
	case getTask, cancelTask:
		return func(v jsontree.Value) []byte {
			if o, ok := open(v); ok && !o.has("id") {
				return eventDown(v) // some answer with a wrapper here too
			}
			return downward(taskDown)(v)
		}
	case listTasks:
		return downward(func(o *object) { o.apply("tasks", elements(downward(taskDown))) })
	case createPushConfig, getPushConfig:
		return downward(taskPushConfigDown)
	case listPushConfigs:
		return pushConfigsDown
	case deletePushConfig:
		return deletedDown
	case getExtendedCard:
		return downward(cardDown)
	}
	return eventDown
}

// each rewrites an object, or every object of a batch.
func each(e edit) rewrite {
	return func(v jsontree.Value) []byte {
		if v.Kind() == jsontree.Array {
			return elements(upward(e))(v)
		}
		return upward(e)(v)
	}
}

// apply rewrites a body that is one JSON value. An unchanged value gives body itself, with the white
// space around it.
func apply(what string, body []byte, r rewrite) ([]byte, error) {
	var reader jsontree.Reader
	end, err := reader.Read(body)
	if err != nil {
		return nil, fmt.Errorf("rewrite %s of %d bytes: %w", what, len(body), err)
	}
	if len(bytes.TrimLeft(body[end:], " \t\r\n")) > 0 {
		return nil, fmt.Errorf("rewrite %s of %d bytes: at offset %d: %w", what, len(body), end, ErrTrailing)
	}
	root := reader.Root()
	text := r(root)
	if bytes.Equal(text, root.Raw()) {
		return body, nil
	}
	return text, nil
}
