package render_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/render"
	"github.com/steno-io/steno/schema"
)

func TestPagesOfA2AReadAsBefore(t *testing.T) {
	for _, capture := range []string{
		"stream", "followup", "message", "errors", "tools", "twostreams", "revisions", "died", "odd", "old01", "rest03", "profile",
		"served-send", "served-stream", "served-errors", "proxy",
	} {
		t.Run(capture, func(t *testing.T) {
			all := goldenIn(t, capturesA2A, capture)[0]
			want(t, "a2a-"+capture+".show", show(t, render.Options{Width: 80}, durable(all)))
			want(t, "a2a-"+capture+".tail", tail(t, render.Options{Width: 80, Times: true}, all))
		})
	}
}

func TestWhereThePeerIsStandsInTheHeading(t *testing.T) {
	open := func(frame uint64, value string) schema.Event { return said("", frame, 0, rawOf("a2a/open", value)) }
	first := open(1, `{"protocol":"a2a","tap":"proxy","version":"dev","journal":"j","peer":"mill","upstream":"http://127.0.0.1:9000","labels":{"env":"dev"}}`)
	again := open(3, `{"protocol":"a2a","tap":"proxy","version":"new","journal":"k","peer":"mill","upstream":"http://127.0.0.1:9000","labels":{"env":"dev"}}`)
	other := open(4, `{"protocol":"a2a","tap":"proxy","peer":"mill","upstream":"http://10.0.0.1"}`)
	want := "\nupstream http://127.0.0.1:9000 · env=dev\n\nagent · mill\n  one\n\n■ recording began  upstream http://10.0.0.1\n\n2 raw records left out"
	require.Contains(t, show(t, render.Options{Width: 80}, []schema.Event{first, said("t", 2, 0, reply("one")), again, other}), want)

	var live bytes.Buffer
	r := render.New(&live, render.Options{})
	require.NoError(t, r.Transcript(summary([]schema.Event{first})))
	require.NoError(t, r.Event(first))
	require.True(t, strings.HasSuffix(live.String(), " · 0 ms · in /w\nupstream http://127.0.0.1:9000 · env=dev\n"), live.String())

	require.NotContains(t, show(t, render.Options{}, []schema.Event{open(1, `{"protocol":"a2a","tap":"import","version":"dev"}`)}), "recording began")
	require.Contains(t, show(t, render.Options{Raw: true}, []schema.Event{first}), `"journal":"j"`)
}

// Labels that another proxy gives are told where it goes on: no terminal obeys them, and they stay on a line.
func TestLabelsOfALaterBeginningAreText(t *testing.T) {
	open := func(frame uint64, label string) schema.Event {
		return said("", frame, 0, rawOf("a2a/open", `{"protocol":"a2a","tap":"proxy","peer":"mill","labels":{"env":"`+label+`"}}`))
	}
	events := []schema.Event{open(1, "dev"), said("t", 2, 0, reply("one")), open(3, `\u001b]0;owned\u0007\u001b[2J\nnext`)}
	want := "■ recording began  env=␛]0;owned␇␛[2J next\n"
	require.Contains(t, show(t, render.Options{Width: 80}, events), want)
	require.Contains(t, tail(t, render.Options{Width: 80}, events), want)
}

// said is an event of a task.
func said(task string, frame uint64, part uint32, kind schema.Kind) schema.Event {
	return schema.Event{
		WorkerSeq: frame, Part: part, EmittedAt: time.UnixMilli(int64(frame)), Frames: []schema.Range{{frame, frame}},
		Source: schema.Source{Protocol: schema.A2A, TaskID: task}, Kind: kind,
	}
}

func progress(text string) schema.Kind { return &schema.Progress{Detail: &schema.Note{Text: text}} }

func rawOf(source, value string) schema.Kind {
	return &schema.Raw{Source: source, Value: schema.JSON(value)}
}

func reply(text string) schema.Kind {
	return &schema.Message{Role: schema.Assistant, Channel: schema.Answer, MessageID: text, Text: text}
}

// page writes a whole transcript without its heading and without blank lines.
func page(t *testing.T, events ...schema.Event) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(show(t, render.Options{Width: 80}, events)), "\n")
	var rest []string
	for _, line := range lines[4:] {
		if line != "" {
			rest = append(rest, line)
		}
	}
	return rest
}

