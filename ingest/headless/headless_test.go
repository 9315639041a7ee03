package headless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/tap"
	"github.com/steno-io/steno/schema"
)

// How a turn ends, and what the run says about it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	endings(t, []ending{
		{"end of turn", ended("say Fourteen."), "end_turn", nil, nil},
		{"tokens", play(`answer {"stopReason":"max_tokens"}`), "max_tokens", nil, nil},
		{"requests", play(`answer {"stopReason":"max_turn_requests"}`), "max_turn_requests", nil, nil},
		{"refusal", play(`answer {"stopReason":"refusal"}`), "refusal", nil, nil},
		{"cancelled by itself", play(`answer {"stopReason":"cancelled"}`), "cancelled", nil, nil},
		{"unknown stop reason", play(`answer {"stopReason":"exhausted"}`), "exhausted", ErrStopReason, []string{`"exhausted"`}},
		{"stop reason of version 2", play(`answer {"stopReason":"error"}`), "error", ErrStopReason, nil},
		{"stop reason is a number", play(`answer {"stopReason":7}`), "7", ErrStopReason, nil},
		{"no stop reason", play(`answer {}`), "", ErrStopReason, nil},
		{"result is null", play(`answer null`), "", ErrStopReason, nil},
		{"keys twice: the last counts", play(`answer {"stopReason":"refusal","stopReason":"end_turn"}`), "end_turn", nil, nil},
		{"keys differ in their case", play(`answer {"stopReason":"end_turn","StopReason":"refusal"}`), "end_turn", nil, nil},

		{"version 0", []string{"await initialize", `answer {"protocolVersion":0}`}, "", ErrVersion, []string{"speaks versions 1 and 2", "answered with version 0"}},
		{"version 3", []string{"await initialize", `answer {"protocolVersion":3}`}, "", ErrVersion, []string{"speaks versions 1 and 2", "answered with version 3"}},
		{"no version in common", []string{"await initialize", `line {"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"Unsupported","data":{"requested":2,"supported":[3,4]}}}`}, "", ErrVersion, []string{"speaks versions 1 and 2", "supports [3,4]"}},
		{"no version in common, unsaid", []string{"await initialize", "fail -32022 too old"}, "", ErrVersion, []string{"speaks versions 1 and 2", "refuses that: too old (-32022)"}},
		{"version as text", []string{"await initialize", `answer {"protocolVersion":"1"}`}, "", ErrVersion, []string{`answered with version "1"`}},
		{"no version", []string{"await initialize", `answer {}`}, "", ErrVersion, []string{"answered with no version"}},

		{"initialize refused", []string{"await initialize", "fail -32603 no mill here"}, "", ErrAnswer, []string{"to initialize: no mill here (-32603)"}},
		{"sign in first", append(play()[:3], "fail -32000 Authentication required"), "", ErrAnswer, []string{"to session/new", "sign in"}},
		{"no session id", append(play()[:3], `answer {"session":"s-1"}`), "", ErrAnswer, []string{"names no session"}},
		{"prompt refused", play("fail -32602 too many sacks"), "", ErrAnswer, []string{"to session/prompt: too many sacks (-32602)"}},

		{"no request that it can read", play(`line {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`), "", ErrAnswer, []string{"to session/prompt: Parse error (-32700)"}},
		{"a long story", play("fail -32602 " + strings.Repeat("é", 300)), "", ErrAnswer, []string{strings.Repeat("é", 100) + "… (-32602)"}},
		{"a long story, between characters", play("fail -32602 x" + strings.Repeat("é", 300)), "", ErrAnswer, []string{": x" + strings.Repeat("é", 99) + "… (-32602)"}},

		{"crash at once", []string{"exit 3"}, "", ErrGone, []string{"before it answered initialize with status 3"}},
		{"crash before a session", append(play()[:3], "exit 4"), "", ErrGone, []string{"before it answered session/new with status 4"}},
		{"crash in the turn", play("say I am go", "exit 7"), "", ErrGone, []string{"before it answered session/prompt with status 7"}},
		{"killed in the turn", play("say I am go", "kill"), "", ErrGone, []string{"by SIGKILL"}},
		{"output closed", play("say I am go", "close"), "", ErrGone, []string{"session/prompt"}},
		{"it leaves with its answer", append(ended("say Fourteen."), "exit 5"), "end_turn", nil, nil},

		{"lines that are none", ended("line ", "line Starting…", `line {"a":1}`, "line [1]", `line {"jsonrpc":"2.0","id":99,"result":{}}`, "say Fourteen."), "end_turn", nil, nil},
		{"a line with CR and BOM", play("say Fourteen.", "line \uFEFF"+`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`+"\r"), "end_turn", nil, nil},
		{"beside other text", play("say Fourteen.", `line 12:01 {"level":"info"} {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}} INFO done`), "end_turn", nil, nil},
		{"a batch", play(`line [{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}]`), "end_turn", nil, nil},
	})
}

