package turns

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// talk passes lines: "> " from the client, else from the agent.
func talk(lines ...string) *Turns {
	t := &Turns{}
	t.talk(lines...)
	return t
}

func (t *Turns) talk(lines ...string) {
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			t.Pass(schema.FromClient, []byte(rest+"\n"))
		} else {
			t.Pass(schema.FromAgent, []byte(line+"\n"))
		}
	}
}

const (
	hello  = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}`
	one    = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
	two    = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}`
	chunk  = `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"stopReason"}}}}`
	asks   = `{"id":2,"method":"session/request_permission","params":{"sessionId":"s"}}`
	allows = `> {"id":2,"result":{"outcome":{"outcome":"selected","optionId":"prompt"}}}`
)

func prompts(id, session string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"method":"session\/prompt","params":{"sessionId":` + session + `,"prompt":[{"type":"text","text":"x"}]}}`
}

func ends(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"stopReason":"end_turn"}}`
}

func closes(id string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"method":"session/close","params":{"sessionId":"s"}}`
}

func works(state string) string {
	return `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"` + state + `"}}}`
}

func TestWhichTurnIsInProgress(t *testing.T) {
	t.Parallel()
	s := `"s"`
	for _, tt := range []struct {
		name  string
		lines []string
		of    string // the session that is asked for
		want  string // its id as sent; empty: none
		says  string
	}{
		{"nothing", nil, "", "", "no turn is in progress"},
		{"a prompt", []string{hello, one, prompts("2", s)}, "", s, ""},
		{"by its session", []string{hello, one, prompts("2", s)}, "s", s, ""},
		{"as it was sent", []string{prompts("2", `"\u0073"`)}, "s", `"\u0073"`, ""},
		{"another session", []string{prompts("2", s)}, "t", "", `session "t" was not seen`},
		{"chunks and a question", []string{prompts("2", s), chunk, asks, allows, chunk}, "", s, ""},
		{"the agent's own id 2 answered", []string{prompts("2", s), asks, allows}, "", s, ""},
		{"answered", []string{prompts("2", s), chunk, ends("2")}, "s", "", "no turn is in progress"},
		{"failed", []string{prompts("2", s), `{"id":2,"error":{"code":-32603}}`}, "", "", "no turn is in progress"},
		{"another's answer", []string{prompts("2", s), `{"id":"2","result":{}}`}, "", s, ""},
		{"an answer to nothing that ends it", []string{prompts("2", s), ends(`"2"`)}, "", "", "no turn is in progress"},
		{"queued", []string{prompts("2", s), prompts("3", s), ends("2")}, "", s, ""},
		{"two sessions", []string{prompts("2", s), prompts("3", `"t"`)}, "", "", "in 2 sessions: name one"},
		{"one of two", []string{prompts("2", s), prompts("3", `"t"`)}, "t", `"t"`, ""},
		{"a batch", []string{"> [" + prompts("2", s)[2:] + "]"}, "", s, ""},
		{"beside other text", []string{prompts("2", s), "warning: x " + ends("2")}, "", "", "no turn is in progress"},
		{"a notification", []string{`> {"method":"session/prompt","params":{"sessionId":"s"}}`}, "", "", "no turn is in progress"},
		{"no UTF-8", []string{prompts("2", "\"s\xff\"")}, "", "", "no turn is in progress"},
		{"half a character beside its session", []string{prompts("2", `"s","_meta":"\ud83d"`)}, "", s, ""},
		{"an answer that names an update", []string{prompts("2", s), `{"id":2,"result":{"stopReason":"end_turn","_meta":{"last":"session/update"}}}`}, "", "", "no turn is in progress"},
		{"an answer beside an update", []string{prompts("2", s), "[" + chunk + "," + ends("2") + "]"}, "", "", "no turn is in progress"},
		{"a failure behind an update", []string{prompts("2", s), chunk + `{"id":2,"error":{"code":1}}`}, "", "", "no turn is in progress"},
		{"version 1's state beside an answer", []string{hello, one, prompts("2", s), "[" + works("running") + "," + ends("2") + "]"}, "", "", "no turn is in progress"},
		{"version 1's state is nothing", []string{hello, one, prompts("2", s), ends("2"), works("running")}, "", "", "no turn is in progress"},
		{"version 2: accepted", []string{hello, two, prompts("2", s), `{"id":2,"result":{"messageId":"m"}}`}, "", s, ""},
		{"version 2: refused", []string{hello, two, prompts("2", s), `{"id":2,"error":{"code":1}}`}, "", "", "no turn is in progress"},
		{"version 2: working", []string{hello, two, works("running")}, "s", s, ""},
		{"version 2: idle", []string{hello, two, prompts("2", s), `{"id":2,"result":{}}`, works("requires_action"), works("idle")}, "", "", "no turn is in progress"},
		{"version 2: closed", []string{hello, two, works("running"), closes("5"), `{"id":5,"result":{}}`}, "s", "", "no turn is in progress"},
		{"version 2: closed while its prompt is worked on", []string{hello, two, prompts("2", s), `{"id":2,"result":{}}`, closes("5"), `{"id":5,"result":{}}`}, "", "", "no turn is in progress"},
		{"version 2: closed before its prompt is taken", []string{hello, two, prompts("2", s), closes("5"), `{"id":5,"result":{}}`, `{"id":2,"result":{}}`}, "", "", "no turn is in progress"},
		{"version 2: being closed", []string{hello, two, works("running"), closes("5")}, "", s, ""},
		{"version 2: not closed after all", []string{hello, two, works("running"), closes("5"), `{"id":5,"error":{"code":1}}`}, "", s, ""},
		{"version 2: deleted", []string{hello, two, works("running"), strings.Replace(closes("5"), "close", "delete", 1), `{"id":5,"result":null}`}, "", "", "no turn is in progress"},
		{"version 2: opened again behind its close", []string{hello, two, works("running"), closes("5"), `{"id":5,"result":{}}`, prompts("6", s)}, "", s, ""},
		{"version 1: closed", []string{hello, one, prompts("2", s), closes("5"), `{"id":5,"result":{}}`}, "", "", "no turn is in progress"},
		{"version 1: closed, and answered behind it", []string{hello, one, prompts("2", s), closes("5"), `{"id":5,"result":{}}`, prompts("6", `"t"`), ends("2")}, "", `"t"`, ""},
		{"version 1: closed and never answered, and an answer to nothing", []string{hello, one, prompts("2", s), closes("5"), `{"id":5,"result":{}}`, prompts("6", `"t"`), ends("7")}, "", "", "no turn is in progress"},
		{"version 1: closed and never answered, and two go on", []string{hello, one, prompts("2", s), closes("5"), `{"id":5,"result":{}}`, prompts("6", `"t"`), prompts("7", `"u"`), ends("8")}, "t", `"t"`, ""},
		{"version 2: the next one waits", []string{hello, two, prompts("2", s), works("running"), works("idle"), prompts("3", s)}, "", s, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := talk(tt.lines...).Find(tt.of)
			require.Equal(t, tt.want, string(found.Raw))
			if tt.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.says)
			}
		})
	}
}

func TestTurnsEndWithTheAgent(t *testing.T) {
	t.Parallel()
	turns := talk(hello, two, prompts("2", `"s"`), works("running"))
	turns.End()
	_, err := turns.Find("s")
	require.ErrorIs(t, err, ErrStale)
	turns.talk(works("running"))
	_, err = turns.Find("s")
	require.NoError(t, err)
}

// However the bytes come, the lines are the same.
func TestChunks(t *testing.T) {
	t.Parallel()
	text := prompts("2", `"s"`)[2:] + "\n" + prompts("3", `"t"`)[2:] + "\n" + prompts("4", `"u"`)[2:]
	for size := 1; size < len(text); size++ {
		turns := &Turns{}
		for at := 0; at < len(text); at += size {
			turns.Pass(schema.FromClient, []byte(text[at:min(at+size, len(text))]))
		}
		turns.talk(ends("2"))
		found, err := turns.Find("")
		require.NoError(t, err)
		require.Equal(t, Session{"t", []byte(`"t"`)}, found, "the last line has not ended")
	}
}

func TestALineIsNotHeldForEver(t *testing.T) {
	t.Parallel()
	turns := &Turns{}
	piece := make([]byte, 1<<20)
	for range maxLine>>20 + 1 {
		turns.Pass(schema.FromAgent, piece)
	}
	require.Nil(t, turns.agent.rest)
	turns.talk("", prompts("2", `"s"`), ends("2"))
	_, err := turns.Find("")
	require.ErrorIs(t, err, ErrStale)
}
