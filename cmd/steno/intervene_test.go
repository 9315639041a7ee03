package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/cmd/steno/holder"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

var races = flag.Int("races", 20, "how many times TestCancelRacesTheEndOfTheTurn cancels")

// A cancel reaches the agent of a tap, the turn ends, and the transcript shows who ended it, and when.
func TestCancelThroughRecord(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data, "--sync", "1s")
	e := edit(t, recordCommand(t, data, "--workflow", "mill"))
	e.request(`"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"wait"}]}`)
	e.until("I wait.")
	listed := func() bool {
		out, _, code := steno(t, "ls", "--data", data, "--json")
		return code == exitOK && strings.Contains(out, `"session_id":"s-1"`)
	}
	require.Eventually(t, listed, time.Minute, 50*time.Millisecond)

	takes := func() bool { // a tap that has just found somebody to listen to is awaited
		return strings.Contains(ok(t, "show", "--data", data, "s-1"), "takes cancel")
	}
	require.Eventually(t, takes, time.Minute, 50*time.Millisecond)

	inject, says, code := steno(t, "inject", "--data", data, "--json", "s-1", "Use the other mill")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, inject, `"outcome":"CapabilityNotSupported","primitive":{"primitive":"InjectMessage"}`)
	require.Contains(t, says, "what it delivers now: cancel")

	cancel := []string{"cancel", "--data", data, "--json", "--id", "c-1", "--reason", "the wrong mill", "s-1"}
	require.Contains(t, ok(t, cancel...), `{"id":"c-1","transcript":"default/mill/`)
	e.until(`stopReason`)
	require.Contains(t, e.seen.String(), `"stopReason":"cancelled"`)
	require.Contains(t, ok(t, cancel...), `"outcome":"Applied"`, "it is answered with the first outcome, and not done again")
	_, says, code = steno(t, "cancel", "--data", data, "s-1")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "not applied: no turn is in progress")
	require.NoError(t, e.leave())
	_, says, code = steno(t, "cancel", "--data", data, "s-1")
	require.Equal(t, exitRuntime, code)
	require.Contains(t, says, "it has ended")
	require.NotContains(t, ok(t, "show", "--data", data, "s-1"), "takes ")

	by := systemUser()
	var notes, stops []schema.Event
	for _, ev := range events(t, ok(t, "show", "--data", data, "--json", "s-1")) {
		switch k := ev.Kind.(type) {
		case *schema.Progress:
			notes = append(notes, ev)
			require.Equal(t, "cancel by "+by+": the wrong mill", k.Detail.(*schema.Note).Text)
		case *schema.Stop:
			stops = append(stops, ev)
			require.Equal(t, schema.StopCancelled, k.Reason)
		case *schema.Raw:
			if k.Source == "acp/intervention" {
				info, err := schema.ReadIntervention(k.Value)
				require.NoError(t, err)
				require.Equal(t, by, info.IssuedBy)
				require.Equal(t, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}`, info.Line)
				require.WithinDuration(t, ev.EmittedAt, info.IssuedAt, time.Minute)
			}
		}
	}
	require.Len(t, notes, 1)
	require.Len(t, stops, 1)
	require.Equal(t, "operator", notes[0].AgentRole)
	require.Less(t, notes[0].WorkerSeq, stops[0].WorkerSeq)
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
	require.Zero(t, up.stop(t))
}

// However close the cancel is to the natural end of the turn, and wherever the client is in a line of its
// own, no line is broken, and the outcome is one of the three.
func TestCancelRacesTheEndOfTheTurn(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data, "--sync", "1s")
	e := edit(t, recordCommand(t, data, "--run", "raced", "--workflow", "mill"))
	client, id := reached(t, data, "s-1")
	outcomes, stops := map[string]int{}, map[string]int{}
	for n := range *races {
		e.request(`"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"stream"}]}`)
		e.until("piece 0")
		ctx, done := context.WithTimeout(t.Context(), time.Minute)
		type answer struct {
			schema.Outcome
			err error
		}
		sent := make(chan answer, 1)
		go func() {
			time.Sleep(time.Duration(rand.IntN(12_000)) * time.Microsecond) // the turn takes some 6 ms
			o, err := intervene.Send(ctx, client, id, "miller", schema.Intervention{
				ID: fmt.Sprint("race-", n), Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel},
			})
			sent <- answer{o, err}
		}()
		for i := range 3 { // the client is inside a line most of the time
			line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"mill/type","params":{"text":"typed %d %d"}}`, n, i)
			_, err := io.WriteString(e.in, line[:len(line)/2])
			require.NoError(t, err)
			time.Sleep(time.Millisecond)
			_, err = io.WriteString(e.in, line[len(line)/2:]+"\n")
			require.NoError(t, err)
		}
		got := <-sent
		done()
		require.NoError(t, got.err)
		outcomes[got.Outcome.Outcome]++
		stops[stopReason(t, e.next("stopReason"))]++
	}
	t.Logf("%d races: %v, turns: %v", *races, outcomes, stops)
	require.Equal(t, *races, outcomes[schema.OutcomeApplied]+outcomes[schema.OutcomeStale], outcomes)
	require.Equal(t, *races, stops["end_turn"]+stops["cancelled"], stops)
	require.LessOrEqual(t, stops["cancelled"], outcomes[schema.OutcomeApplied])
	require.NoError(t, e.leave())
	require.NotContains(t, e.seen.String(), "cannot read that", "the agent got a broken line")
	for n := range *races {
		for i := range 3 {
			require.Contains(t, e.seen.String(), fmt.Sprintf("typed %d %d", n, i))
		}
	}
	recorded := 0
	for _, ev := range events(t, ok(t, "show", "--data", data, "--json", "s-1")) {
		if p, is := ev.Kind.(*schema.Progress); is {
			require.Equal(t, "cancel by miller", p.Detail.(*schema.Note).Text)
			recorded++
		}
	}
	require.Equal(t, outcomes[schema.OutcomeApplied], recorded, "what was applied is in the record, and nothing else")
	require.Contains(t, ok(t, "verify", "--data", data), " 0 unaccounted")
	client.Close()
	require.Zero(t, up.stop(t))
}

// next reads the agent's lines up to one with that part.
func (e *editor) next(part string) string {
	e.t.Helper()
	for {
		line, err := e.lines.ReadString('\n')
		require.NoError(e.t, err)
		if strings.Contains(line, part) {
			return line
		}
	}
}

func stopReason(t *testing.T, line string) string {
	t.Helper()
	var m struct{ Result struct{ StopReason string } }
	require.NoError(t, json.Unmarshal([]byte(line), &m), line)
	return m.Result.StopReason
}

// reached waits until the directory's tap takes interventions.
func reached(t *testing.T, data, run string) (*nats.Conn, schema.Identity) {
	t.Helper()
	client, err := holder.Dir(data).Connect(t.Context(), "test")
	require.NoError(t, err)
	t.Cleanup(client.Close)
	var id schema.Identity
	require.Eventually(t, func() bool {
		infos, err := journal.List(holder.Dir(data).Journals())
		if err != nil || len(infos) != 1 {
			return false
		}
		mark, err := journal.ReadMark(holder.Dir(data).Journals(), infos[0].ID)
		id = mark.Identity
		if err != nil {
			return false
		}
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		c, err := intervene.Ask(ctx, client.Conn, id, "miller")
		return err == nil && len(c.Supported) == 1
	}, time.Minute, 20*time.Millisecond)
	return client.Conn, id
}

// Without anything else running the command itself holds the directory, and the tap comes to it. The
// intervention hits the tap's own capture, whatever it was asked to be called.
func TestCancelWithNothingElseRunning(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	args := []string{"--workflow", "mill", "--run", "again"}
	first := edit(t, recordCommand(t, data, args...))
	first.request(`"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"wait"}]}`)
	first.until("I wait.")
	require.NotEmpty(t, list(t, data))                 // it has its name now
	second := edit(t, recordCommand(t, data, args...)) // it is the next attempt
	second.request(`"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"wait"}]}`)
	second.until("I wait.")
	require.Contains(t, ok(t, "cancel", "--data", data, "default/mill/again/0/2/1"), "applied: cancel default/mill/again/0/2/1")
	second.until("stopReason")
	require.NoError(t, second.leave())
	require.NoError(t, first.leave())
	require.NotContains(t, first.seen.String(), "stopReason")
	require.Contains(t, second.seen.String(), `"stopReason":"cancelled"`)
}

// A run is cancelled as by Ctrl-C: its own client says so to the agent.
func TestCancelARun(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	up := startUp(t, data, "--sync", "1s")
	cmd := runCommand(t, data, "wait", "--permissions", "deny", "--run", "asked", "--workflow", "mill")
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := bufio.NewReader(stderr)
	for line := ""; !strings.Contains(line, "mill agent: waiting"); {
		line, err = said.ReadString('\n')
		require.NoError(t, err)
	}
	client, id := reached(t, data, "asked")
	o, err := intervene.Send(t.Context(), client, id, "miller", schema.Intervention{
		ID: "c-1", Kind: schema.InterventionKind{Kind: schema.PrimitiveCancel, Reason: "enough"},
	})
	require.NoError(t, err)
	require.Equal(t, schema.Applied(), o)
	_, err = io.Copy(io.Discard, said)
	require.NoError(t, err)
	require.Error(t, cmd.Wait(), "it was not end_turn")
	var r runResult
	printed(t, out.String(), &r)
	require.Equal(t, "cancelled", r.StopReason)
	shown := ok(t, "show", "--data", data, "--json", "s-1")
	require.Contains(t, shown, `"text":"cancel by miller: enough"`)
	require.Contains(t, shown, `"source":"session/cancel"`)
	client.Close()
	require.Zero(t, up.stop(t))
}

// Whoever intervenes over NATS is named as the server knows him, or told what to do; never by another's name.
func TestInWhoseNameANATSUserIntervenes(t *testing.T) {
	t.Parallel()
	listen := func(o server.Options) string {
		o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
		s, err := server.NewServer(&o)
		require.NoError(t, err)
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		require.True(t, s.ReadyForConnections(20*time.Second))
		return s.ClientURL()
	}
	open, token := listen(server.Options{}), listen(server.Options{Authorization: "s3cret"})
	users := listen(server.Options{Users: []*server.User{
		{Username: "miller", Password: "x"}, {Username: "mill.er@example", Password: "x"},
		{Username: "mute", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"steno.>"}}}},
	}})
	for name, tt := range map[string]struct {
		url   string
		login nats.Option
		by    string
		code  int
		says  string
	}{
		"a user":              {users, nats.UserInfo("miller", "x"), "miller", exitOK, ""},
		"no users":            {open, nats.Name("x"), systemUser(), exitOK, ""},
		"a token":             {token, nats.Token("s3cret"), systemUser(), exitOK, ""},
		"no name in subjects": {users, nats.UserInfo("mill.er@example", "x"), "", exitConfig, `NATS user "mill.er@example" cannot be named`},
		"nobody says":         {users, nats.UserInfo("mute", "x"), "", exitUnavailable, "must be allowed to publish to $SYS.REQ.USER.INFO"},
	} {
		conn, err := nats.Connect(tt.url, tt.login)
		require.NoError(t, err, name)
		wait := 20 * time.Second
		if tt.code == exitUnavailable {
			wait = 100 * time.Millisecond // no answer comes
		}
		ctx, done := context.WithTimeout(t.Context(), wait)
		by, err := natsUser(ctx, conn)
		done()
		conn.Close()
		require.Equal(t, tt.by, by, name)
		require.Equal(t, tt.code, exitCode(err), name)
		if tt.says != "" {
			require.ErrorContains(t, err, tt.says, name)
		}
	}
}

func TestInterveneUsage(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"cancel", "which transcript?"},
		{"cancel a b", "accepts 1 arg"},
		{"cancel a --id x/y", `id "x/y"`},
		{"inject a", "where, and what?"},
		{"budget a", "give --max-tokens or --max-turns"},
		{"approve a", "give --call or --request"},
		{"cancel a --nats nats://127.0.0.1:1", "the whole key is needed"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			stdout, stderr, code := steno(t, strings.Fields(tt.args)...)
			require.Equal(t, exitUsage, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.Empty(t, stdout)
		})
	}
}
