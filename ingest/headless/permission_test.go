package headless

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// asking is an agent that wants a permission with these kinds on offer, and says what it got.
func asking(kinds ...string) []string {
	return ended("ask session/request_permission " + wish(kinds...))
}

func wish(kinds ...string) string {
	offers := make([]string, len(kinds))
	for i, kind := range kinds {
		offers[i] = `{"optionId":"o-` + kind + `","name":"X","kind":"` + kind + `"}`
	}
	return `{"sessionId":"s-1","toolCall":{"toolCallId":"t1","title":"Burn the mill"},"options":[` + strings.Join(offers, ",") + `]}`
}

var all = []string{"allow_always", "allow_once", "reject_always", "reject_once"}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		policy  Policy
		offered []string
		want    string // the kind that is chosen; empty: cancelled
	}{
		{Deny, all, "reject_once"},
		{Deny, []string{"allow_once", "reject_always"}, "reject_always"},
		{Deny, []string{"allow_once", "allow_always"}, ""},
		{Deny, nil, ""},
		{AllowOnce, all, "allow_once"},
		{AllowOnce, []string{"allow_always", "reject_once"}, "reject_once"},
		{AllowOnce, []string{"allow_always"}, ""},
		{AllowOnce, []string{"burn_it", "allow_once"}, "allow_once"},
		{AllowOnce, nil, ""},
		{AllowAlways, all, "allow_always"},
		{AllowAlways, []string{"allow_once", "reject_once"}, "allow_once"},
		{AllowAlways, []string{"reject_always"}, "reject_always"},
		{AllowAlways, []string{"burn_it"}, ""},
	} {
		t.Run(string(test.policy)+" of "+strings.Join(test.offered, ","), func(t *testing.T) {
			t.Parallel()
			o := options(t, asking(test.offered...))
			o.Permissions = Permissions{Policy: test.policy}
			r, err := try(t, o)
			require.NoError(t, err)
			want := `["q1": {"outcome":{"optionId":"o-` + test.want + `","outcome":"selected"}}]`
			if test.want == "" {
				want = `["q1": {"outcome":{"outcome":"cancelled"}}]`
			}
			require.Equal(t, want, r.Text)
			asked, answered, told := kept(o).at("agent", "Burn the mill"), kept(o).at("client", `"id":"q1"`), kept(o).at("agent", `[\"q1`)
			require.GreaterOrEqual(t, asked, 0)
			require.Less(t, asked, answered, "the request is kept before it is answered")
			require.Less(t, answered, told, "and the answer before the agent has it")
		})
	}
}

func TestParsePolicy(t *testing.T) {
	for text, want := range map[string]Policy{"deny": Deny, "allow-once": AllowOnce, "allow_once": AllowOnce, "allow-always": AllowAlways, "ask": Ask} {
		p, err := ParsePolicy(text)
		require.NoError(t, err)
		require.Equal(t, want, p)
	}
	for _, text := range []string{"", "allow", "Deny", "yes"} {
		_, err := ParsePolicy(text)
		require.Error(t, err, text)
	}
}

// approver decides as it is told.
type approver func(ctx context.Context, q Question) (Decision, error)

func (f approver) Ask(ctx context.Context, q Question) (Decision, error) { return f(ctx, q) }

func nobody(ctx context.Context, _ Question) (Decision, error) {
	<-ctx.Done()
	return Decision{}, ctx.Err()
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ask      approver
		fallback Policy
		want     string // the kind that is chosen
		decision string
	}{
		"approved": {func(context.Context, Question) (Decision, error) {
			return Decision{Approved: true, By: "miller", Note: "go on"}, nil
		}, Deny, "allow_once", `{"request":"q1","approved":true,"by":"miller","note":"go on"}`},
		"denied": {func(context.Context, Question) (Decision, error) { return Decision{By: "miller"}, nil },
			AllowOnce, "reject_once", `{"request":"q1","approved":false,"by":"miller"}`},
		"nobody in time, denied":  {nobody, Deny, "reject_once", `{"request":"q1","approved":false,"fallback":"deny"}`},
		"nobody in time, allowed": {nobody, AllowAlways, "allow_always", `{"request":"q1","approved":false,"fallback":"allow_always"}`},
		"nobody there": {func(context.Context, Question) (Decision, error) { return Decision{}, errors.New("no line") },
			Deny, "reject_once", `{"request":"q1","approved":false,"fallback":"deny","error":"no line"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, asking(all...))
			var asked Question
			o.Permissions = Permissions{Policy: Ask, Deadline: 50 * time.Millisecond, Fallback: test.fallback,
				Approver: approver(func(ctx context.Context, q Question) (Decision, error) {
					asked = q
					return test.ask(ctx, q)
				})}
			r, err := try(t, o)
			require.NoError(t, err)
			require.Equal(t, Question{Request: `"q1"`, Session: "s-1", CallID: "t1", Title: "Burn the mill", Once: true}, asked)
			require.Contains(t, r.Text, `"optionId":"o-`+test.want+`"`)
			decided, answered := kept(o).at("decision", test.decision), kept(o).at("client", `"id":"q1"`)
			require.GreaterOrEqual(t, decided, 0, kept(o).entries)
			require.Less(t, decided, answered)
		})
	}
}

func TestAskIsEndedByTheTurn(t *testing.T) {
	t.Parallel()
	o := options(t, play("post 7 session/request_permission "+wish(all...), "hear", "post 8 session/request_permission "+wish(all...), "hear",
		`line {"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`))
	stopping(&o, "Burn the mill")
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: AllowAlways, Approver: approver(nobody)}
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, "cancelled", r.StopReason)
	require.Equal(t, `[7: {"outcome":{"outcome":"cancelled"}}][8: {"outcome":{"outcome":"cancelled"}}]`, r.Text)
	require.Negative(t, kept(o).at("decision", ""), "nobody has decided")
}

