package interop

import (
	"context"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// v10peer is a client of the SDK's new line, in one form alone.
type v10peer struct{ *a2aclient.Client }

func dialV10JSONRPC(ctx context.Context, url string, through *http.Client) (peer, []heard) {
	return dialV10(ctx, url, through, nil, a2aclient.WithJSONRPCTransport(through))
}

func dialV10REST(ctx context.Context, url string, through *http.Client) (peer, []heard) {
	return dialV10(ctx, url, through, nil, a2aclient.WithRESTTransport(through))
}

func dialCompatJSONRPC(ctx context.Context, url string, through *http.Client) (peer, []heard) {
	return dialV10(ctx, url, through, a2av0.NewAgentCardParser(), a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{Client: through}))
}

func dialCompatREST(ctx context.Context, url string, through *http.Client) (peer, []heard) {
	return dialV10(ctx, url, through, a2av0.NewAgentCardParser(), a2av0.WithRESTTransport(a2av0.RESTTransportConfig{Client: through}))
}

func dialV10(ctx context.Context, url string, through *http.Client, parse agentcard.Parser, transport a2aclient.FactoryOption) (peer, []heard) {
	card, err := (&agentcard.Resolver{Client: through, CardParser: parse}).Resolve(ctx, url)
	said := []heard{{decoded: decoded(card, err)}}
	if err != nil {
		return nil, said
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithDefaultsDisabled(), transport)
	if err != nil {
		return nil, append(said, heard{decoded: decoded(nil, err)})
	}
	return v10peer{client}, said
}

func v10heard(event a2a.Event, err error) heard {
	h := heard{decoded: decoded(event, err)}
	if err != nil {
		return h
	}
	info := event.TaskInfo()
	h.task, h.context = string(info.TaskID), info.ContextID
	switch e := event.(type) {
	case *a2a.Task:
		h.state = v03state(e.Status.State)
	case *a2a.TaskStatusUpdateEvent:
		h.state = v03state(e.Status.State)
	}
	return h
}

func v03state(s a2a.TaskState) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_")), "_", "-")
}

func v10request(a ask) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(a.text))
	m.ID, m.TaskID, m.ContextID = a.message, a2a.TaskID(a.task), a.context
	req := &a2a.SendMessageRequest{Message: m}
	if a.push != nil {
		req.Config = &a2a.SendMessageConfig{PushConfig: &a2a.PushConfig{
			ID: "hook", URL: a.push.url, Token: a.push.token,
			Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: a.push.credentials},
		}}
	}
	return req
}

func (p v10peer) send(ctx context.Context, a ask) []heard {
	result, err := p.SendMessage(ctx, v10request(a))
	return []heard{v10heard(result, err)}
}

func (p v10peer) stream(ctx context.Context, a ask, enough func(heard) bool) (all []heard) {
	for event, err := range p.SendStreamingMessage(ctx, v10request(a)) {
		all = append(all, v10heard(event, err))
		if enough(all[len(all)-1]) {
			break
		}
	}
	return all
}

func (p v10peer) subscribe(ctx context.Context, task string) (all []heard) {
	for event, err := range p.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(task)}) {
		all = append(all, v10heard(event, err))
	}
	return all
}

func (p v10peer) get(ctx context.Context, task string) []heard {
	result, err := p.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(task)})
	return []heard{v10heard(result, err)}
}

func (p v10peer) cancel(ctx context.Context, task string) []heard {
	result, err := p.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(task)})
	return []heard{v10heard(result, err)}
}

func (p v10peer) extendedCard(ctx context.Context) []heard {
	card, err := p.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	return []heard{{decoded: decoded(card, err)}}
}

func (p v10peer) pushConfig(ctx context.Context, task string) []heard {
	config, err := p.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: a2a.TaskID(task), ID: "hook"})
	return []heard{{decoded: decoded(config, err)}}
}