// ending is a run that comes to an end.
type ending struct {
	name   string
	script []string
	stop   string
	err    error
	says   []string // of the error
}

func endings(t *testing.T, all []ending) {
	for _, test := range all {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := options(t, test.script)
			r, err := try(t, o)
			require.ErrorIs(t, err, test.err)
			if test.err == nil {
				require.NoError(t, err)
			}
			for _, part := range test.says {
				require.ErrorContains(t, err, part)
			}
			require.Equal(t, test.stop, r.StopReason)
			require.Equal(t, test.stop == "end_turn", r.Completed())
			if test.name == "crash in the turn" {
				require.Equal(t, "I am go", r.Text, "what was said is kept")
			}
			require.Equal(t, 1, strings.Count(strings.Join(kept(o).entries, "\n"), "close {"), "the record has an end")
		})
	}
}

func TestWhatIsAsked(t *testing.T) {
	t.Parallel()
	o := options(t, ended("stderr grinding", "say Fourteen."))
	o.Prompt = "How many \"sacks\" – <café> 😀?\nCount."
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, Result{Text: "Fourteen.", FinalMessage: "Fourteen.", StopReason: "end_turn", SessionID: "s-1", Session: 1}, r)
	lines := strings.SplitAfter(kept(o).data[schema.FromClient], "\n")
	require.Len(t, lines, 4)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,
		"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},
		"clientInfo":{"name":"steno","title":"steno run","version":"test"},
		"capabilities":{},"info":{"name":"steno","title":"steno run","version":"test"}}}`, lines[0])
	cwd, err := json.Marshal(o.Cwd)
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":`+string(cwd)+`,"mcpServers":[]}}`, lines[1])
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1",
		"prompt":[{"type":"text","text":"How many \"sacks\" – <café> 😀?\nCount."}]}}`, lines[2])
	require.Empty(t, lines[3])
	require.Equal(t, "grinding\n", kept(o).data[schema.FromStderr])
}

func TestAgentThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"no-such-agent-here", "/no/such/agent", os.DevNull} {
		o := options(t, nil)
		o.Command = []string{command}
		_, err := try(t, o)
		require.ErrorIs(t, err, tap.ErrStart, command)
		require.NotErrorIs(t, err, ErrGone)
	}
}

func TestFinalMessage(t *testing.T) {
	t.Parallel()
	chunk := func(id, text string) string {
		return `update {"sessionUpdate":"agent_message_chunk","messageId":` + id + `,"content":{"type":"text","text":"` + text + `"}}`
	}
	thought := `update {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`
	call := `update {"sessionUpdate":"tool_call","toolCallId":"t1","title":"Count"}`
	for name, test := range map[string]struct {
		steps       []string
		text, final string
	}{
		"one":                              {[]string{"say Four", "say teen."}, "Fourteen.", "Fourteen."},
		"a tool call between":              {[]string{"say Let me see.", call, "say Fourteen."}, "Let me see.Fourteen.", "Fourteen."},
		"a thought between":                {[]string{"say Let me see.", thought, "say Fourteen."}, "Let me see.Fourteen.", "Fourteen."},
		"nothing behind the tool":          {[]string{"say Fourteen.", call}, "Fourteen.", "Fourteen."},
		"an empty message at the end":      {[]string{"say Fourteen.", call, "say "}, "Fourteen.", "Fourteen."},
		"ids":                              {[]string{chunk(`"a"`, "Four"), chunk(`"b"`, "Fif"), chunk(`"b"`, "teen")}, "FourFifteen", "Fifteen"},
		"with ids a tool is no boundary":   {[]string{chunk(`"a"`, "Four"), call, chunk(`"a"`, "teen")}, "Fourteen", "Fourteen"},
		"null is no id":                    {[]string{chunk("null", "Four"), chunk("null", "teen")}, "Fourteen", "Fourteen"},
		"another session's is not ours":    {[]string{`line {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-2","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"No."}}}}`, "say Yes."}, "Yes.", "Yes."},
		"an image says nothing":            {[]string{"say Here: ", `update {"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA==","mimeType":"image/png","text":"x"}}`}, "Here: ", "Here: "},
		"what is said behind the end late": {[]string{"say Yes.", `answer {"stopReason":"end_turn"}`, "say No."}, "Yes.", "Yes."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := try(t, options(t, ended(test.steps...)))
			require.NoError(t, err)
			require.Equal(t, test.text, r.Text)
			require.Equal(t, test.final, r.FinalMessage)
			require.EqualValues(t, 1, r.Session)
		})
	}
}

// A session that is named before ours has the lower number in the transcript.
func TestSessionIsCountedByFirstSight(t *testing.T) {
	t.Parallel()
	early := `line {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-0","update":{"sessionUpdate":"plan","entries":[]}}}`
	script := append([]string{"await initialize", `answer {"protocolVersion":1}`, "await session/new", early}, play()[3:]...)
	r, err := try(t, options(t, append(script, `answer {"stopReason":"end_turn"}`)))
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Session)
}

