package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// heldPeer is an A2A agent of 1.0 whose streamed tasks go on until they are cancelled: task t-X in conversation c-X for
// the text X. "ask" waits for an answer at once, cancels of "stays" are refused, and those of "lost" are done
// without a word.
type heldPeer struct {
	mu    sync.Mutex
	over  map[string]chan struct{}
	calls map[string]int // by method and task
}

func (p *heldPeer) task(id string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over[id] == nil {
		p.over[id] = make(chan struct{})
	}
	return p.over[id]
}

func (p *heldPeer) called(what string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[what]
}

func (p *heldPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Method string
		Params struct {
			ID      string
			Message struct {
				TaskID string
				Parts  []struct{ Text string }
			}
		}
	}
	if json.NewDecoder(r.Body).Decode(&ask) != nil || r.Header.Get("Authorization") != "Bearer s3cret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := ask.Params.ID + ask.Params.Message.TaskID
	p.mu.Lock()
	p.calls[ask.Method+" "+id]++
	p.mu.Unlock()
	task := func(id, state string) string {
		return fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}`, id, "c"+id[1:], state)
	}
	switch ask.Method {
	case "SendStreamingMessage":
		id = "t-" + ask.Params.Message.Parts[0].Text
		w.Header().Set("Content-Type", "text/event-stream")
		item := func(text string) {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", text)
			_ = http.NewResponseController(w).Flush()
		}
		if id == "t-ask" {
			item(`{"task":` + task(id, "INPUT_REQUIRED") + `}`)
			return
		}
		item(`{"task":` + task(id, "WORKING") + `}`)
		item(fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"text":"There are"}]}}}`, id, "c"+id[1:]))
		select {
		case <-p.task(id):
			item(fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":"TASK_STATE_CANCELED"}}}`, id, "c"+id[1:]))
		case <-r.Context().Done():
		}
		return
	case "CancelTask":
		if id == "t-stays" {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Task cannot be canceled"}}`)
			return
		}
		close(p.task(id))
		if id == "t-lost" {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, task(id, "CANCELED"))
	case "SendMessage":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"task":%s}}`, task(id, "COMPLETED"))
	}
}

// A cancel and a message reach an A2A peer through the proxy, as calls of the client's; the transcript shows who did it
// and what came of it, whatever that was.
func TestInterventionsThroughProxy(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	peer := &heldPeer{over: map[string]chan struct{}{}, calls: map[string]int{}}
	server := httptest.NewServer(peer)
	t.Cleanup(server.Close)
	up := startUp(t, data, "--sync", "1s")
	p := startProxy(t, data, server.URL)
	key := func(text string) string {
		return "default/mill/" + schema.ConversationRun("mill", "c-"+text) + "/0/1/0"
	}
	begin := func(text string) *bufio.Scanner {
		answer := ask(t, t.Context(), p.url, text, "")
		require.Contains(t, item(t, answer), `"task"`)
		require.Eventually(t, func() bool {
			out, _, code := steno(t, "ls", "--data", data, "--json")
			return code == exitOK && strings.Contains(out, key(text))
		}, time.Minute, 50*time.Millisecond)
		return answer
	}
	sacks := begin("sacks")
	require.Contains(t, item(t, sacks), "There are")
	_, says, code := steno(t, "pause", "--data", data, key("sacks"))
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "what it delivers now: cancel, inject_message")
	cancel := []string{"cancel", "--data", data, "--json", "--id", "c-1", "--reason", "the wrong mill", key("sacks")}
	require.Contains(t, ok(t, cancel...), `"outcome":"Applied"`)
	require.Contains(t, item(t, sacks), "CANCELED")
	require.Empty(t, item(t, sacks))
	require.Contains(t, ok(t, cancel...), `"outcome":"Applied"`, "it is answered with the first outcome, and not done again")
	require.Equal(t, 1, peer.called("CancelTask t-sacks"))
	_, says, code = steno(t, "cancel", "--data", data, key("sacks"))
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "not applied: no task is in progress")

	begin("ask")
	require.Contains(t, ok(t, "inject", "--data", data, key("ask"), "The eastern one"), "applied: inject_message")
	require.Equal(t, 1, peer.called("SendMessage t-ask"))

	stays := begin("stays")
	_, says, code = steno(t, "cancel", "--data", data, key("stays"))
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "not applied: the peer refused it: -32002 Task cannot be canceled")
	close(peer.task("t-stays"))
	for item(t, stays) != "" {
	}

	lost := begin("lost")
	out, says, code := steno(t, "cancel", "--data", data, "--json", "--id", "c-2", key("lost"))
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "unknown whether it was applied: it was sent")
	require.NotContains(t, says, "not applied")
	require.Contains(t, says, "steno show "+key("lost"))
	require.Contains(t, out, `"unknown":true`)
	require.Contains(t, out, `"outcome":"StaleTarget","detail":"it was sent, and no answer came, so whether it was done is not known: `)
	for item(t, lost) != "" {
	}
	again, _, code := steno(t, "cancel", "--data", data, "--json", "--id", "c-2", key("lost"))
	require.Equal(t, exitRuntime, code)
	require.Equal(t, out, again)
	require.Equal(t, 1, peer.called("CancelTask t-lost"))
	p.end(t, syscall.SIGTERM)

	by := systemUser()
	told := func(text string) (all []string) {
		for _, e := range events(t, ok(t, "show", "--data", data, "--json", key(text))) {
			switch k := e.Kind.(type) {
			case *schema.Message:
				all = append(all, e.AgentRole+" "+string(k.Role)+": "+k.Text)
			case *schema.Stop:
				all = append(all, "stop "+string(k.Reason))
			case *schema.Progress:
				if e.AgentRole == "operator" {
					require.Equal(t, "t-"+text, e.Source.TaskID)
					all = append(all, k.Detail.(*schema.Note).Text)
				}
			}
		}
		return all
	}
	require.Equal(t, []string{"agent User: sacks", "cancel by " + by + ": the wrong mill", "agent Assistant: There are", "stop Cancelled"}, told("sacks"))
	require.Equal(t, []string{"agent User: ask", "inject_message by " + by, "operator User: The eastern one", "stop EndTurn"}, told("ask"))
	require.Equal(t, []string{
		"agent User: stays", "cancel by " + by, "cancel by " + by + ": StaleTarget: the peer refused it: -32002 Task cannot be canceled",
		"agent Assistant: There are", "stop Cancelled",
	}, told("stays"))
	require.Len(t, told("lost"), 5)
	require.Len(t, list(t, data), 4, "each call stands in the conversation that it is about")
	shown := ok(t, "show", "--data", data, "--json", key("sacks"))
	require.NotContains(t, shown, "s3cret")
	require.Contains(t, shown, `"source":"a2a/1.0/jsonrpc/CancelTask/request"`)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
	require.Zero(t, up.stop(t))
}
