//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const answer = "There are 14 sacks."

// peer is an A2A agent of 1.0, which streams its answer word by word.
func peer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	_, task, _ := strings.Cut(string(body), `"text":"turn `)
	task, _, _ = strings.Cut(task, `"`)
	task = "t-" + task
	w.Header().Set("Content-Type", "text/event-stream")
	item := func(format string, args ...any) {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"+format+"}\n\n", args...)
		_ = http.NewResponseController(w).Flush() // a client that left is the next write's error
	}
	item(`{"task":{"id":%q,"contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`, task)
	for i, word := range strings.SplitAfter(answer, " ") {
		item(`{"artifactUpdate":{"taskId":%q,"contextId":"c-1","artifact":{"artifactId":"a","parts":[{"text":%q}]},"append":%t}}`, task, word, i > 0)
		time.Sleep(10 * time.Millisecond)
	}
	item(`{"statusUpdate":{"taskId":%q,"contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}`, task)
}

// tap is a running steno proxy in front of the peer.
type tap struct {
	cmd *exec.Cmd
	url string
	out *bufio.Reader
}

func (d *deployment) startProxy(t *testing.T) *tap {
	upstream := httptest.NewServer(http.HandlerFunc(peer))
	t.Cleanup(upstream.Close)
	p := &tap{cmd: d.command("proxy", "--nats", d.nats, "--data", filepath.Join(d.dir, "tap"), "--listen", "127.0.0.1:0",
		"--upstream", upstream.URL, "--peer", "mill")}
	errs, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // where the test did not come to its end
	p.out = bufio.NewReader(errs)
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	_, rest, found := strings.Cut(line, "give clients ")
	require.True(t, found, line)
	p.url, _, _ = strings.Cut(rest, " ")
	return p
}

// talkUntil talks to the peer through the proxy, turn by turn, and says how many were answered whole.
func (p *tap) talkUntil(t *testing.T, stop *atomic.Bool) (turns int) {
	for ; !stop.Load(); turns++ {
		text := fmt.Sprintf("turn %d", turns+1)
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-%d","contextId":"c-1","role":"ROLE_USER","parts":[{"text":%q}]}}}`, turns+1, text)
		request, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return turns
		}
		request.Header.Set("A2A-Version", "1.0")
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Errorf("talk through the proxy: %v", err)
			return turns
		}
		heard, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // it was read whole, or its error stands
		if err != nil || !strings.Contains(string(heard), "TASK_STATE_COMPLETED") {
			t.Errorf("the peer's answer to %s was cut: %v\n%s", text, err, heard)
			return turns
		}
		time.Sleep(50 * time.Millisecond)
	}
	return turns
}

// end stops the proxy, which publishes what is left of its journal.
func (p *tap) end(t *testing.T) {
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	said, err := io.ReadAll(p.out)
	require.NoError(t, err)
	require.NoError(t, p.cmd.Wait(), string(said))
	require.NotContains(t, string(said), "waits in its journal")
}
