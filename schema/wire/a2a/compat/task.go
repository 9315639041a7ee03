package compat

import "github.com/steno-io/steno/schema/wire/jsontree"

// The discriminators of version 0.3.
const (
	kindTask           = "task"
	kindMessage        = "message"
	kindStatusUpdate   = "status-update"
	kindArtifactUpdate = "artifact-update"
)

// discard drops the kind of an object of version 0.3; a member of that name which says something
// else is somebody's own field.
func discard(o *object, kind string) {
	if o.get("kind").Is(kind) {
		o.drop("kind")
	}
}

func messageUp(o *object) {
	discard(o, kindMessage)
	o.apply("role", roleUp)
	o.apply("parts", elements(upward(partUp)))
}

func messageDown(o *object) {
	o.lead("kind", quote(kindMessage))
	o.apply("role", roleDown)
	o.apply("parts", elements(downward(partDown)))
	o.fill("parts", []byte("[]"))
}

func artifactUp(o *object) {
	o.apply("parts", elements(upward(partUp)))
}

func artifactDown(o *object) {
	o.apply("parts", elements(downward(partDown)))
	o.fill("parts", []byte("[]"))
}

func statusUp(o *object) {
	o.apply("state", stateUp)
	o.apply("message", upward(messageUp))
}

// statusDown names the state that ProtoJSON leaves out: the one with the number 0.
func statusDown(o *object) {
	o.apply("state", stateDown)
	o.fill("state", quote(states[0].old))
	o.apply("message", downward(messageDown))
}

func taskUp(o *object) {
	discard(o, kindTask)
	o.apply("status", upward(statusUp))
	o.apply("history", elements(upward(messageUp)))
	o.apply("artifacts", elements(upward(artifactUp)))
}

func taskDown(o *object) {
	o.lead("kind", quote(kindTask))
	fillIDs(o, "contextId")
	o.apply("status", downward(statusDown))
	o.apply("history", elements(downward(messageDown)))
	o.apply("artifacts", elements(downward(artifactDown)))
}

func statusUpdateUp(o *object) {
	discard(o, kindStatusUpdate)
	if k := o.get("final").Kind(); k == 't' || k == 'f' {
		o.drop("final")
	}
	o.apply("status", upward(statusUp))
}

func statusUpdateDown(o *object) {
	o.lead("kind", quote(kindStatusUpdate))
	fillIDs(o, "taskId", "contextId")
	if k := o.get("final").Kind(); k != 't' && k != 'f' {
		o.set("final", final(o.get("status")))
	}
	o.apply("status", downward(statusDown))
}

// final tells whether a status update is the last one that a client of version 0.3 should wait for.
// Version 1.0 says it by the state alone: the task has ended, or the next word is the user's. A task
// that waits for credentials may go on by itself.
func final(status jsontree.Value) []byte {
	o, ok := openProto(status)
	if !ok || !o.has("state") {
		return []byte("false")
	}
	switch string(stateDown(o.get("state"))) {
	case `"completed"`, `"failed"`, `"canceled"`, `"rejected"`, `"input-required"`:
		return []byte("true")
	}
	return []byte("false")
}

func artifactUpdateUp(o *object) {
	discard(o, kindArtifactUpdate)
	o.apply("artifact", upward(artifactUp))
}

func artifactUpdateDown(o *object) {
	o.lead("kind", quote(kindArtifactUpdate))
	fillIDs(o, "taskId", "contextId")
	o.apply("artifact", downward(artifactDown))
}

// fillIDs writes out ids that version 0.3 requires and ProtoJSON leaves out: they are empty.
func fillIDs(o *object, names ...string) {
	for _, name := range names {
		o.fill(name, []byte(`""`))
	}
}
