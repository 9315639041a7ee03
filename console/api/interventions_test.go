package api_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
)

// reached is a conversation that takes cancels.
type reached struct {
	mu  sync.Mutex
	got []schema.Intervention
}

func (r *reached) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (r *reached) Deliver(_ context.Context, i schema.Intervention) schema.Outcome {
	if i.Kind.Kind != schema.PrimitiveCancel {
		return schema.NotSupported(i.Kind.Kind)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, i)
	return schema.Applied()
}

// post sends a body with a token.
func (s *site) post(at, token, kind, body string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+at, strings.NewReader(body))
	require.NoError(s.t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	data, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	a := answer{response, string(data)}
	described(s.t, a)
	return a
}

func TestInterventions(t *testing.T) {
	p := newPipeline(t)
	_, key := p.begin("oats", "intervened")
	at := path(key) + "/interventions"
	operators, err := api.ReadOperators(strings.NewReader("miller 0123456789abcdef\nbaker fedcba9876543210\n"))
	require.NoError(t, err)
	closed, s := p.serve(api.Options{}), p.serve(api.Options{Operators: operators, Namespaces: []string{"oats"}})
	const json, cancel = "application/json", `{"id":"c-1","kind":{"kind":"Cancel","reason":"enough"}}`
	refuses := func(a answer, status int, code string) {
		t.Helper()
		require.Equal(t, status, a.StatusCode, a.body)
		require.Contains(t, a.body, `"code":"`+code+`"`)
	}
	refuses(closed.post(at, "0123456789abcdef", json, cancel), http.StatusForbidden, "no_interventions")
	for _, token := range []string{"", "0123456789abcdeF", "0123456789abcde"} {
		a := s.post(at, token, json, cancel)
		refuses(a, http.StatusUnauthorized, "unauthorized")
		require.Equal(t, "Bearer", a.Header.Get("WWW-Authenticate"))
	}
	require.Equal(t, `{"supported":[]}`+"\n", s.get(at).body, "nobody takes them")
	a := s.post(at, "0123456789abcdef", json, cancel)
	require.Equal(t, `{"id":"c-1","outcome":"StaleTarget","detail":"nobody takes interventions for it"}`+"\n", a.body)

	target := &reached{}
	stop := p.Background(func(ctx context.Context) error {
		return intervene.NewDesk(target).Serve(ctx, p.conn, key.Identity, nil)
	})
	eventually(t, func() bool { return s.get(at).body == `{"supported":[{"primitive":"Cancel"}]}`+"\n" }, "it is served")
	for range 2 {
		a = s.post(at, "0123456789abcdef", json, cancel)
		require.Equal(t, `{"id":"c-1","outcome":"Applied"}`+"\n", a.body)
	}
	require.Len(t, target.got, 1)
	require.Equal(t, "miller", target.got[0].IssuedBy)
	require.Equal(t, "s", target.got[0].Session, "the session is the transcript's")
	a = s.post(at, "fedcba9876543210", json, `{"kind":{"kind":"PauseResume","paused":true}}`)
	require.Equal(t, http.StatusOK, a.StatusCode)
	require.Contains(t, a.body, `"outcome":"CapabilityNotSupported","primitive":{"primitive":"PauseResume"}`)
	refuses(s.post(at, "fedcba9876543210", json, cancel), http.StatusBadRequest, "bad_parameter") // the id is another's

	for _, bad := range []string{
		"", "[]", "{}", cancel + "x", `{"kind":{"kind":"Burn"}}`, `{"kind":{"kind":"Cancel"},"issued_by":"the king"}`,
		`{"kind":{"kind":"Cancel"},"when":"soon"}`, `{"kind":{"kind":"Cancel","reason":"` + strings.Repeat("x", 70_000) + `"}}`,
	} {
		refuses(s.post(at, "0123456789abcdef", json, bad), http.StatusBadRequest, "bad_parameter")
	}
	refuses(s.post(at, "0123456789abcdef", "text/plain", cancel), http.StatusBadRequest, "bad_parameter")
	refuses(s.post(at+"?x=1", "0123456789abcdef", json, cancel), http.StatusBadRequest, "bad_parameter")
	foreign := key
	foreign.Namespace = "rye"
	refuses(s.post(path(foreign)+"/interventions", "0123456789abcdef", json, cancel), http.StatusNotFound, "not_found")
	require.Len(t, target.got, 1)
	require.Equal(t, http.StatusMethodNotAllowed, s.ask(http.MethodPut, at, "").StatusCode)
	stop()

	answers := func(text string) answer {
		sub, err := p.conn.Subscribe(schema.InterveneSubjects(key.Identity), func(m *nats.Msg) { _ = m.Respond([]byte(text)) })
		require.NoError(t, err)
		require.NoError(t, p.conn.Flush())
		defer sub.Unsubscribe() //nolint:errcheck // the connection goes with the test
		return s.post(at, "0123456789abcdef", json, cancel)
	}
	a = answers(`{"outcome":"StaleTarget","detail":"it was sent","unknown":true}`)
	require.Equal(t, `{"id":"c-1","outcome":"StaleTarget","detail":"it was sent","unknown":true}`+"\n", a.body)
	a = answers(`{"error":"too many wait","busy":true}`)
	refuses(a, http.StatusServiceUnavailable, "unanswered")
	require.Contains(t, a.body, "under its id, c-1")
}
