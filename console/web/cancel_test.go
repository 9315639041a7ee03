package web_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/api"
	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/ingest/intervene"
	"github.com/steno-io/steno/schema"
)

const (
	cancelButton  = `[data-action="cancel"]:not([hidden])`
	confirmButton = `dialog[open] [data-action="confirm"]`
	millersToken  = "0123456789abcdef"
)

// reached is a conversation that takes cancels.
type reached struct {
	mu      sync.Mutex
	got     []schema.Intervention
	outcome schema.Outcome // of the next ones
}

func (r *reached) Supported() []schema.Primitive { return []schema.Primitive{schema.PrimitiveCancel} }

func (r *reached) Deliver(_ context.Context, i schema.Intervention) schema.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, i)
	return r.outcome
}

func (r *reached) becomes(o schema.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome = o
}

// all are those that it got.
func (r *reached) all() []schema.Intervention {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]schema.Intervention(nil), r.got...)
}

// take has a conversation's interventions taken.
func take(t *testing.T, s *consoletest.Site, c *consoletest.Talk) *reached {
	t.Helper()
	r := &reached{outcome: schema.Applied()}
	served := make(chan struct{})
	s.Background(func(ctx context.Context) error {
		return intervene.NewDesk(r).Serve(ctx, s.Conn, c.Identity, func() { close(served) })
	})
	<-served
	return r
}

// interventions is how often a tab has asked what can be delivered, or had something delivered.
func interventions(tab *webtest.Tab) (n int) {
	for _, address := range tab.Requests() {
		if strings.HasSuffix(address, "/interventions") {
			n++
		}
	}
	return n
}

// field selects one of the dialog's that is in sight, and has the focus.
func field(name string) string { return `dialog[open] [data-field="` + name + `"]:focus` }

// below selects what is said below the heading of a cancel, the dialog being closed.
func below(state string) string { return `[data-cancel="` + state + `"]:not(dialog *)` }

func operators(t *testing.T) api.Operators {
	t.Helper()
	o, err := api.ReadOperators(strings.NewReader("miller " + millersToken + "\n"))
	require.NoError(t, err)
	return o
}

