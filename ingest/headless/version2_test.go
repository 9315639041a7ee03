package headless

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

const (
	taken   = `answer {"messageId":"u1"}`
	running = `update {"sessionUpdate":"state_update","state":"running"}`
	mine    = `update {"sessionUpdate":"user_message","messageId":"u1","content":[{"type":"text","text":"How many sacks?"}]}`
)

// idle is the end of a turn, with more members of its state.
func idle(members string) string {
	return `update {"sessionUpdate":"state_update","state":"idle"` + members + `}`
}

func idleFor(reason string) string { return idle(`,"stopReason":"` + reason + `"`) }

// say2 is a piece of a message.
func say2(id, text string) string {
	return `update {"sessionUpdate":"agent_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}}`
}

// whole2 is a whole message, by the JSON of its content.
func whole2(id, content string) string {
	return `update {"sessionUpdate":"agent_message","messageId":"` + id + `"` + content + `}`
}

// play2 is a script of version 2 that has a session and awaits the prompt, then goes on with the steps.
func play2(steps ...string) []string {
	return slices.Concat([]string{
		"await initialize", `answer {"protocolVersion":2,"info":{"name":"mill","version":"1"},"capabilities":{}}`,
		"await session/new", `answer {"sessionId":"s-1"}`, "await session/prompt",
	}, steps)
}

// turn2 is a turn of version 2 that ends as it should, with the steps in it.
func turn2(steps ...string) []string {
	return play2(slices.Concat([]string{taken, running, mine}, steps, []string{idleFor("end_turn")})...)
}

func TestOutcomesOfVersion2(t *testing.T) {
	t.Parallel()
	failed := `,"stopReason":"error","error":{"code":-32603,"message":"the mill stands still"}`
	endings(t, []ending{
		{"end of turn", turn2(say2("m", "Fourteen.")), "end_turn", nil, nil},
		{"tokens", play2(taken, running, idleFor("max_tokens")), "max_tokens", nil, nil},
		{"requests", play2(taken, running, idleFor("max_turn_requests")), "max_turn_requests", nil, nil},
		{"refusal", play2(taken, running, idleFor("refusal")), "refusal", nil, nil},
		{"cancelled by itself", play2(taken, running, idleFor("cancelled")), "cancelled", nil, nil},
		{"it failed", play2(taken, running, idle(failed)), "error", ErrTurn, []string{"the turn failed: the mill stands still (-32603)"}},
		{"it failed and does not say why", play2(taken, running, idleFor("error")), "error", ErrTurn, nil},
		{"unknown stop reason", play2(taken, running, idleFor("_exhausted")), "_exhausted", ErrStopReason, []string{`"_exhausted"`}},
		{"no stop reason", play2(taken, running, idle("")), "", ErrStopReason, []string{"has not said why"}},
		{"stop reason is a number", play2(taken, running, idle(`,"stopReason":7`)), "", ErrStopReason, []string{"has not said why"}},
		{"it never says that it works", play2(taken, idleFor("end_turn")), "end_turn", nil, nil},
		{"a state that nobody knows is no end", turn2(`update {"sessionUpdate":"state_update","state":"_dreaming"}`), "end_turn", nil, nil},
		{"somebody is asked in between", turn2(`update {"sessionUpdate":"state_update","state":"requires_action"}`, running), "end_turn", nil, nil},

		{"idle before anything", play2(idleFor("refusal"), taken, running, idleFor("end_turn")), "end_turn", nil, nil},
		{"other work ends before the prompt is taken", play2(running, idleFor("refusal"), taken, running, idleFor("end_turn")), "end_turn", nil, nil},
		{"answered last of all", play2(running, mine, idleFor("end_turn"), taken), "end_turn", nil, nil},
		{"answered by its end, as in version 1", play2(running, `answer {"stopReason":"end_turn"}`), "end_turn", nil, nil},

		{"prompt refused", play2("fail -32602 too many sacks"), "", ErrAnswer, []string{"to session/prompt: too many sacks (-32602)"}},
		{"prompt refused in the middle of work", play2(running, "fail -32602 too many sacks"), "", ErrAnswer, []string{"too many sacks"}},
		{"crash before the prompt is taken", play2(running, "exit 7"), "", ErrGone, []string{"before it answered session/prompt with status 7"}},
		{"crash in the turn", play2(taken, running, say2("m", "I am go"), "exit 7"), "", ErrGone, []string{"the agent ended in the middle of its turn with status 7"}},
		{"killed in the turn", play2(taken, running, "kill"), "", ErrGone, []string{"by SIGKILL"}},
		{"output closed", play2(taken, running, "close"), "", ErrGone, []string{"in the middle of its turn"}},
		{"it leaves with its turn", append(turn2(), "exit 5"), "end_turn", nil, nil},
	})
}