func TestATaskIsNamedWhereThereAreSeveral(t *testing.T) {
	one, two := said("t-1", 1, 0, reply("one")), said("t-2", 2, 0, reply("two"))
	require.Equal(t, []string{"agent · mill", "  one"}, page(t, one))
	require.Equal(t, []string{"── task t-1", "agent · mill", "  one", "── task t-2", "agent · mill", "  two", "── task t-1", "■ end of turn"},
		page(t, one, two, said("t-1", 3, 0, &schema.Stop{Reason: schema.StopEndTurn})))
	// As it happens nobody knows that a second one comes.
	var out bytes.Buffer
	r := render.New(&out, render.Options{})
	for _, e := range []schema.Event{one, two, said("t-1", 3, 0, progress("resumed: working"))} {
		require.NoError(t, r.Event(e))
	}
	require.Equal(t, "\nagent\n  one\n\n── task t-2\n\nagent\n  two\n\n── task t-1\n\n▸ resumed: working\n", "\n"+out.String())
	// What is asked about a task is no turn to it.
	require.Equal(t, []string{"agent · mill", "  one", "· GetTask  id nope", "✗ GetTask failed  -32001 no such task"}, page(t, one,
		said("nope", 2, 0, rawOf("a2a/1.0/jsonrpc/GetTask/request", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"nope"}}`)),
		said("nope", 3, 0, rawOf("a2a/1.0/jsonrpc/GetTask/error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}`))))
}

func TestPartsStandUnderTheWordsTheyCameWith(t *testing.T) {
	part := func(frame uint64, value string) schema.Event {
		return said("t", frame, 1, rawOf("a2a/1.0/part/x", value))
	}
	require.Equal(t, []string{
		"agent · mill", "  Here", "  [data · n 1, ids [1,2]]", "  [data · [1,null]]", "  [raw · a.txt · text/plain · 2 bytes]",
		"  [url · https://f.example/a.csv · text/csv]", "  [url · b.csv · https://f.example/b]", "  [raw · c · 3 bytes]",
		"· resumed at noon", "· [data · n 2]",
	}, page(t, said("t", 1, 0, reply("Here")), part(2, `{"data":{"n":1,"ids":[1,2]}}`), part(3, `{"data":[1,null]}`),
		part(4, `{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"}`), part(5, `{"url":"https://f.example/a.csv","mediaType":"text/csv"}`),
		part(6, `{"kind":"file","file":{"uri":"https://f.example/b","name":"b.csv"}}`), part(7, `{"file":{"bytes":"aGkK","name":"c"}}`),
		said("t", 8, 0, progress("resumed at noon")), part(9, `{"data":{"n":2}}`)))
}

func TestProgressStandsBeforeTheAnswerItLedTo(t *testing.T) {
	text := said("t", 9, 1, reply("Rain"))
	text.Frames = []schema.Range{{3, 9}}
	require.Equal(t, []string{"· Looking", "agent · mill", "  Rain", "? interrupted: input-required"},
		page(t, said("t", 9, 0, progress("Looking")), text, said("t", 9, 2, progress("interrupted: input-required"))))
}

func TestTimesAreThoseOfTheFirstFrames(t *testing.T) {
	text, note := said("t", 90, 1, reply("Rain")), said("t", 90, 0, progress("Looking\nFound"))
	text.Frames = []schema.Range{{41, 90}}
	status := func(frame uint64, words string) schema.Event {
		return said("t", frame, 0, rawOf("a2a/1.0/jsonrpc/SendStreamingMessage/statusUpdate",
			`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","status":{"state":"working","message":{"role":"agent","parts":[{"text":"`+words+`"}]}}}}}`))
	}
	events := []schema.Event{
		said("t", 10, 0, &schema.Message{Role: schema.User, Text: "Go"}), status(16, "Looking"), said("u", 20, 0, progress("Looking elsewhere")),
		status(30, "Found"), note, text, said("t", 90, 2, progress("interrupted: input-required")), said("t", 95, 0, progress("Looking")),
	}
	at := func(frame uint64) time.Time {
		require.EqualValues(t, 41, frame, "the others have events")
		return time.UnixMilli(int64(frame))
	}
	times := func(o render.Options) (got []string) {
		o.Times = true
		for line := range strings.Lines(show(t, o, events)) {
			if what, when, ok := strings.Cut(line, "  +"); ok {
				got = append(got, strings.TrimSpace(what)+" "+strings.TrimSpace(when))
			}
		}
		return got
	}
	require.Equal(t, []string{"user 0 ms", " 6 ms", "· Looking elsewhere 10 ms", "agent · mill 31 ms", "? interrupted: input-required 80 ms", "· Looking 85 ms"}, times(render.Options{At: at}))
	require.Contains(t, times(render.Options{}), "agent · mill 80 ms", "nobody knows when it began")
	require.Contains(t, times(render.Options{At: func(uint64) time.Time { return time.Time{} }}), "agent · mill 80 ms")
}

