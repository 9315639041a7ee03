package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// peer is a client of either line of the SDK, made from the agent's card.
type peer interface {
	send(ctx context.Context, a ask) []heard
	// stream listens until the stream ends, or until it has heard enough: then it goes away.
	stream(ctx context.Context, a ask, enough func(heard) bool) []heard
	get(ctx context.Context, task string) []heard
	cancel(ctx context.Context, task string) []heard
	subscribe(ctx context.Context, task string) []heard
	extendedCard(ctx context.Context) []heard
	pushConfig(ctx context.Context, task string) []heard
}

// dial reads the card at an address and makes a client of it.
type dial func(ctx context.Context, url string, through *http.Client) (peer, []heard)

// ask is what a client says.
type ask struct {
	text, message string
	task, context string // of the task that it goes on with
	push          *hook
}

// hook is where notifications go.
type hook struct{ url, token, credentials string }

// heard is what an SDK made of one answer.
type heard struct {
	task, context, state string
	decoded              string
}

// decoded keeps a value as the SDK has read it, with its type.
func decoded(v any, err error) string {
	if err != nil {
		return fmt.Sprintf("%T: %v", err, err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T: %+v: %v", v, v, err)
	}
	return fmt.Sprintf("%T %s", v, text)
}