func TestWhatIsAskedInVersion2(t *testing.T) {
	t.Parallel()
	o := options(t, turn2(say2("m", "Fourteen.")))
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, Result{Text: "Fourteen.", FinalMessage: "Fourteen.", StopReason: "end_turn", SessionID: "s-1", Session: 1}, r)
	lines := strings.SplitAfter(kept(o).data[schema.FromClient], "\n")
	require.Len(t, lines, 4)
	cwd, err := json.Marshal(o.Cwd)
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":`+string(cwd)+`}}`, lines[1])
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"How many sacks?"}]}}`, lines[2])
	require.Empty(t, lines[3])
}

// What is offered, and what an agent may answer.
func TestVersionsThatAreOffered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		change  func(o *Options)
		offered string
		refused string // what the refusal of version 2 says; empty: it is taken
	}{
		{"by itself", func(*Options) {}, "2", ""},
		{"asked for version 1", func(o *Options) { o.ACP = 1 }, "1", "this client speaks version 1, the agent answered with version 2"},
		{"with files", func(o *Options) { o.FS = true }, "1", "speaks version 1,"},
		{"with a terminal", func(o *Options) { o.Terminal = true }, "1", "speaks version 1,"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := options(t, turn2())
			test.change(&o)
			_, err := try(t, o)
			if test.refused == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrVersion)
				require.ErrorContains(t, err, test.refused)
			}
			require.Contains(t, kept(o).data[schema.FromClient], `"protocolVersion":`+test.offered)

			o = options(t, ended("say Fourteen."))
			test.change(&o)
			r, err := try(t, o)
			require.NoError(t, err, "version 1 is taken in any case")
			require.Equal(t, "Fourteen.", r.Text)
		})
	}
}

// What version 2 has not is refused before an agent is started.
func TestOptionsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change func(o *Options)
		says   string
	}{
		{func(o *Options) { o.ACP, o.FS = 2, true }, "version 2 of the protocol has no files and no terminals"},
		{func(o *Options) { o.ACP, o.Terminal = 2, true }, "version 2 of the protocol has no files and no terminals"},
		{func(o *Options) { o.ACP = 3 }, "version 3 of the protocol: want 1 or 2"},
	} {
		o := options(t, turn2())
		test.change(&o)
		_, err := try(t, o)
		require.ErrorIs(t, err, ErrOptions)
		require.ErrorContains(t, err, test.says)
		require.Empty(t, kept(o).entries)
	}
}

func TestFinalMessageOfVersion2(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return `,"content":[{"type":"text","text":"` + s + `"}]` }
	thought := `update {"sessionUpdate":"agent_thought_chunk","messageId":"t","content":{"type":"text","text":"hm"}}`
	for name, test := range map[string]struct {
		steps       []string
		text, final string
	}{
		"pieces":                         {[]string{say2("m", "Four"), say2("m", "teen.")}, "Fourteen.", "Fourteen."},
		"two at a time":                  {[]string{say2("a", "One "), say2("b", "Three "), say2("a", "Two "), say2("b", "Four")}, "One Two Three Four", "Three Four"},
		"whole, then a piece":            {[]string{whole2("m", text("Four")), thought, say2("m", "teen.")}, "Fourteen.", "Fourteen."},
		"whole in the place of pieces":   {[]string{say2("m", "Fifteen?"), whole2("m", text("Fourteen."))}, "Fourteen.", "Fourteen."},
		"without content nothing is new": {[]string{say2("m", "Fourteen."), whole2("m", "")}, "Fourteen.", "Fourteen."},
		"null takes it back":             {[]string{say2("a", "Fourteen."), say2("b", "No!"), whole2("b", `,"content":null`)}, "Fourteen.", "Fourteen."},
		"an empty one takes it back":     {[]string{say2("a", "Fourteen."), say2("b", "No!"), whole2("b", `,"content":[]`)}, "Fourteen.", "Fourteen."},
		"what is no content":             {[]string{say2("m", "Fourteen."), whole2("m", `,"content":[{"type":"text"}]`), whole2("m", `,"content":7`)}, "Fourteen.", "Fourteen."},
		"an image says nothing":          {[]string{say2("a", "Here:"), `update {"sessionUpdate":"agent_message_chunk","messageId":"b","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`}, "Here:", "Here:"},
		"before the prompt is answered":  {[]string{say2("m", "Fourteen.")}, "Fourteen.", "Fourteen."},
		"numbers are ids, too":           {[]string{strings.Replace(say2("7", "Four"), `"7"`, "7", 1), say2("7", "teen.")}, "Fourteen.", "Fourteen."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := turn2(test.steps...)
			if name == "before the prompt is answered" {
				script = play2(slices.Concat([]string{running, mine}, test.steps, []string{idleFor("end_turn"), say2("m", " Late."), taken})...)
			}
			r, err := try(t, options(t, script))
			require.NoError(t, err)
			require.Equal(t, test.text, r.Text)
			require.Equal(t, test.final, r.FinalMessage)
		})
	}
}