// stopping closes Stop when the agent has said a word.
func stopping(o *Options, word string) {
	stop := make(chan struct{})
	o.Stop = stop
	said := false
	kept(*o).heard = func(from schema.From, b []byte) error {
		if from == schema.FromAgent && !said && strings.Contains(string(b), word) {
			said = true
			close(stop)
		}
		return nil
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("the turn is cancelled", func(t *testing.T) {
		t.Parallel()
		o := options(t, play("say Counting", "await session/cancel", `line {"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`))
		stopping(&o, "Counting")
		r, err := try(t, o)
		require.NoError(t, err)
		require.Equal(t, "cancelled", r.StopReason)
		require.Equal(t, "Counting", r.Text)
		require.Contains(t, kept(o).data[schema.FromClient], `"method":"session/cancel","params":{"sessionId":"s-1"}}`+"\n")
	})
	t.Run("the turn ends by itself", func(t *testing.T) {
		t.Parallel()
		o := options(t, play("say Counting", "await session/cancel", `line {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`))
		stopping(&o, "Counting")
		r, err := try(t, o)
		require.NoError(t, err)
		require.True(t, r.Completed())
	})
	t.Run("the agent does not listen", func(t *testing.T) {
		t.Parallel()
		o := options(t, play("deaf", "say Counting", "stay"))
		o.Cancel, o.Grace = 10*time.Millisecond, 10*time.Millisecond
		stopping(&o, "Counting")
		r, err := try(t, o)
		require.ErrorIs(t, err, ErrStopped)
		require.ErrorContains(t, err, "did not end within 10ms")
		require.Empty(t, r.StopReason)
		require.GreaterOrEqual(t, kept(o).at("close", "SIGKILL"), 0)
	})
	t.Run("there is no turn yet", func(t *testing.T) {
		t.Parallel()
		o := options(t, []string{"stderr Counting", "await initialize", "await session/new"})
		stop := make(chan struct{})
		close(stop)
		o.Stop = stop
		_, err := try(t, o)
		require.ErrorIs(t, err, ErrStopped)
		require.NotContains(t, kept(o).data[schema.FromClient], "session/prompt")
	})
}

func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	t.Parallel()
	o := options(t, play("deaf", "say Counting", "stay"))
	o.Grace = 10 * time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	kept(o).heard = func(from schema.From, b []byte) error {
		if from == schema.FromAgent && strings.Contains(string(b), "Counting") {
			cancel(enough)
		}
		return nil
	}
	_, err := Run(ctx, o)
	require.ErrorIs(t, err, ErrStopped)
	require.ErrorIs(t, err, enough)
	require.Equal(t, "stopped before session/prompt was answered: enough", err.Error())
	require.NotContains(t, kept(o).data[schema.FromClient], "session/cancel")
	require.GreaterOrEqual(t, kept(o).at("close", "SIGKILL"), 0)
}

