package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
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

	banner string
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
	p.banner = line
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
	const sent = "kurz-s3cr3t"
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "--upstream"},
		{[]string{"http://127.0.0.1:9000/?token=" + sent}, "the peer's URL goes behind --upstream, such as: steno proxy --upstream http://127.0.0.1:9000/?token=***"},
		{[]string{"--upstream", "ftp://x/?token=" + sent}, `--upstream: URL "ftp://x/?token=***": want http://`},
		{[]string{"--upstream", "x"}, "--upstream"},
		{[]string{"--upstream", "http://x", "--profile", "nobody"}, "--profile"},
		{[]string{"--upstream", "http://x", "--listen", "nowhere"}, `--listen "nowhere": want host:port, such as 127.0.0.1:8090`},
		{[]string{"--upstream", "http://x", "--listen", "8090"}, `--listen "8090": want host:port, such as 127.0.0.1:8090`},
		{[]string{"--upstream", "http://x", "--listen", "127.0.0.1:port"}, `want host:port`},
		{[]string{"--upstream", "http://x", "--push-listen", "8091"}, `--push-listen "8091": want host:port`},
		{[]string{"--upstream", "http://x", "--public-url", "x"}, "--public-url: URL"},
		{[]string{"--upstream", "http://x", "--grace", "-1s"}, "--grace: -1s"},
		{[]string{"--upstream", "http://x", "--when-full", "drop"}, "--when-full"},
		{[]string{"--upstream", "http://x", "--label", "x"}, "--label"},
		{[]string{"--upstream", "http://x", "--push-listen", "0.0.0.0:0"}, "--push-url"},
		{[]string{"--upstream", "http://x", "--push-listen", "127.0.0.1:0", "--push-url", "x"}, "--push-url: URL"},
		{[]string{"--upstream", "http://x", "--push-listen", "127.0.0.1:0", "--push-key", "/nonexistent"}, "--push-key"},
		{[]string{"--upstream", "http://x", "--push-url", "http://y"}, "--push-listen"},
		{[]string{"--upstream", "http://x", "--push-key", "/nonexistent"}, "--push-listen"},
		{[]string{"--upstream", "http://x", "--namespace", "a b"}, "namespace"},
		{[]string{"--upstream", "http://localhost:7/x", "--listen", "127.0.0.1:7"}, "the proxy would call itself"},
		{[]string{"--upstream", "http://127.0.0.1:7", "--push-url", "http://x", "--push-listen", "0.0.0.0:7"}, "--push-listen: the proxy would call itself"},
	} {
		_, stderr, code := steno(t, append([]string{"proxy", "--data", data, "--listen", "127.0.0.1:0"}, tt.args...)...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, tt.says)
		require.NotContains(t, stderr, sent)
	}
}

// TestABusyPortIsNoWrongUsage, and what is wrong usage is said before a port is asked for.
func TestABusyPortIsNoWrongUsage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	busy := l.Addr().String()
	_, stderr, code := steno(t, "proxy", "--data", t.TempDir(), "--upstream", "http://x", "--listen", busy)
	require.Equal(t, exitRuntime, code, stderr)
	require.Contains(t, stderr, "--listen: listen tcp "+busy)
	_, stderr, code = steno(t, "proxy", "--data", t.TempDir(), "--upstream", "http://x", "--listen", "127.0.0.1:0", "--push-listen", busy)
	require.Equal(t, exitRuntime, code, stderr)
	require.Contains(t, stderr, "--push-listen: listen tcp "+busy)
	_, stderr, code = steno(t, "proxy", "--data", t.TempDir(), "--upstream", "ftp://x", "--listen", busy)
	require.Equal(t, exitUsage, code, stderr)
	require.Contains(t, stderr, "--upstream: ")
}

func TestAURLThatLeadsToAnAddress(t *testing.T) {
	for _, c := range []struct {
		url, address string
		leads        bool
	}{
		{"http://127.0.0.1:80", "127.0.0.1:80", true}, {"http://127.0.0.1", "127.0.0.1:80", true}, {"HTTPS://LocalHost", "localhost:443", true},
		{"http://[::1]:80", "[::1]:80", true}, {"http://127.0.0.1:80", ":80", true}, {"http://127.0.0.2:80", "0.0.0.0:80", true},
		{"http://0.0.0.0:80", "0.0.0.0:80", true}, {"h2c://peer:80", "peer:80", true},
		{"http://127.0.0.1:81", "127.0.0.1:80", false}, {"http://127.0.0.2:80", "127.0.0.1:80", false}, {"http://peer:80", "127.0.0.1:80", false},
		{"http://peer:80", "0.0.0.0:80", false}, {"http://192.0.2.1:80", "0.0.0.0:80", false}, {"http://127.0.0.1:0", "127.0.0.1:0", false},
		{"http://%zz", "127.0.0.1:80", false},
	} {
		require.Equal(t, c.leads, leadsTo(c.url, c.address), "%v", c)
	}
}

