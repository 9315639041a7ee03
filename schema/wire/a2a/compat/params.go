package compat

import "github.com/steno-io/steno/schema/wire/jsontree"

// paramsUp is how the params of a method of version 1.0 come from those of version 0.3; params of
// other methods stay.
func paramsUp(method string) rewrite {
	switch method {
	case sendMessage, sendStreamingMessage:
		return upward(func(o *object) {
			o.apply("message", upward(messageUp))
			o.apply("configuration", upward(configurationUp))
		})
	case listTasks:
		return upward(func(o *object) { o.apply("status", stateUp) })
	case createPushConfig:
		return upward(taskPushConfigUp)
	case getPushConfig, deletePushConfig:
		return upward(func(o *object) {
			taskIDUp(o)
			if o.has("taskId") {
				o.rename("pushNotificationConfigId", "id")
			}
		})
	case listPushConfigs:
		return upward(taskIDUp)
	}
	return jsontree.Value.Raw
}

// paramsDown is how the params of a method of version 1.0 become those of version 0.3.
func paramsDown(method string) rewrite {
	switch method {
	case sendMessage, sendStreamingMessage:
		return downward(func(o *object) {
			o.apply("message", downward(messageDown))
			waits := method == sendMessage
			if waits && !o.given("configuration") {
				o.set("configuration", []byte(`{"blocking":true}`))
			}
			o.apply("configuration", downward(configurationDown(waits)))
		})
	case listTasks:
		return downward(func(o *object) { o.apply("status", stateDown) })
	case createPushConfig:
		return downward(taskPushConfigDown)
	case getPushConfig, deletePushConfig:
		return downward(func(o *object) {
			if o.has("taskId") {
				o.rename("id", "pushNotificationConfigId")
				o.rename("taskId", "id")
			}
		})
	case listPushConfigs:
		return downward(func(o *object) { o.rename("taskId", "id") })
	case getTask, cancelTask, subscribeToTask:
		return downward(func(*object) {})
	}
	return jsontree.Value.Raw
}

// taskIDUp gives the task of a push configuration the name it has in version 1.0. In version 0.3 the
// params of these methods call the task id and have no taskId; where there is one, they are of
// version 1.0 already, whose id is the configuration.
func taskIDUp(o *object) {
	if !o.has("task_id") {
		o.rename("id", "taskId")
	}
}

func configurationUp(o *object) {
	negate(o, "blocking", "returnImmediately")
	o.apply("pushNotificationConfig", upward(pushConfigUp))
	o.rename("pushNotificationConfig", "taskPushNotificationConfig")
}

// configurationDown also writes out that the caller waits, if it does. In version 1.0 that is so
// unless it is denied; in version 0.3 silence leaves it to the server, and servers differ.
func configurationDown(waits bool) edit {
	return func(o *object) {
		waits := waits && !o.given("returnImmediately") && !o.given("blocking")
		negate(o, "returnImmediately", "blocking")
		if waits {
			o.set("blocking", []byte("true"))
		}
		o.apply("taskPushNotificationConfig", downward(pushConfigDown))
		o.rename("taskPushNotificationConfig", "pushNotificationConfig")
	}
}

// negate turns a flag into the one that says the opposite, unless that one is there.
func negate(o *object, from, to string) {
	if o.has(to) {
		return
	}
	o.apply(from, func(v jsontree.Value) []byte {
		switch v.Kind() {
		case 't':
			return []byte("false")
		case 'f':
			return []byte("true")
		}
		return v.Raw()
	})
	o.rename(from, to)
}