// TestATurnIsCancelled from the keyboard, in the name of a token, once for each press, whatever becomes of the answer.
func TestATurnIsCancelled(t *testing.T) {
	s := operated(t, operators(t))
	c := s.Talk(s.Namespace, "cancelled")
	c.Title("Sacks in the store")
	c.Prompt("Count them")
	c.Has(3)
	r := take(t, s, c)
	tab := open(t, address(s, c.Key))
	tab.There(cancelButton)
	require.Equal(t, 1, interventions(tab))
	require.Contains(t, tab.Access().Controls, webtest.Control{Role: "button", Name: "Cancel what the agent is doing now"})

	press := func() {
		tab.Do(`document.querySelector(` + webtest.Quote(cancelButton) + `).focus()`)
		tab.Press(webtest.Enter)
		tab.There(field("reason"))
	}
	press()
	require.Equal(t, []string{"Cancel what the agent is doing?"}, tab.Access().Roles["dialog"])
	require.Contains(t, tab.Text("dialog[open]"), "In “Sacks in the store”, now.")
	tab.Press("the wrong <b>branch</b>")
	tab.Press(webtest.Enter)
	tab.Shows(`dialog [data-cancel="unauthorized"]`, "A token says who you are.")
	tab.There(field("token"))
	require.Empty(t, r.all())
	tab.Allow("status of 401", "status of 503")
	tab.Press("nobody's token at all 🌾")
	tab.Press(webtest.Enter)
	tab.Shows(`dialog [data-cancel="unauthorized"]`, "does not know that token. Nothing was done.")
	tab.There(field("token"))
	require.Empty(t, webtest.Eval[string](tab, `sessionStorage.getItem("steno.token") ?? document.activeElement.value`))
	question(t, tab)
	tab.Press(millersToken)
	tab.PressSlowly(func() { tab.Shows(below("applied"), "✓ The cancel was delivered.") }) // the key presses nothing else
	tab.Shows(below("applied"), "✓ The cancel was delivered.")
	tab.Gone("dialog[open]")
	tab.Await(`document.activeElement.matches(%s)`, webtest.Quote(cancelButton))
	require.Equal(t, "The cancel was delivered.", webtest.Eval[string](tab, `document.querySelector("[data-status-text]").textContent`), "it is said aloud")
	got := r.all()
	require.Len(t, got, 1)
	require.Equal(t, "miller", got[0].IssuedBy)
	require.Equal(t, c.Session, got[0].Session)
	require.Equal(t, "the wrong <b>branch</b>", got[0].Kind.Reason)
	still2(tab)
	tab.Shot("applied")

	// The tab knows the token now; it is nowhere else. What it is told is text.
	require.Equal(t, millersToken, webtest.Eval[string](tab, `sessionStorage.getItem("steno.token")`))
	require.NotContains(t, webtest.Eval[string](tab, `JSON.stringify(localStorage) + document.cookie + location.href + JSON.stringify(history.state)`), millersToken)
	for _, at := range tab.Requests() {
		require.NotContains(t, at, millersToken)
	}
	r.becomes(schema.Stale("<img src=x onerror=canary()><script>canary()</script>\u202edeneddrow\x1b[2J\n%s", strings.Repeat("behind ", 400)))
	press()
	require.False(t, webtest.Eval[bool](tab, `document.querySelector("[data-field=token]").checkVisibility()`))
	tab.Press(webtest.Enter)
	tab.Shows(below("stale"), "! Not cancelled: <img src=x onerror=canary()><script>canary()</script>⟨U+202E⟩deneddrow␛[2J behind")
	require.Zero(t, tab.Count("[data-cancel] :is(img, script)"))
	for _, width := range []int64{360, 1440} {
		tab.Size(width, 900)
		still2(tab)
		require.True(t, webtest.Eval[bool](tab, `document.documentElement.scrollWidth <= innerWidth && document.querySelector("p.outcome").clientHeight < 300`))
		tab.Shot(fmt.Sprintf("stale-%d", width))
	}
	r.becomes(schema.NotSupported(schema.PrimitiveCancel))
	press()
	tab.Press(webtest.Enter)
	tab.Shows(below("not_supported"), "no way to deliver a Cancel")
	require.Len(t, r.all(), 3)

	// It is delivered, and the answer lost: pressed twice again it is the same one.
	r.becomes(schema.Applied())
	tab.Do(`(() => {
		const real = fetch;
		window.answers = 0;
		window.fetch = async (path, how) => {
			const answer = await real(path, how);
			if (how.method === "POST" && ++answers === 1) throw new TypeError("cut");
			return answer;
		};
	})()`)
	press()
	tab.Press("enough")
	tab.Press(webtest.Enter)
	tab.Shows(`dialog [data-cancel="unanswered"]`, "whether it was done is not known")
	require.True(t, webtest.Eval[bool](tab, `document.activeElement.readOnly`))
	require.Equal(t, "Close\nTry again", tab.Text("dialog[open] .answers"))
	still2(tab)
	tab.Shot("unanswered")
	tab.Do(`(() => { const b = document.querySelector(` + webtest.Quote(confirmButton) + `); b.click(); b.click(); })()`)
	tab.There(below("applied"))
	require.Equal(t, 2, webtest.Eval[int](tab, "answers"))

	// Nor does the API know; what was closed can be gone on with.
	r.becomes(schema.Outcome{})
	press()
	tab.Press(webtest.Enter)
	tab.There(`dialog [data-cancel="unanswered"]`)
	tab.Press(webtest.Escape)
	tab.There(below("unanswered"))
	tab.Click(`[data-action="again"]`)
	tab.There(`dialog[open] [data-cancel="unanswered"]`)
	tab.Click(confirmButton)
	tab.Await("answers === 4")
	tab.There(`dialog[open] [data-cancel="unanswered"]`)

	ids := map[string]bool{}
	for _, i := range r.all() {
		ids[i.ID] = true
	}
	require.Len(t, r.all(), 5, "each once")
	require.Len(t, ids, 5)

	// Who is refused then is not told that nothing was done.
	tab.Click(`dialog[open] [data-action="forget"]`)
	tab.There(field("token"))
	require.Equal(t, 0, webtest.Eval[int](tab, `Object.keys(sessionStorage).filter((k) => k === "steno.token").length`))
	tab.Press("nobody's token")
	tab.Press(webtest.Enter)
	tab.Shows(`dialog[open] [data-cancel="unauthorized"]`, "does not know that token. Whether it was done before is not known.")
	require.True(t, webtest.Eval[bool](tab, `document.querySelector("[data-field=reason]").readOnly`), "it is the same one")
	require.Len(t, r.all(), 5)
	tab.Click(`dialog[open] [data-action="close"]`)
	tab.Gone("dialog[open]")
	tab.Shows(below("unauthorized"), "Whether it was done before is not known.")
	c.Stop("cancelled")
	c.Close()
	tab.There(`body[data-connection="ended"]`)
	tab.Gone(cancelButton)
}

