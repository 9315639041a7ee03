package compat

import "github.com/steno-io/steno/schema/wire/jsontree"

// arm is one of the four things that a stream carries: version 1.0 names it by a wrapping member,
// version 0.3 by its kind.
type arm struct {
	name, kind string
	up, down   edit
}

// arms are in the order in which they are looked for.
var arms = []arm{
	{"task", kindTask, taskUp, taskDown},
	{"message", kindMessage, messageUp, messageDown},
	{"statusUpdate", kindStatusUpdate, statusUpdateUp, statusUpdateDown},
	{"artifactUpdate", kindArtifactUpdate, artifactUpdateUp, artifactUpdateDown},
}

// bare tells what an unwrapped object is, by its kind or else by its fields.
func bare(o *object) (arm, bool) {
	for _, a := range arms {
		if o.get("kind").Is(a.kind) {
			return a, true
		}
	}
	switch {
	case o.given("artifact") && (o.has("taskId") || o.has("contextId")):
		return arms[3], true
	case o.given("status") && o.has("taskId"):
		return arms[2], true
	case o.given("status") && o.has("id"):
		return arms[0], true
	case o.has("role") || o.has("parts"):
		return arms[1], true
	}
	return arm{}, false
}

// wrapped finds the first wrapper of version 1.0 that holds an object.
func wrapped(o *object) (arm, bool) {
	for _, a := range arms {
		if o.get(a.name).Kind() == jsontree.Object {
			return a, true
		}
	}
	return arm{}, false
}

// kinded reports whether an object carries a discriminator of version 0.3.
func kinded(o *object) bool {
	for _, a := range arms {
		if o.get("kind").Is(a.kind) {
			return true
		}
	}
	return false
}

// eventUp wraps a bare object of version 0.3.
func eventUp(v jsontree.Value) []byte {
	o, ok := open(v)
	if !ok {
		return v.Raw()
	}
	if a, ok := wrapped(o); ok && !kinded(o) {
		o.apply(a.name, upward(a.up))
		return o.bytes()
	}
	if a, ok := bare(o); ok {
		return single(a.name, upward(a.up)(v))
	}
	return v.Raw()
}

// eventDown unwraps an object of version 1.0. What stood beside the wrapped object is put into it;
// what has no room there stays in a member that is called as the wrapper was.
func eventDown(v jsontree.Value) []byte {
	o, ok := openProto(v)
	if !ok {
		return v.Raw()
	}
	if a, ok := wrapped(o); ok && !kinded(o) {
		inner, ok := openProto(o.get(a.name))
		if !ok {
			return v.Raw()
		}
		o.drop(a.name)
		a.down(inner)
		inner.adopt(o.members, a.name)
		return inner.bytes()
	}
	if a, ok := bare(o); ok {
		a.down(o)
		return o.bytes()
	}
	return v.Raw()
}

// EventUp rewrites the body of a push notification, or one bare item of a stream, from version 0.3
// to 1.0: a Task, Message, status update or artifact update gets the member that wraps it. Nothing
// is kept of final: in version 1.0 the state says it. A JSON-RPC item goes through ResponseUp.
//
// What is no such object comes back as it is. The result may be body itself. An error means that
// body is not one JSON value.
func EventUp(body []byte) ([]byte, error) { return apply("event", body, eventUp) }

// EventDown rewrites the body of a push notification, or one bare item of a stream, from version 1.0
// to 0.3: the wrapping member goes, kind and final come, and what version 0.3 requires and ProtoJSON
// leaves out is written out. A JSON-RPC item goes through ResponseDown.
//
// What is no such object comes back as it is. The result may be body itself. An error means that
// body is not one JSON value.
func EventDown(body []byte) ([]byte, error) { return apply("event", body, eventDown) }
