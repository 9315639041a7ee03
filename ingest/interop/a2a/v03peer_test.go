package interop

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
)

// v03peer is a client of the SDK's old line.
type v03peer struct{ *a2aclient.Client }

func dialV03(ctx context.Context, url string, through *http.Client) (peer, []heard) {
	card, err := agentcard.NewResolver(through).Resolve(ctx, url)
	said := []heard{{decoded: decoded(card, err)}}
	if err != nil {
		return nil, said
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(), a2aclient.WithJSONRPCTransport(through))
	if err != nil {
		return nil, append(said, heard{decoded: decoded(nil, err)})
	}
	return v03peer{client}, said
}

func v03heard(event a2a.Event, err error) heard {
	h := heard{decoded: decoded(event, err)}
	if err != nil {
		return h
	}
	info := event.TaskInfo()
	h.task, h.context = string(info.TaskID), info.ContextID
	switch e := event.(type) {
	case *a2a.Task:
		h.state = string(e.Status.State)
	case *a2a.TaskStatusUpdateEvent:
		h.state = string(e.Status.State)
	}
	return h
}

func v03params(a ask) *a2a.MessageSendParams {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: a.text})
	m.ID, m.TaskID, m.ContextID = a.message, a2a.TaskID(a.task), a.context
	params := &a2a.MessageSendParams{Message: m}
	if a.push != nil {
		params.Config = &a2a.MessageSendConfig{PushConfig: &a2a.PushConfig{
			ID: "hook", URL: a.push.url, Token: a.push.token,
			Auth: &a2a.PushAuthInfo{Schemes: []string{"Bearer"}, Credentials: a.push.credentials},
		}}
	}
	return params
}

func (p v03peer) send(ctx context.Context, a ask) []heard {
	result, err := p.SendMessage(ctx, v03params(a))
	return []heard{v03heard(result, err)}
}

func (p v03peer) stream(ctx context.Context, a ask, enough func(heard) bool) (all []heard) {
	for event, err := range p.SendStreamingMessage(ctx, v03params(a)) {
		all = append(all, v03heard(event, err))
		if enough(all[len(all)-1]) {
			break
		}
	}
	return all
}

func (p v03peer) subscribe(ctx context.Context, task string) (all []heard) {
	for event, err := range p.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(task)}) {
		all = append(all, v03heard(event, err))
	}
	return all
}

func (p v03peer) get(ctx context.Context, task string) []heard {
	result, err := p.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(task)})
	return []heard{v03heard(result, err)}
}

func (p v03peer) cancel(ctx context.Context, task string) []heard {
	result, err := p.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(task)})
	return []heard{v03heard(result, err)}
}

func (p v03peer) extendedCard(ctx context.Context) []heard {
	card, err := p.GetAgentCard(ctx)
	return []heard{{decoded: decoded(card, err)}}
}

func (p v03peer) pushConfig(ctx context.Context, task string) []heard {
	config, err := p.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigParams{TaskID: a2a.TaskID(task), ConfigID: "hook"})
	return []heard{{decoded: decoded(config, err)}}
}
