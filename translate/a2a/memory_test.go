package a2a

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// held is how much memory a fold keeps behind n rounds of the given frames, each in an exchange of its own.
func held(n int, lines ...string) int64 {
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers and pools let go of
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	fold := translate.Fold(Translator{}.Fold(testIdentity))
	for round := range n {
		frames := talk(lines...)
		for i := range frames {
			f := &frames[i]
			f.Seq = uint64(round*len(frames)+i) + 1
			f.Exchange += strconv.Itoa(round)
			if i == len(frames)-1 {
				f.Data = []byte(`{"reason":"eof","exchange":"` + f.Exchange + `"}`)
			}
			fold.Step(nil, f)
		}
	}
	after := inUse()
	runtime.KeepAlive(fold)
	return after - before
}

// What a conversation keeps does not grow with how often its client has asked.
func TestWhatIsKeptOfClosedExchanges(t *testing.T) {
	const least, bound = 100, 4 << 10
	for name, lines := range map[string][]string{
		"polls":            {"> e" + " " + asksTask("t"), "< e " + standing("working", ""), "x e"},
		"polls in vain":    {"> e" + " " + asksTask("t"), `< e {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`, "x e"},
		"refused sends":    {"> e " + sends, `< e {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, "x e"},
		"cards":            {"> e ", "# e {}", "x e"},
		"streams of tasks": {"> e " + sends, "~ e " + standing("working", ""), "x e"},
	} {
		held(1, lines...) // what is made once
		grown := held(10_000, lines...) - held(least, lines...)
		assert.Less(t, grown, int64(bound), "%s: bytes that 10,000 closed exchanges keep more than %d do", name, least)
		t.Logf("%s: %d bytes", name, held(10_000, lines...))
	}
}

func TestAFrameBehindACloseBeginsAnotherExchange(t *testing.T) {
	got := told(t, "> e1 "+asks("m", "x"), "~ e1 "+standing("completed", ""), "x e1", "~ e1 "+chunk("a", "late", `,"lastChunk":true`), "x e1", "x e1")
	require.Equal(t, []string{`User answer "x" revision 0`, `stop EndTurn ""`, `Assistant answer "late" revision 0`}, got)
}

// Messages that a peer neither takes nor refuses are kept, with their texts, in case it repeats them: so many only, and
// the last ones.
func TestWhatIsKeptOfMessagesThatNobodyTakes(t *testing.T) {
	fold := newFold(testIdentity)
	for n := range 10 * maxInjected {
		exchange := "e" + strconv.Itoa(n)
		info := `{"id":"i","session":"t","kind":{"kind":"InjectMessage","text":"Go on"},"message_id":"m-` + exchange + `"}`
		fold.Step(nil, &schema.Frame{Seq: uint64(n) + 1, From: schema.FromControl, Type: schema.TypeIntervention, Exchange: exchange, Data: []byte(info)})
	}
	require.Len(t, fold.injected, maxInjected)
	for n := range maxInjected {
		require.Contains(t, fold.injected, "e"+strconv.Itoa(10*maxInjected-1-n))
	}
}