func TestLongProgressIsAnExcerpt(t *testing.T) {
	require.Equal(t, []string{"· one", "· two"}, page(t, said("t", 1, 0, progress("one\ntwo"))))
	got := page(t, said("t", 1, 0, progress(strings.Repeat("word ", 40))))
	require.Len(t, got, 3)
	for _, line := range got {
		require.True(t, strings.HasPrefix(line, "· word"), line)
		require.LessOrEqual(t, len(line), 82)
	}
}

func TestProgressIsShownAsItComesAndOnce(t *testing.T) {
	live := func(task, text string) schema.Event {
		e := said(task, 1, 0, progress(text))
		e.Ephemeral = true
		return e
	}
	write := func(events ...schema.Event) string {
		var out bytes.Buffer
		r := render.New(&out, render.Options{})
		for _, e := range events {
			if e.Ephemeral {
				require.NoError(t, r.Delta(e))
			} else {
				require.NoError(t, r.Event(e))
			}
		}
		require.NoError(t, r.Close())
		return out.String()
	}
	require.Equal(t, "· Looking around\n", write(live("t", "Looking"), live("t", " around"), said("t", 2, 0, progress("Looking around"))))
	require.Equal(t, "· Looking\n· Found\n", write(live("t", "Looking"), live("t", "Found"), said("t", 2, 0, progress("Looking\nFound"))))
	require.Equal(t, "· around\n· Looking around\n", write(live("t", "around"), said("t", 2, 0, progress("Looking around"))), "not all of it was shown")
	require.Equal(t, "· Looking\n\n■ end of turn\n· Looking\n",
		write(live("t", "Looking"), said("t", 2, 0, &schema.Stop{Reason: schema.StopEndTurn}), said("t", 3, 0, progress("Looking"))))
}

func TestAnErrorIsSaidOnce(t *testing.T) {
	fault := said("t", 1, 0, rawOf("a2a/1.0/jsonrpc/SendMessage/error", `{"error":{"code":-3,"message":"no"}}`))
	left := func(n string) string { return n + " left out: other lines say the same" }
	require.Equal(t, []string{"■ failed: -3 no", left("1 raw record")}, page(t, fault, said("t", 1, 1, &schema.Stop{Reason: schema.StopError, Detail: "-3 no"})))
	require.Equal(t, []string{"✗ stream error -3 no", left("1 raw record")}, page(t, fault, said("t", 1, 1, progress("stream error -3 no"))))
	require.Equal(t, []string{"✗ SendMessage failed  -3 no"}, page(t, fault), "nothing else says it")
	require.Equal(t, []string{"✗ SendMessage failed  -3 no", "■ end of turn"}, page(t, fault, said("t", 2, 0, &schema.Stop{Reason: schema.StopEndTurn})))
	closed := func(value string) schema.Event { return said("", 2, 1, rawOf("a2a/close", value)) }
	require.Equal(t, []string{left("1 raw record")}, page(t, closed(`{"reason":"eof","exchange":"e"}`)))
	require.Equal(t, []string{"! exchange broke off  refused"}, page(t, closed(`{"reason":"eof","exchange":"e","error":"refused"}`)))
	require.Equal(t, []string{"■ failed: refused", left("1 raw record")},
		page(t, said("", 2, 0, &schema.Stop{Reason: schema.StopError, Detail: "refused"}), closed(`{"reason":"eof","exchange":"e","error":"refused"}`)))
	require.Equal(t, []string{"! exchange not seen to its end  writer died"}, page(t, closed(`{"reason":"writer died","exchange":"e"}`)))
}

func TestRawShowsAllOfA2AToo(t *testing.T) {
	all := durable(goldenIn(t, capturesA2A, "served-stream")[0])
	text := show(t, render.Options{Raw: true}, all)
	for _, source := range []string{"/request", "/served", "/task", "a2a/noise", "a2a/close"} {
		require.Contains(t, text, source+"\n")
	}
	require.NotContains(t, text, "left out")
}
