package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// peer is an A2A agent of 1.0: it streams an answer word by word, each after a token on may.
func peer(t *testing.T, may <-chan struct{}) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		task := "t-1"
		if strings.Contains(string(body), "again") {
			task = "t-2"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		item := func(format string, args ...any) {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"+format+"}\n\n", args...)
			_ = http.NewResponseController(w).Flush()
		}
		item(`{"task":{"id":%q,"contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`, task)
		for i, word := range []string{"There", " are", " 14", " sacks."} {
			select {
			case <-may:
			case <-r.Context().Done():
				return
			}
			item(`{"artifactUpdate":{"taskId":%q,"contextId":"c-1","artifact":{"artifactId":"a","parts":[{"text":%q}]},"append":%t}}`, task, word, i > 0)
		}
		item(`{"statusUpdate":{"taskId":%q,"contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}`, task)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// proxyProcess is a running steno proxy.
type proxyProcess struct {
	cmd *exec.Cmd
	url string
	out *bufio.Reader
}

func startProxy(t *testing.T, data, upstream string, flags ...string) *proxyProcess {
	t.Helper()
	cmd := stenoCommand(t.Context(), append([]string{"proxy", "--data", data, "--listen", "127.0.0.1:0", "--upstream", upstream, "--peer", "mill"}, flags...)...)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &proxyProcess{cmd: cmd, out: bufio.NewReader(errs)}
	line, err := p.out.ReadString('\n')
	require.NoError(t, err, line)
	_, rest, found := strings.Cut(line, "give clients ")
	require.True(t, found, line)
	p.url, _, _ = strings.Cut(rest, " ")
	line, err = p.out.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "steno tail --data "+data)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return p
}

func (p *proxyProcess) end(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
	rest, err := io.ReadAll(p.out)
	require.NoError(t, err)
	err = p.cmd.Wait()
	if s != syscall.SIGKILL {
		require.NoError(t, err, string(rest))
	}
}

// ask sends a message and gives the answer's items as they come.
func ask(t *testing.T, ctx context.Context, url, text, names string) *bufio.Scanner {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-%s"%s,"role":"ROLE_USER","parts":[{"text":%q}]}}}`, text, names, text)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("A2A-Version", "1.0")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer s3cret")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.Equal(t, 200, response.StatusCode)
	t.Cleanup(func() { _ = response.Body.Close() })
	return bufio.NewScanner(response.Body)
}

func item(t *testing.T, s *bufio.Scanner) string {
	t.Helper()
	for s.Scan() {
		if text, ok := strings.CutPrefix(s.Text(), "data: "); ok {
			return text
		}
	}
	return ""
}

func said(all []schema.Event) (out []string) {
	for _, e := range all {
		switch k := e.Kind.(type) {
		case *schema.Message:
			out = append(out, string(k.Role)+": "+k.Text)
		case *schema.Stop:
			out = append(out, "stop "+string(k.Reason))
		}
	}
	return out
}

func TestProxyRecordsAConversation(t *testing.T) {
	data, may := t.TempDir(), make(chan struct{}, 8)
	p := startProxy(t, data, peer(t, may), "--label", "team=oats")
	answer := ask(t, t.Context(), p.url, "sacks", "")
	require.Contains(t, item(t, answer), `"task"`)
	for _, word := range []string{"There", " are", " 14", " sacks."} {
		may <- struct{}{}
		require.Contains(t, item(t, answer), word, "an item comes before the next one is sent")
	}
	require.Contains(t, item(t, answer), "COMPLETED")
	require.Empty(t, item(t, answer))

	// The proxy lives: what was said is there all the same.
	var all []sink.Summary
	require.Eventually(t, func() bool {
		all = list(t, data)
		return len(all) == 1 && all[0].Status == schema.StatusEnded
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, "default/mill/"+schema.ConversationRun("mill", "c-1")+"/0/1/0", all[0].Key)
	require.Equal(t, map[string]string{"team": "oats"}, all[0].Labels)
	require.EqualValues(t, "a2a", all[0].Protocol)

	close(may)                                                      // the agent goes on by itself
	answer = ask(t, t.Context(), p.url, "again", `,"taskId":"t-1"`) // only the task names the conversation
	for item(t, answer) != "" {
	}
	p.end(t, syscall.SIGTERM)
	require.Equal(t, []string{
		"User: sacks", "Assistant: There are 14 sacks.", "stop EndTurn", "User: again", "Assistant: There are 14 sacks.", "stop EndTurn",
	}, said(events(t, ok(t, "show", "--data", data, "--json"))))
	require.Len(t, list(t, data), 1)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
	require.Contains(t, ok(t, "doctor", "--data", data, "--json"), `"capture":"mill","alive":false,"status":"ended"`)
	require.NotContains(t, ok(t, "show", "--data", data, "--json"), "s3cret")
	require.Contains(t, ok(t, "show", "--data", data, "--json"), `"upstream":"http://127.0.0.1:`)
}

// A proxy that is killed in the middle of an answer leaves what it passed on; the next one goes on in
// the same conversation.
func TestAKilledProxyLosesNothingThatWasPassedOn(t *testing.T) {
	data, may := t.TempDir(), make(chan struct{}, 8)
	upstream := peer(t, may)
	p := startProxy(t, data, upstream)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer := ask(t, ctx, p.url, "sacks", "")
	item(t, answer)
	for range 2 {
		may <- struct{}{}
		item(t, answer)
	}
	p.end(t, syscall.SIGKILL)
	close(may) // the agent goes on by itself
	p = startProxy(t, data, upstream)
	answer = ask(t, t.Context(), p.url, "again", `,"taskId":"t-1"`)
	for item(t, answer) != "" {
	}
	p.end(t, syscall.SIGTERM)
	require.Len(t, list(t, data), 1)
	shown := ok(t, "show", "--data", data, "--json")
	require.Contains(t, shown, "writer died")
	require.Equal(t, []string{
		"User: sacks", "Assistant: There are", "User: again", "Assistant: There are 14 sacks.", "stop EndTurn",
	}, said(events(t, shown)))
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
}

func TestProxyUsage(t *testing.T) {
	data := t.TempDir()
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "--upstream"},
		{[]string{"--upstream", "ftp://x"}, "Upstream"},
		{[]string{"--upstream", "http://x", "--profile", "nobody"}, "--profile"},
		{[]string{"--upstream", "http://x", "--listen", "nowhere"}, "--listen"},
		{[]string{"--upstream", "http://x", "--when-full", "drop"}, "--when-full"},
		{[]string{"--upstream", "http://x", "--label", "x"}, "--label"},
		{[]string{"--upstream", "http://x", "--listen", "127.0.0.1:0", "--push-listen", "0.0.0.0:8091"}, "--push-url"},
		{[]string{"--upstream", "http://x", "--push-listen", "127.0.0.1:8091", "--push-key", "/nonexistent"}, "--push-key"},
		{[]string{"--upstream", "http://x", "--namespace", "a b"}, "namespace"},
	} {
		_, stderr, code := steno(t, append([]string{"proxy", "--data", data}, tt.args...)...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, tt.says)
	}
}