// What the agent has started ends with the run, however that ends.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]string{
		"it ends by itself":              ended("leave"),
		"it stays after its input's end": append(ended("leave"), "stay"),
		"it does not hear SIGTERM":       append(ended("deaf", "leave"), "stay"),
		"it crashes":                     play("leave", "exit 1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, script)
			o.Grace = 50 * time.Millisecond
			r, err := try(t, o)
			require.Equal(t, name == "it crashes", errors.Is(err, ErrGone), "%v", err)
			pid, err := strconv.Atoi(r.Text)
			require.NoError(t, err)
			require.Eventually(t, func() bool { return gone(pid) }, 20*time.Second, 5*time.Millisecond)
		})
	}
}

// gone reports whether a process has ended; one that nobody has waited for has.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestJournalThatFails(t *testing.T) {
	t.Parallel()
	o := options(t, ended("say Fourteen."))
	broken := errors.New("no room")
	kept(o).heard = func(from schema.From, b []byte) error {
		if strings.Contains(string(b), "Fourteen") {
			return broken
		}
		return nil
	}
	_, err := try(t, o)
	require.ErrorIs(t, err, broken, "what cannot be recorded does not go on")
}

// A journal that is full holds the run, and does not keep it from being stopped.
func TestJournalThatIsFull(t *testing.T) {
	t.Parallel()
	o := options(t, play("say Counting", "stay"))
	o.Cancel, o.Grace = 10*time.Millisecond, 10*time.Millisecond
	stop := make(chan struct{})
	o.Stop = stop
	held := false
	kept(o).heard = func(from schema.From, b []byte) error {
		if from != schema.FromAgent || !held && !strings.Contains(string(b), "Counting") {
			return nil
		}
		if !held {
			held = true
			close(stop)
		}
		return errFull
	}
	_, err := try(t, o)
	require.ErrorIs(t, err, ErrStopped)
}

// An agent that writes without end, and reads nothing, holds nobody up.
func TestFloods(t *testing.T) {
	t.Parallel()
	o := options(t, ended("many 2000 session/request_permission "+wish(all...), "say Fourteen."))
	o.Prompt = strings.Repeat("How many sacks? ", 1<<14) // more than a pipe holds
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, "Fourteen.", r.Text)

	box := newOutbox(nil)
	box.most = 1000
	for range 20 {
		box.send(message{Method: strings.Repeat("x", 50)})
	}
	select {
	case <-box.flood:
	default:
		require.Fail(t, "what is not read is held without a bound")
	}
	box.send(message{Method: "more"})
	require.Empty(t, box.lines)
}

func TestLineWithoutEnd(t *testing.T) {
	t.Parallel()
	_, err := readLine(bufio.NewReader(endless{}), 1<<16)
	require.ErrorIs(t, err, ErrFlood)
	line, err := readLine(bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 99)+"\nyy"), 16), 100)
	require.NoError(t, err)
	require.Len(t, line, 99)
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
