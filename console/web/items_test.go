package web_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/console/web/webtest"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// read is what a reader is told by one item, as far as every console tells it.
type read struct {
	Kind  string
	Seq   uint64 // of the event at which it stands
	Words string // of a line; of a tool: its name, title and phase; of a permission: what was decided
	Asks  []string
	Parts int // of A2A, that came beside a message's text
}

// foldsOf gives the page's items of stored events, as read.
const foldsOf = `(async () => {
	const { Fold } = await import("/static/fold.js");
	const { trusted } = await import("/static/json.js");
	const tools = await import("/static/cards/tool.js");
	const lines = await import("/static/cards/small.js");
	const { permission } = await import("/static/cards/permission.js");
	const ask = (a) => {
		const offered = a.options.map((o) => o.name).join(" | ") || a.large || "nothing to choose from";
		const policy = a.policy && a.policy !== "client" ? " (policy " + a.policy + ")" : "";
		return offered + ": " + (a.decided === "" ? "" : (a.chosen === null ? "" : "answered: ") + a.decided + policy);
	};
	const plain = new Set(["user", "agent", "message", "thought", "permission", "plan", "note"]);
	window.fold = (sources, peer) => {
		const fold = new Fold(), texts = [], out = [];
		fold.peer = peer;
		for (const source of sources) {
			const e = JSON.parse(source);
			texts[e.store_seq] = source;
			fold.add(e, source);
		}
		const view = { fold, model: { texts }, until: Infinity, turnMs: () => null, countUntil: (item) => item.seqs.length,
			stored: (item) => ({ kind: trusted(texts[item.seq]).get("kind") }) };
		for (const item of fold.items) {
			if (item.hidden) continue;
			const before = out.at(-1), r = { Kind: item.kind, Seq: item.seq, Words: "", Asks: null, Parts: 0 };
			const words = (name) => lines[item.kind](view, item).map((e) => e.matches(name) ? e : e.querySelector(name)).find((e) => e)?.textContent ?? "";
			if (item.kind === "tool") {
				const s = tools.stateOf(view, item);
				r.Words = [...tools.labelOf(s, item), tools.phaseWords(s).words].join("|");
				r.Asks = s.asks.map(ask);
			} else if (item.kind === "part") {
				if (before && "user agent message thought".includes(before.Kind)) { before.Parts++; continue; }
				r.Words = "[" + words("p") + "]";
			} else if (item.kind === "permission") {
				r.Words = permission(view, item).map((e) => e.dataset.decided).find((d) => d);
			} else if (!plain.has(item.kind)) r.Words = words(".words");
			if (!plain.has(r.Kind) && !["tool", "noise", "stop", "usage"].includes(r.Kind)) r.Kind = "line";
			out.push(r);
		}
		return out;
	};
})()`

// reads gives the items of the same events as the exports and the terminal read them.
func reads(p *reading.Page) (all []read) {
	for i := range p.Items {
		item := &p.Items[i]
		r := read{Seq: item.Event.StoreSeq}
		switch is := item.Is.(type) {
		case *reading.Message:
			r.Kind = speakers[is.Role]
			if r.Kind == "" {
				r.Kind = "message"
			}
			if is.Channel == schema.Thought {
				r.Kind = "thought"
			}
			for _, part := range is.Parts[1:] {
				if part.Named != "" && item.Event.Kind.(*schema.Message).Content == nil {
					r.Parts++
				}
			}
		case *reading.Tool:
			name, title := is.Label()
			_, _, words := is.Card.Words()
			r.Kind, r.Words = "tool", strings.Join([]string{name, title, words}, "|")
			r.Asks = []string{}
			for _, a := range is.Asks {
				r.Asks = append(r.Asks, a.Offered+": "+a.Decided)
			}
		case *reading.Permission:
			a := is.Asks[len(is.Asks)-1]
			r.Kind, r.Words = "permission", map[bool]string{true: "yes", false: "no"}[a.Allowed]
			if a.Decided == "" {
				r.Words = "open"
			}
		case *reading.Plan:
			r.Kind = "plan"
		case *reading.Noise:
			r.Kind, r.Words = "noise", is.What
		case *reading.Remark:
			r.Kind = "note"
		case *reading.Line:
			r.Kind, r.Words = "line", is.What
			switch item.Event.Kind.(type) {
			case *schema.Stop:
				r.Kind = "stop"
			case *schema.Progress:
				r.Kind = "usage"
			}
		}
		all = append(all, r)
	}
	return all
}

var speakers = map[schema.Role]string{schema.User: "user", schema.Assistant: "agent"}

// pinned gives the stored events of the sessions of a translator's golden file, and what its heading would say.
func pinned(t *testing.T, file string) (sessions [][]schema.Event) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	_, below, ok := strings.Cut(string(data), "----------\n")
	require.True(t, ok, file)
	for line := range strings.Lines(below) {
		e, err := schema.DecodeEvent([]byte(line))
		require.NoError(t, err)
		if e.Ephemeral {
			continue
		}
		for int(e.Session) >= len(sessions) {
			sessions = append(sessions, nil)
		}
		e.StoreSeq = uint64(len(sessions[e.Session]) + 1)
		sessions[e.Session] = append(sessions[e.Session], e)
	}
	return sessions
}

// TestThePageReadsAsTheOthersDo folds every pinned capture in the page and for the exports: both have the same
// items, in the same order.
func TestThePageReadsAsTheOthersDo(t *testing.T) {
	files, err := filepath.Glob("../../translate/a*/testdata/a*-*/*.golden")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	tab := blank(t)
	tab.Do(foldsOf)
	items := 0
	for _, file := range files {
		for session, events := range pinned(t, file) {
			if len(events) == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", filepath.Base(file), session), func(t *testing.T) {
				var sources []string
				for i := range events {
					sources = append(sources, string(events[i].AppendJSON(nil)))
				}
				encoded, err := json.Marshal(sources)
				require.NoError(t, err)
				got := webtest.Eval[[]read](tab, fmt.Sprintf("fold(%s, %q)", encoded, "mill"))
				page := reading.NewPage(sink.Summary{Protocol: events[0].Source.Protocol, Agent: "mill"}, slices.Clone(events), nil)
				if page.Origin != "" { // here it is a line, there it stands in the heading
					require.Equal(t, "recording began", got[0].Words)
					got = got[1:]
				}
				want := reads(page)
				items += len(want)
				require.Equal(t, want, got)
			})
		}
	}
	require.Greater(t, items, 300)
}
