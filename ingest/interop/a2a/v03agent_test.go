package interop

import (
	"context"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

// v03agent is the agent on the SDK's old line.
type v03agent struct{ *agent }

func (a v03agent) Execute(ctx context.Context, req *a2asrv.RequestContext, queue eventqueue.Queue) error {
	says := &v03voice{ctx: ctx, req: req, queue: queue}
	if err := a.perform(says, req.Message.Parts[0].(a2a.TextPart).Text, req.StoredTask != nil); err != nil {
		return err
	}
	return says.err
}

func (a v03agent) Cancel(ctx context.Context, req *a2asrv.RequestContext, queue eventqueue.Queue) error {
	says := &v03voice{ctx: ctx, req: req, queue: queue}
	says.status(canceled, "")
	return says.err
}

type v03voice struct {
	ctx      context.Context
	req      *a2asrv.RequestContext
	queue    eventqueue.Queue
	artifact a2a.ArtifactID
	err      error
}

func (v *v03voice) write(event a2a.Event) bool {
	v.err = v.queue.Write(v.ctx, event)
	return v.err == nil
}

func (v *v03voice) id() string { return string(v.req.TaskID) }

func (v *v03voice) task() bool { return v.write(a2a.NewSubmittedTask(v.req, v.req.Message)) }

func (v *v03voice) status(state, text string) bool {
	event := a2a.NewStatusUpdateEvent(v.req, a2a.TaskState(state), nil)
	if text != "" {
		event.Status.Message = a2a.NewMessageForTask(a2a.MessageRoleAgent, v.req, a2a.TextPart{Text: text})
	}
	event.Final = state != working && state != authRequired
	return v.write(event)
}

func (v *v03voice) chunk(text string, last bool) bool {
	event := a2a.NewArtifactUpdateEvent(v.req, v.artifact, a2a.TextPart{Text: text})
	if v.artifact == "" {
		event = a2a.NewArtifactEvent(v.req, a2a.TextPart{Text: text})
		event.Artifact.Name = "answer"
		v.artifact = event.Artifact.ID
	}
	event.LastChunk = last
	return v.write(event)
}

func (v *v03voice) things() bool {
	return v.write(a2a.NewArtifactEvent(v.req,
		a2a.DataPart{Data: map[string]any{"count": 7, "ids": []int{1, 2}}},
		a2a.FilePart{File: a2a.FileBytes{Bytes: "aGkK"}},
		a2a.FilePart{File: a2a.FileURI{FileMeta: a2a.FileMeta{MimeType: "text/csv"}, URI: "https://files.example/a.csv"}},
	))
}

func (v *v03voice) message(text string) bool {
	return v.write(a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: text}))
}

func (v *v03voice) wait(until <-chan struct{}) bool {
	select {
	case <-until:
		return true
	case <-v.ctx.Done():
		v.err = v.ctx.Err()
		return false
	}
}

// v03spread notes when a task's events reach its listeners.
type v03spread struct {
	eventqueue.Manager
	spread *spread
}

func (m v03spread) GetOrCreate(ctx context.Context, id a2a.TaskID) (eventqueue.Queue, error) {
	queue, err := m.Manager.GetOrCreate(ctx, id)
	return v03queue{queue, string(id), m.spread}, err
}

type v03queue struct {
	eventqueue.Queue
	task   string
	spread *spread
}

func (q v03queue) WriteVersioned(ctx context.Context, event a2a.Event, version a2a.TaskVersion) error {
	if err := q.Queue.WriteVersioned(ctx, event, version); err != nil {
		return err
	}
	q.spread.out(q.task)
	return nil
}