// question looks at the dialog in both themes and on a phone.
func question(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		tab.Scheme(scheme)
		still2(tab)
		require.Empty(t, webtest.Eval[[]string](tab, contrast))
		tab.Shot("question-" + scheme)
	}
	tab.Size(360, 740)
	still2(tab)
	require.True(t, webtest.Eval[bool](tab, `(() => {
		const d = document.querySelector("dialog[open]"), r = d.getBoundingClientRect();
		return r.left >= 0 && r.right <= 360 && d.scrollWidth <= d.clientWidth;
	})()`))
	tab.Shot("question-phone")
	tab.Size(1440, 900)
	still2(tab)
}

// TestACancelIsOfferedWhereItCanBeDelivered, which is asked when the transcript is live and when it is so again, and
// never of what has ended. A server without operators says what it lacks.
func TestACancelIsOfferedWhereItCanBeDelivered(t *testing.T) {
	s := site(t)
	over := turns(s, "over", 1)
	c := s.Talk(s.Namespace, "offered")
	c.Prompt("Count them")
	c.Has(2)
	tab := open(t, address(s, over.Key))
	tab.There(`body[data-connection="ended"]`)
	tab.Do(`(() => {
		const Real = EventSource;
		window.EventSource = class extends Real { constructor(at) { super(at); window.source = this; } };
	})()`)
	require.Zero(t, interventions(tab))
	require.Zero(t, tab.Count(cancelButton))

	const answers = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/interventions")).length`
	tab.Press("u")
	row := `[data-key="` + c.Key.String() + `"] a`
	tab.There(row)
	tab.Click(row)
	tab.There(`body[data-view="transcript"][data-connection="live"]`)
	tab.Await(answers + " === 1")
	still2(tab)
	require.Zero(t, tab.Count(cancelButton), "nobody takes them")
	r := take(t, s, c)
	tab.Do(`source.onerror()`)
	tab.There(`body[data-connection="broken"]`)
	tab.Do(`source.onopen()`)
	tab.There(cancelButton)
	require.Equal(t, 2, interventions(tab))

	tab.Allow("status of 403")
	tab.Click(cancelButton)
	tab.There(field("reason"))
	tab.Press(webtest.TabKey)
	tab.There(field("token"))
	tab.Press(millersToken)
	tab.Click(confirmButton)
	tab.Shows(`dialog [data-cancel="no_interventions"]`, "steno’s --operators names the file that says who may")
	require.Equal(t, 0, webtest.Eval[int](tab, `Object.keys(sessionStorage).filter((k) => k === "steno.token").length`))
	require.Empty(t, r.all())
	still2(tab)
	tab.Shot("no-operators")

	// A recording that ended while the page was cut off is asked for no more.
	tab.Press(webtest.Escape)
	tab.Gone("dialog[open]")
	before := interventions(tab)
	tab.Do(`source.close(), source.onerror()`)
	tab.There(`body[data-connection="broken"]`)
	c.Stop("end_turn")
	c.Close()
	tab.Do(`source.onopen()`)
	tab.Gone(cancelButton)
	require.Equal(t, before, interventions(tab))
}
