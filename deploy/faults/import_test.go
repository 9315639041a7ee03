//go:build faults

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/steno-io/steno/deploy/outside"
)

// imported is a file that was imported to its end, and what must be stored of it.
type imported struct {
	capture string
	frames  []outside.Frame // From, Type, Exchange, Chan, End and Data count
	reruns  int
}

// importWithin is how long one file may take, killed and cut off as often as the seed says. A server that
// was killed is back after some seconds, and refuses connections until then.
const importWithin = 5 * time.Minute

// importFiles imports one generated file after the other, each until it is through, and gives what was
// imported when stopping is closed.
func (r *rig) importFiles(s *slot, program string, stopping <-chan struct{}) (all []imported) {
	for n := 1; ; n++ {
		select {
		case <-stopping:
			return all
		default:
		}
		workflow := s.name
		make, name := linesFile, fmt.Sprintf("%s-%d.jsonl", s.name, n)
		if n%3 == 0 {
			make = captureFile
		}
		text, frames := make(of(r.seed, s.name, n))
		path := filepath.Join(r.dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			r.t.Error(err)
			return all
		}
		run := fmt.Sprint("f-", n)
		one := imported{capture: fmt.Sprintf("default/%s/%s/0/1", workflow, run), frames: frames}
		for began := time.Now(); ; one.reruns++ {
			p, err := s.run(r, run, r.command(program, "import", "--nats", s.line.url(), "--workflow", workflow, "--run", run, path))
			if err != nil {
				r.t.Error(err)
				return all
			}
			if p.state.Success() {
				break
			}
			if !sleep(r.over, 100*time.Millisecond) {
				return all
			}
			if time.Since(began) > importWithin || r.ctx.Err() != nil {
				r.t.Errorf("import %s does not come to its end in %s: %s", path, time.Since(began).Round(time.Second), lastLine(p.log))
				return all
			}
		}
		all = append(all, one)
		if err := os.Remove(path); err != nil {
			r.t.Error(err)
		}
	}
}

// linesFile makes plain JSON-RPC lines of ACP.
func linesFile(r *rand.Rand) (file []byte, frames []outside.Frame) {
	for _, s := range conversation(r, 1+r.IntN(8)) {
		mark, from := "< ", "agent"
		if s.client {
			mark, from = "> ", "client"
		}
		file = append(append(append(file, mark...), s.text...), '\n')
		frames = append(frames, outside.Frame{From: from, Type: "data", End: "lf", Data: []byte(s.text)})
	}
	return file, frames
}

// captureFile makes a capture file of A2A.
func captureFile(r *rand.Rand) (file []byte, frames []outside.Frame) {
	var b bytes.Buffer
	put := func(exchange, from, channel string, no int, http, text string) {
		line := map[string]any{"protocol": "a2a", "from": from, "exchange": exchange, "chan": channel, "text": text, "http": json.RawMessage(http)}
		if no > 0 {
			line["no"] = no
		}
		encoded, err := json.Marshal(line)
		if err != nil {
			panic(err) // it holds nothing that has no JSON
		}
		b.Write(append(encoded, '\n'))
		frames = append(frames, outside.Frame{From: from, Type: "data", End: "none", Exchange: exchange, Chan: channel, Data: []byte(text)})
	}
	for i := range 1 + r.IntN(6) {
		exchange := fmt.Sprintf("01a228e9-8ad8-7000-8000-%012d", i+1)
		put(exchange, "client", "request", 0, `{"method":"POST","path":"/","a2a_version":"1.0"}`, question("c-1", i, text(r, 3)))
		for no, item := range answers("c-1", i, strings.Fields(text(r, 2+r.IntN(12)))) {
			http := `{}`
			if no == 0 {
				http = `{"status":200,"content_type":"text/event-stream"}`
			}
			put(exchange, "agent", "stream", no+1, http, item)
		}
	}
	return b.Bytes(), frames
}

// question is a request of A2A 1.0.
func question(conversation string, turn int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-%s-%d","contextId":%q,"role":"ROLE_USER","parts":[{"text":%s}]}}}`,
		conversation, turn, conversation, quoted(text))
}

// answers are the items of the stream that answers it.
func answers(conversation string, turn int, words []string) (items []string) {
	task := fmt.Sprintf("t-%s-%d", conversation, turn)
	item := func(format string, args ...any) {
		items = append(items, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"+format+"}\n\n", args...))
	}
	item(`{"task":{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_WORKING"}}}`, task, conversation)
	for i, word := range words {
		item(`{"artifactUpdate":{"taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"text":%s}]},"append":%t}}`, task, conversation, quoted(word), i > 0)
	}
	item(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":"TASK_STATE_COMPLETED"}}}`, task, conversation)
	return items
}
