//go:build faults

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// line of a conversation over ACP: who says it, and its bytes without the line feed.
type said struct {
	client bool
	text   string
}

// of gives the random numbers of one conversation: the same for the same seed, kind and number.
func of(seed uint64, kind string, n int) *rand.Rand {
	h := seed
	for _, b := range []byte(kind) {
		h = h*1099511628211 + uint64(b)
	}
	return rand.New(rand.NewPCG(h, uint64(n)))
}

var words = []string{"grain ", "flour ", "sack ", "Łódź ", "café 😀 ", "\u2028", "quote\" ", "back\\slash ", "14 ", "\t", "sieve "}

func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON text
	}
	return string(b)
}

// conversation makes a conversation over ACP of a few turns, with thoughts, tools, permissions, noise,
// and now and then something large.
func conversation(r *rand.Rand, turns int) (all []said) {
	client := func(format string, args ...any) { all = append(all, said{true, fmt.Sprintf(format, args...)}) }
	agent := func(format string, args ...any) { all = append(all, said{false, fmt.Sprintf(format, args...)}) }
	update := func(format string, args ...any) {
		agent(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{%s}}}`, fmt.Sprintf(format, args...))
	}
	chunk := func(variant, id, text string) {
		update(`"sessionUpdate":%q,%s"content":{"type":"text","text":%s}`, variant, id, quoted(text))
	}
	client(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	agent(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"mill"}}}`)
	client(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	agent(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}`)
	for turn := range turns {
		client(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":%s}]}}`,
			turn+2, quoted(fmt.Sprint("turn ", turn+1, " ", text(r, 3))))
		for range r.IntN(3) {
			chunk("agent_thought_chunk", "", text(r, 4))
		}
		if tool := fmt.Sprint("t-", turn); r.IntN(2) == 0 {
			update(`"sessionUpdate":"tool_call","toolCallId":%q,"title":"grind","status":"pending","rawInput":{"sacks":%d}`, tool, r.IntN(99))
			if r.IntN(2) == 0 {
				agent(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":%q},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}`, turn, tool)
				client(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`, turn)
			}
			update(`"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","rawOutput":{"flour":%s}`, tool, quoted(text(r, 5)))
		}
		id := ""
		if r.IntN(2) == 0 {
			id = fmt.Sprintf(`"messageId":"m-%d",`, turn)
		}
		for range 1 + r.IntN(20) {
			chunk("agent_message_chunk", id, text(r, 1+r.IntN(6)))
		}
		switch r.IntN(40) {
		case 0:
			chunk("agent_message_chunk", id, strings.Repeat("large ", 100_000)) // above what a stream takes inline
		case 1, 2:
			agent("thread 7 panicked, \xff\xfe")
		}
		agent(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, turn+2)
	}
	return all
}

// spoken puts together what one side says.
func spoken(all []said, client bool) []byte {
	var b []byte
	for _, s := range all {
		if s.client == client {
			b = append(append(b, s.text...), '\n')
		}
	}
	return b
}
