package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// asAgent makes the test binary a small ACP agent. Its value is how the agent behaves at its end:
// "exit" with status 7 on the prompt "die", else with 0 at the end of its input. On the prompt "wait" it
// waits to be cancelled; on "stream" it says some pieces, listening meanwhile. What it is sent by the notification mill/type it says, as a piece of its answer.
const asAgent = "STENO_TEST_AS_AGENT"

// testAgent answers a client: it thinks, asks for permission, runs a tool, answers in pieces.
func testAgent(in io.Reader, out, errs io.Writer) int {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	var speaking sync.Mutex
	say := func(format string, args ...any) {
		speaking.Lock()
		defer speaking.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	update := func(members string) {
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{%s}}}`, members)
	}
	text := func(variant, piece string) {
		quoted, _ := json.Marshal(piece)
		update(fmt.Sprintf(`"sessionUpdate":%q,"content":{"type":"text","text":%s}`, variant, quoted))
	}
	fmt.Fprintln(errs, "mill agent: ready")
	var prompt json.RawMessage
	var streaming chan struct{} // closed when it is to end; nil: nothing streams
	var streams sync.WaitGroup
	defer streams.Wait()
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Prompt []struct{ Text string }
				Text   string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			say("cannot read that: %v", err)
			continue
		}
		switch m.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"mill","version":"1"}}}`, m.ID)
		case "session/new":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s-1"}}`, m.ID)
		case "session/prompt":
			if m.Params.Prompt[0].Text == "die" {
				text("agent_message_chunk", "I am go")
				return 7
			}
			prompt = m.ID
			if m.Params.Prompt[0].Text == "wait" {
				text("agent_message_chunk", "I wait.")
				fmt.Fprintln(errs, "mill agent: waiting")
				continue
			}
			if m.Params.Prompt[0].Text == "stream" {
				id, end := prompt, make(chan struct{})
				streaming = end
				streams.Go(func() {
					reason := "end_turn"
					for n := range 6 {
						text("agent_message_chunk", fmt.Sprint("piece ", n, " "))
						select {
						case <-end:
							reason = "cancelled"
						case <-time.After(time.Millisecond):
						}
						if reason == "cancelled" {
							break
						}
					}
					say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%q}}`, id, reason)
				})
				continue
			}
			text("agent_thought_chunk", "Let me look.")
			update(`"sessionUpdate":"tool_call","toolCallId":"t1","title":"Count sacks","status":"pending","rawInput":{"where":"store"}`)
			say(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t1"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`)
		case "session/cancel":
			if streaming != nil {
				select {
				case <-streaming: // cancelled already
				default:
					close(streaming)
				}
				continue
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, prompt)
		case "mill/type":
			text("agent_message_chunk", m.Params.Text)
		case "": // the answer to the permission request
			update(`"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","rawOutput":{"sacks":14}`)
			for _, piece := range []string{"There ", "are ", "14 sacks – ", "café 😀", "."} {
				text("agent_message_chunk", piece)
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, prompt)
		}
	}
	fmt.Fprint(os.Stdout, "bye, without a line feed")
	return 0
}
