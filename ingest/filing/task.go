package filing

import (
	"context"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// maxTasks bounds the tasks remembered; the bucket knows them all.
const maxTasks = 100_000

// task looks a task up.
func (f *filer) task(ctx context.Context, task string) (schema.Identity, bool, error) {
	if task == "" {
		return schema.Identity{}, false, nil
	}
	key := f.taskKey(task)
	if id, ok := f.tasks[key]; ok {
		return id, true, nil
	}
	filing, ok, err := f.keys.Get(ctx, key)
	if err == nil && ok {
		f.remember(key, filing.Capture)
	}
	return filing.Capture, ok, err
}

// keep notes in the bucket that the exchange's capture is that of the task. Where another one is there
// already, an exchange that is not decided goes there.
func (f *filer) keep(ctx context.Context, x *attribution, task string) error {
	if task == "" {
		return nil
	}
	x.kept = true
	key := f.taskKey(task)
	there, ok := f.tasks[key]
	if !ok && f.at <= f.again { // it is there, and to look is cheaper than to be refused
		var err error
		if there, ok, err = f.task(ctx, task); err != nil {
			return err
		}
	}
	if !ok {
		filing, err := f.keys.Keep(ctx, key, topology.Filing{Capture: x.capture})
		if err != nil {
			return err
		}
		there = filing.Capture
		f.remember(key, there)
	}
	if !x.decided && !x.bound {
		x.capture = there
	}
	return nil
}

func (f *filer) remember(key string, id schema.Identity) {
	if len(f.tasks) >= maxTasks {
		clear(f.tasks)
	}
	f.tasks[key] = id
}

func (f *filer) taskKey(task string) string {
	id := f.head.Identity
	return topology.TaskKey(id.Namespace, id.Workflow, f.head.Open.Peer, task)
}