func TestTheAgentTakesItsQuestionBack(t *testing.T) {
	t.Parallel()
	o := options(t, ended(
		"post 7 session/request_permission "+wish(all...),
		"post 7 session/request_permission "+wish(all...), "hear",
		`line {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`, "hear"))
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: AllowAlways, Approver: approver(nobody)}
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, "[7: -32600][7: -32800]", r.Text)
}

func TestADecisionThatCannotBeRecordedIsNone(t *testing.T) {
	t.Parallel()
	o := options(t, asking(all...))
	kept(o).control = func(typ schema.FrameType) error {
		if typ == schema.TypeDecision {
			return errors.New("no room")
		}
		return nil
	}
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: Deny,
		Approver: approver(func(context.Context, Question) (Decision, error) { return Decision{Approved: true}, nil })}
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, `["q1": -32603]`, r.Text)
}

// room is a journal whose room for decisions is given by whoever waits for it.
type room struct {
	*tape
	wait func(ctx context.Context) error
}

func (r *room) Control(ctx context.Context, typ schema.FrameType, at time.Time, info any) error {
	if err := r.wait(ctx); err != nil {
		return err
	}
	return r.tape.Control(ctx, typ, at, info)
}

// Whoever has decided hears whether that counts: what was decided before it was cancelled is recorded and
// answered, or neither.
func TestADecisionThatIsCancelledWhileItIsRecorded(t *testing.T) {
	t.Parallel()
	cancelled := outcome("", false)
	for name, test := range map[string]struct {
		cause error // of the end
		full  error // of the journal
		deaf  bool
		want  object
		says  string
	}{
		"the turn is cancelled":             {nil, nil, false, outcome("o-1", true), ""},
		"the agent takes its question back": {errWithdrawn, nil, false, outcome("o-1", true), ""},
		"and there is no room":              {nil, errFull, false, cancelled, "cannot be recorded: no room"},
		"the agent takes no answers":        {nil, nil, true, outcome("o-1", true), "takes no answer any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			kept := &room{&tape{}, func(kept context.Context) error {
				cancel(test.cause)
				if test.full == nil {
					return kept.Err()
				}
				return test.full
			}}
			settled := make(chan error, 1)
			decision := Decision{Approved: true, By: "miller", Settled: func(err error) { settled <- err }}
			c := &client{options: Options{Journal: kept, Permissions: Permissions{Policy: Ask, Deadline: time.Hour, Fallback: Deny,
				Approver: approver(func(context.Context, Question) (Decision, error) { return decision, nil })}}}
			var answers []any
			c.consult(ctx, Question{Request: "7"}, []option{{"o-1", "allow_once"}}, nil, func(result any, bad *failure) bool {
				require.Nil(t, bad)
				answers = append(answers, result)
				return !test.deaf
			})
			require.Equal(t, []any{test.want}, answers)
			if test.says == "" {
				require.NoError(t, <-settled)
			} else {
				require.ErrorContains(t, <-settled, test.says)
			}
			require.Equal(t, test.full == nil, kept.at("decision", "miller") >= 0)
		})
	}
}

func TestWhatCannotBeAllowedOnce(t *testing.T) {
	t.Parallel()
	o := options(t, ended("post 7 session/request_permission "+strings.ReplaceAll(wish("allow_always"), `"t1"`, "11"), "hear"))
	var asked Question
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: Deny,
		Approver: approver(func(_ context.Context, q Question) (Decision, error) { asked = q; return Decision{}, nil })}
	r, err := try(t, o)
	require.NoError(t, err)
	require.Equal(t, Question{Request: "7", Session: "s-1", CallID: "11", Title: "Burn the mill"}, asked, "it cannot be allowed once")
	require.Equal(t, `[7: {"outcome":{"outcome":"cancelled"}}]`, r.Text)
}

// Several questions wait at once, and are answered in any order.
func TestManyQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	var steps []string
	for _, id := range []string{"0", `"0"`, "2"} { // one is also an id of the client's own
		steps = append(steps, "post "+id+" session/request_permission "+strings.ReplaceAll(wish(all...), "t1", strings.Trim(id, `"`)+"-"))
	}
	o := options(t, ended(append(steps, "hear", "hear", "hear")...))
	third := make(chan struct{})
	o.Permissions = Permissions{Policy: Ask, Deadline: time.Hour, Fallback: Deny,
		Approver: approver(func(ctx context.Context, q Question) (Decision, error) {
			if q.Request == "2" {
				close(third)
			} else {
				<-third
			}
			return Decision{Approved: q.Request == `"0"`}, nil
		})}
	r, err := try(t, o)
	require.NoError(t, err)
	for _, part := range []string{`[0: {"outcome":{"optionId":"o-reject_once"`, `["0": {"outcome":{"optionId":"o-allow_once"`, `[2: {"outcome":{"optionId":"o-reject_once"`} {
		require.Contains(t, r.Text, part)
	}
}
