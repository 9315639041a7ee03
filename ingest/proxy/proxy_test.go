package proxy

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

func TestAnExchangePassesUnchangedAndIsRecorded(t *testing.T) {
	var got *http.Request
	var sent string
	peer := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, sent = r, string(b)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "id=geheim")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"task" : {}}`)
	})
	b := newBook(t)
	p := start(t, b, peer.URL+"/a2a")
	req := newRequest(t, "POST", p.url+"/message:send?x=%2F&api_key=geheim&y", `{"message" :1}`,
		"Content-Type", "application/json", "Authorization", "Bearer geheim", "A2A-Version", "1.0", "X-Own", "1")
	res, body := ask(t, client(t, false), req)
	require.Equal(t, 201, res.StatusCode)
	require.Equal(t, `{"task" : {}}`, body)
	require.Equal(t, "id=geheim", res.Header.Get("Set-Cookie"))
	require.Equal(t, `{"message" :1}`, sent)
	require.Equal(t, "/a2a/message:send?x=%2F&api_key=geheim&y", got.RequestURI)
	require.Equal(t, "Bearer geheim", got.Header.Get("Authorization"))
	require.Equal(t, "1", got.Header.Get("X-Own"))
	require.Equal(t, int64(14), got.ContentLength)

	r := b.only(t)
	require.Empty(t, r.closed.Error)
	require.Equal(t, "/message:send?x=%2F&api_key=***&y", r.ask.ev.Path)
	require.Equal(t, []string{"authorization", "query api_key"}, r.ask.ev.Masked)
	require.Equal(t, "1.0", r.ask.ev.Version)
	require.Equal(t, `{"message" :1}`, r.ask.body)
	require.Equal(t, schema.FromClient, r.ask.from)
	require.Equal(t, schema.ChanResponse, r.answer.chan_)
	require.Equal(t, 201, r.answer.ev.Status)
	require.Equal(t, []string{"set-cookie"}, r.answer.ev.Masked)
	require.Equal(t, `{"task" : {}}`, r.answer.body)
	require.Equal(t, schema.FromAgent, r.answer.from)
	require.NotContains(t, b.all(), "geheim")
}