// rest is what the process still says, once it has ended.
func (p *proxyProcess) rest(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(p.out)
	require.NoError(t, err)
	require.NoError(t, p.cmd.Wait(), string(text))
	return string(text)
}

// TestASecondSignalStopsAtOnce, in good order; and the first one says what it waits for.
func TestASecondSignalStopsAtOnce(t *testing.T) {
	data, may := t.TempDir(), make(chan struct{}, 8)
	p := startProxy(t, data, peer(t, may), "--grace", "1h")
	answer := ask(t, t.Context(), p.url, "sacks", "")
	require.Contains(t, item(t, answer), `"task"`)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT))
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "steno proxy: stopping: 1 exchange runs on, up to 1h0m0s; a second signal stops at once\n", line)
	may <- struct{}{}
	require.Contains(t, item(t, answer), "There", "it goes on")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Empty(t, p.rest(t))
	shown := ok(t, "show", "--data", data, "--json")
	require.Contains(t, shown, "the proxy was stopped")
	require.NotContains(t, shown, "writer died")
}

func TestWithoutGraceNothingRunsOn(t *testing.T) {
	data := t.TempDir()
	p := startProxy(t, data, peer(t, nil), "--grace", "0s")
	require.Contains(t, item(t, ask(t, t.Context(), p.url, "sacks", "")), `"task"`)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "steno proxy: stopping: 1 exchange is cut off\n", p.rest(t))
	require.Contains(t, ok(t, "show", "--data", data, "--json"), "the proxy was stopped")
}

// TestProxySaysWhatItsOperatorNeeds: exchanges, an upstream that is away, an open door; and no secret.
func TestProxySaysWhatItsOperatorNeeds(t *testing.T) {
	data := t.TempDir()
	answers := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	address := answers.Listener.Addr().String()
	answers.Close()
	p := startProxy(t, data, "http://"+address+"/?token=geheim", "--log-level", "info", "--listen", "0.0.0.0:0")
	res, err := http.Get(p.url + "/x?token=geheim")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	said := p.rest(t)
	require.Regexp(t, `(?m)^steno proxy: warning: other machines reach \S+: there is no TLS, and it asks nobody who they are$`, said)
	require.Contains(t, said, "steno proxy: the upstream cannot be reached: connect to upstream: dial tcp "+address)
	require.Regexp(t, `"level":"info","method":"GET","status":502,"ms":[0-9.]+,"bytes":[0-9]+,"exchange":"[0-9a-f-]{36}","path":"/x"`, said)
	require.NotContains(t, said, "stopping", "nothing ran")
	shown := ok(t, "show", "--data", data, "--json")
	require.Contains(t, shown, `"upstream":"http://`+address+`/?token=***"`)
	require.NotContains(t, shown+said+p.banner, "geheim")
}

// With a NATS of its own a proxy publishes as it records, and what a killed one left before: no holder
// of the directory is needed.
func TestProxiesPublishToANATS(t *testing.T) {
	s := natstest.Start(t)
	data, may := t.TempDir(), make(chan struct{}, 8)
	upstream := peer(t, may)
	p := startProxy(t, data, upstream, "--nats", s.URL())
	answer := ask(t, t.Context(), p.url, "sacks", "")
	item(t, answer)
	may <- struct{}{}
	item(t, answer)
	p.end(t, syscall.SIGKILL)
	close(may)
	p = startProxy(t, data, upstream, "--nats", s.URL())
	answer = ask(t, t.Context(), p.url, "again", `,"taskId":"t-1"`)
	for item(t, answer) != "" {
	}
	p.end(t, syscall.SIGTERM)

	id := schema.Identity{Namespace: "default", Workflow: "mill", Run: schema.ConversationRun("mill", "c-1"), Attempt: 1}
	var frames []string
	for m, err := range topology.Read(minute(t), s.JS, topology.Raw, schema.RawSubject(id, s.Info.Partitions), 1) {
		require.NoError(t, err)
		f, err := schema.FrameFromHeader(m.Header, m.Data)
		require.NoError(t, err)
		frames = append(frames, string(f.Type)+" "+string(f.Chan))
	}
	require.Equal(t, []string{
		"open ", "data request", "data stream", "data stream", "close ", // by the one that was killed
		"data request", "data stream", "data stream", "data stream", "data stream", "data stream", "data stream", "close ",
	}, frames)
	list, err := journal.List(data + "/journal")
	require.NoError(t, err)
	require.Len(t, list, 2)
	for _, info := range list {
		mark, err := journal.ReadMark(data+"/journal", info.ID)
		require.NoError(t, err)
		require.True(t, mark.Done)
	}
}
