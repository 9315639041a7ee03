//go:build faults

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// held is a tapped agent that says what the test has it say, when it has it.
type held struct {
	r       *rig
	slot    *slot
	process *process
	capture string
	agent   *os.File // what is written here, the agent says
	client  *os.File // closed: the client has gone
	said    strings.Builder
}

// hold starts a tap in front of such an agent. attempt is the one that is asked for.
func (r *rig) hold(s *slot, data, run string) *held {
	h := &held{r: r, slot: s, capture: fmt.Sprintf("default/held/%s/0/1", run)}
	path := filepath.Join(r.dir, s.name+"-"+run+".pipe")
	require.NoError(r.t, syscall.Mkfifo(path, 0o600))
	cmd := r.steno("record", "--nats", s.line.url(), "--data", data, "--workflow", "held", "--run", run, "--", "cat", path)
	stdin, client, err := os.Pipe()
	require.NoError(r.t, err)
	cmd.Stdin = stdin
	h.process, err = s.begin(r, run, cmd)
	require.NoError(r.t, err)
	require.NoError(r.t, stdin.Close())
	h.client = client
	h.agent, err = os.OpenFile(path, os.O_WRONLY, 0) // it waits for the reader
	require.NoError(r.t, err)
	r.t.Cleanup(func() {
		_ = h.agent.Close() // it may be closed
		_ = client.Close()  // likewise
		h.process.kill()
		<-h.process.ended
	})
	return h
}

// says has the agent say a piece of a message.
func (h *held) says(text string) {
	h.said.WriteString(text)
	_, err := fmt.Fprintf(h.agent, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`+"\n", quoted(text))
	require.NoError(h.r.t, err)
}

// leaves ends agent and client, and waits for the tap's end.
func (h *held) leaves() {
	require.NoError(h.r.t, h.agent.Close())
	require.NoError(h.r.t, h.client.Close())
	<-h.process.ended
	h.slot.clear(h.process)
}

// answer is what an owner says of an open capture.
type answer struct {
	Frame    uint64
	Messages []struct{ Text string }
}

func (a answer) text() string {
	if len(a.Messages) == 0 {
		return ""
	}
	return a.Messages[0].Text
}

// partition is the one of a capture of which something is stored.
func (r *rig) partition(capture string) string {
	stream, err := r.js.Stream(r.ctx, "STENO_RAW")
	require.NoError(r.t, err)
	var found string
	require.Eventually(r.t, func() bool {
		m, err := stream.GetLastMsgForSubject(r.ctx, "steno.raw.*."+strings.ReplaceAll(capture, "/", "."))
		if err != nil {
			return false
		}
		found = strings.Split(m.Subject, ".")[2]
		return true
	}, time.Minute, look)
	return found
}

// asking asks the owners of a capture what is open in it; all answers come on the subscription.
func (r *rig) asking(capture string) *nats.Subscription {
	conn := r.js.Conn()
	inbox := nats.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	require.NoError(r.t, err)
	subject := "steno.open." + r.partition(capture) + "." + strings.ReplaceAll(capture, "/", ".")
	require.NoError(r.t, conn.PublishRequest(subject, inbox, nil))
	return sub
}

// next gives the next answer to a question; false where none comes in time.
func (r *rig) next(sub *nats.Subscription, within time.Duration) (a answer, ok bool) {
	m, err := sub.NextMsg(within)
	if err != nil {
		return a, false
	}
	if m.Header.Get("Status") == "503" {
		return a, false
	}
	require.NoError(r.t, json.Unmarshal(m.Data, &a), "an answer of one page: %s", m.Data)
	return a, true
}

// served waits until an answer has the whole text, and says how long that took.
func (r *rig) served(capture, text string, within time.Duration) time.Duration {
	began := time.Now()
	for {
		sub := r.asking(capture)
		a, ok := r.next(sub, 200*time.Millisecond)
		_ = sub.Unsubscribe() // the connection may be gone
		if ok && a.text() == text {
			return time.Since(began)
		}
		require.Less(r.t, time.Since(began), within, "no owner says %q: the last answer is %q", text, a.text())
		time.Sleep(look)
	}
}