// What an agent of version 2 asks for is about a tool call, a command, or nothing that it names.
func TestPermissionsOfVersion2(t *testing.T) {
	t.Parallel()
	const title, offers = `{"sessionId":"s-1","title":"May I burn the mill?"`, `,"options":[{"optionId":"o-once","name":"X","kind":"allow_once"},{"optionId":"o-no","name":"Y","kind":"reject_once"},{"optionId":"o-new","name":"Z","kind":"_later"}]}`
	for name, test := range map[string]struct{ subject, call string }{
		"a tool call":           {`,"subject":{"type":"tool_call","toolCall":{"toolCallId":"t1","title":"Burn"}}`, "t1"},
		"a command of a call":   {`,"subject":{"type":"command","command":"burn","cwd":"/w","toolCallId":"t2"}`, "t2"},
		"a command":             {`,"subject":{"type":"command","command":"burn","cwd":"/w"}`, ""},
		"what nobody knows":     {`,"subject":{"type":"_fire"}`, ""},
		"it does not say which": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := turn2("ask session/request_permission " + title + test.subject + offers)
			o := options(t, script)
			var asked Question
			o.Permissions = Permissions{Policy: Ask, Deadline: time.Minute, Fallback: Deny,
				Approver: approver(func(_ context.Context, q Question) (Decision, error) {
					asked = q
					return Decision{Approved: true, By: "miller"}, nil
				})}
			_, err := try(t, o)
			require.NoError(t, err)
			require.Equal(t, Question{Request: `"q1"`, Session: "s-1", CallID: test.call, Title: "May I burn the mill?", Once: true}, asked)
			require.Contains(t, kept(o).data[schema.FromClient], `{"jsonrpc":"2.0","id":"q1","result":{"outcome":{"optionId":"o-once","outcome":"selected"}}}`)

			o = options(t, script)
			_, err = try(t, o)
			require.NoError(t, err)
			require.Contains(t, kept(o).data[schema.FromClient], `"id":"q1","result":{"outcome":{"optionId":"o-no","outcome":"selected"}}`)
		})
	}
}

// An agent that takes its question back is answered as if nobody had decided.
func TestVersion2TakesItsQuestionBack(t *testing.T) {
	t.Parallel()
	o := options(t, turn2("post 7 session/request_permission "+wish(all...),
		`line {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`, "hear"))
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: AllowAlways, Approver: approver(nobody)}
	_, err := try(t, o)
	require.NoError(t, err)
	require.Contains(t, kept(o).data[schema.FromClient], `"id":7,"result":{"outcome":{"outcome":"cancelled"}}}`)
}

// Files and terminals are none of version 2's.
func TestVersion2IsServedNothing(t *testing.T) {
	t.Parallel()
	o := options(t, turn2(`ask fs/read_text_file {"sessionId":"s-1","path":"/x"}`, `ask elicitation/create {"sessionId":"s-1","mode":"form"}`))
	_, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(kept(o).data[schema.FromClient], `"code":-32601`))
}

func TestStopInVersion2(t *testing.T) {
	t.Parallel()
	t.Run("the turn is cancelled", func(t *testing.T) {
		t.Parallel()
		o := options(t, play2(taken, running, say2("m", "Counting"), "await session/cancel", idleFor("cancelled")))
		stopping(&o, "Counting")
		r, err := try(t, o)
		require.NoError(t, err)
		require.Equal(t, "cancelled", r.StopReason)
		require.Equal(t, "Counting", r.Text)
		require.Contains(t, kept(o).data[schema.FromClient], `"method":"session/cancel","params":{"sessionId":"s-1"}}`+"\n")
	})
	t.Run("before the prompt is taken", func(t *testing.T) {
		t.Parallel()
		o := options(t, play2(running, say2("m", "Counting"), "await session/cancel", `line {"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"cancelled"}}`))
		stopping(&o, "Counting")
		_, err := try(t, o)
		require.ErrorIs(t, err, ErrAnswer)
		require.ErrorContains(t, err, "to session/prompt: cancelled (-32800)")
	})
	t.Run("the agent does not listen", func(t *testing.T) {
		t.Parallel()
		o := options(t, play2("deaf", taken, running, say2("m", "Counting"), "stay"))
		o.Cancel, o.Grace = 10*time.Millisecond, 10*time.Millisecond
		stopping(&o, "Counting")
		r, err := try(t, o)
		require.ErrorIs(t, err, ErrStopped)
		require.ErrorContains(t, err, "did not end within 10ms")
		require.Empty(t, r.StopReason)
	})
	t.Run("the context ends in the turn", func(t *testing.T) {
		t.Parallel()
		o := options(t, play2("deaf", taken, running, say2("m", "Counting"), "stay"))
		o.Grace = 10 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		kept(o).heard = func(_ schema.From, b []byte) error {
			if strings.Contains(string(b), "Counting") {
				cancel()
			}
			return nil
		}
		_, err := Run(ctx, o)
		require.ErrorIs(t, err, ErrStopped)
		require.Regexp(t, "before (the turn had ended|session/prompt was answered)", err.Error(), "its lines may not be read yet")
	})
}
