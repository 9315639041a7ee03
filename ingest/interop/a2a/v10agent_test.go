package interop

import (
	"context"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/eventqueue"
)

// v10agent is the agent on the SDK's new line.
type v10agent struct{ *agent }

func (a v10agent) Execute(ctx context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		says := &v10voice{ctx: ctx, req: req, yield: yield}
		if err := a.perform(says, req.Message.Parts[0].Text(), req.StoredTask != nil); err != nil {
			yield(nil, err)
		}
	}
}

func (a v10agent) Cancel(ctx context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		(&v10voice{ctx: ctx, req: req, yield: yield}).status(canceled, "")
	}
}

type v10voice struct {
	ctx      context.Context
	req      *a2asrv.ExecutorContext
	yield    func(a2a.Event, error) bool
	artifact a2a.ArtifactID
}

// states puts the words of v0.3 into those of v1.0.
var states = map[string]a2a.TaskState{
	working: a2a.TaskStateWorking, completed: a2a.TaskStateCompleted, failed: a2a.TaskStateFailed,
	rejected: a2a.TaskStateRejected, canceled: a2a.TaskStateCanceled,
	inputRequired: a2a.TaskStateInputRequired, authRequired: a2a.TaskStateAuthRequired,
}

func (v *v10voice) id() string { return string(v.req.TaskID) }

func (v *v10voice) task() bool { return v.yield(a2a.NewSubmittedTask(v.req, v.req.Message), nil) }

func (v *v10voice) status(state, text string) bool {
	event := a2a.NewStatusUpdateEvent(v.req, states[state], nil)
	if text != "" {
		event.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, v.req, a2a.NewTextPart(text))
	}
	return v.yield(event, nil)
}

func (v *v10voice) chunk(text string, last bool) bool {
	event := a2a.NewArtifactUpdateEvent(v.req, v.artifact, a2a.NewTextPart(text))
	if v.artifact == "" {
		event = a2a.NewArtifactEvent(v.req, a2a.NewTextPart(text))
		event.Artifact.Name = "answer"
		v.artifact = event.Artifact.ID
	}
	event.LastChunk = last
	return v.yield(event, nil)
}

func (v *v10voice) things() bool {
	return v.yield(a2a.NewArtifactEvent(v.req,
		a2a.NewDataPart(map[string]any{"count": 7, "ids": []int{1, 2}}),
		a2a.NewRawPart([]byte("hi\n")),
		a2a.NewFileURLPart("https://files.example/a.csv", "text/csv"),
	), nil)
}

func (v *v10voice) message(text string) bool {
	return v.yield(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(text)), nil)
}

func (v *v10voice) wait(until <-chan struct{}) bool {
	select {
	case <-until:
		return true
	case <-v.ctx.Done():
		return false
	}
}

// v10spread notes when a task's events reach its listeners.
type v10spread struct {
	eventqueue.Manager
	spread *spread
}

func (m v10spread) CreateWriter(ctx context.Context, id a2a.TaskID) (eventqueue.Writer, error) {
	writer, err := m.Manager.CreateWriter(ctx, id)
	return v10writer{writer, string(id), m.spread}, err
}

type v10writer struct {
	eventqueue.Writer
	task   string
	spread *spread
}

func (w v10writer) Write(ctx context.Context, msg *eventqueue.Message) error {
	if err := w.Writer.Write(ctx, msg); err != nil {
		return err
	}
	w.spread.out(w.task)
	return nil
}
