package compat

import "github.com/steno-io/steno/schema/wire/jsontree"

// pushConfigUp and pushConfigDown rewrite what both versions write flat: of a list of authentication
// schemes version 1.0 has room for one.
func pushConfigUp(o *object) {
	o.apply("authentication", upward(func(auth *object) {
		if auth.has("scheme") || auth.get("schemes").Kind() != jsontree.Array {
			return
		}
		list, ok := indexed(auth.get("schemes"))
		if !ok {
			return
		}
		for first := range list.Children() {
			auth.set("schemes", first.Raw())
			auth.rename("schemes", "scheme")
			return
		}
		auth.drop("schemes")
	}))
}

func pushConfigDown(o *object) {
	o.apply("authentication", downward(func(auth *object) {
		if auth.has("schemes") {
			return
		}
		auth.apply("scheme", func(v jsontree.Value) []byte {
			return append(append([]byte{'['}, v.Raw()...), ']')
		})
		auth.rename("scheme", "schemes")
		auth.fill("schemes", []byte("[]"))
	}))
}

// taskPushConfigUp lifts the configuration to the members beside it.
func taskPushConfigUp(o *object) {
	inner, ok := open(o.get("pushNotificationConfig"))
	if !ok {
		return
	}
	pushConfigUp(inner)
	lift(o, "pushNotificationConfig", inner)
}

// taskPushConfigDown sinks everything but the task, and the tenant that version 0.3 has not, into a
// configuration.
func taskPushConfigDown(o *object) {
	if o.has("pushNotificationConfig") {
		return
	}
	pushConfigDown(o)
	inner := object{changed: true}
	var outer []member
	for _, m := range o.members {
		if m.name == "taskId" || m.name == "tenant" {
			outer = append(outer, m)
		} else {
			inner.members = append(inner.members, m)
		}
	}
	o.members, o.changed = append(outer, newMember("pushNotificationConfig", inner.bytes())), true
	fillIDs(o, "taskId")
}

// pushConfigsUp puts the list of version 0.3, an array, into the object that version 1.0 answers with.
func pushConfigsUp(v jsontree.Value) []byte {
	if v.Kind() != jsontree.Array {
		return v.Raw()
	}
	return single("configs", elements(upward(taskPushConfigUp))(v))
}

// pushConfigsDown takes the list out; what stands beside it, such as the next page's token, has no
// place in version 0.3.
func pushConfigsDown(v jsontree.Value) []byte {
	o, ok := openProto(v)
	if !ok {
		return v.Raw()
	}
	if !o.has("configs") {
		if len(o.members) > 0 && !o.has("nextPageToken") {
			return v.Raw()
		}
		return []byte("[]")
	}
	return elements(downward(taskPushConfigDown))(o.get("configs"))
}

// deletedUp and deletedDown rewrite the answer that says nothing: null, and the empty object.
func deletedUp(v jsontree.Value) []byte {
	if v.Kind() == jsontree.Null {
		return []byte("{}")
	}
	return v.Raw()
}

func deletedDown(v jsontree.Value) []byte {
	if o, ok := open(v); ok && len(o.members) == 0 {
		return []byte("null")
	}
	return v.Raw()
}
