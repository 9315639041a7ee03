package state

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// sample has every shape, and fields of every visibility.
type sample struct {
	embedded
	Exported  string
	word      word
	signed    int32
	counts    [2]uint64
	digest    [4]byte
	odd       string // no UTF-8
	json      [4]schema.JSON
	bytes     [3][]byte
	at        [2]time.Time
	numbers   map[uint32]uint64
	sets      map[pair]bool
	nilMap    map[string]int
	byName    map[string]*node
	order     []*node
	none      []string
	empty     []string
	inner     struct{ part, parts []node }
	root      *sample
	number    *uint64
	same      *uint64
	left      func() `state:"-"`
	leftBytes []byte `state:"-"`
}

type embedded struct{ open, closed bool }

type word string

type pair struct {
	id  string
	sum [2]byte
	n   int8
}

type node struct {
	name string
	next *node
	in   map[int]*node
}

var sampleForm = NewForm[sample]("sample/1")

func newSample() *sample {
	shared := schema.JSON(`{"a":"shared by two"}`)
	a, b := &node{name: "the same name"}, &node{name: "the same name"}
	a.next, b.next = b, a
	a.in = map[int]*node{-1: a, 7: b}
	number := uint64(1<<64 - 1)
	s := &sample{
		embedded: embedded{open: true, closed: true}, Exported: "the same name", word: "abc", signed: -1 << 31,
		counts: [2]uint64{0, 300}, digest: [4]byte{0, 255, 1, 2}, odd: "\xff\xfe\x00…",
		json:    [4]schema.JSON{shared, shared, nil, {}},
		bytes:   [3][]byte{[]byte("the same name"), nil, {}},
		at:      [2]time.Time{time.Unix(-5, 999_999_999).UTC(), {}},
		numbers: map[uint32]uint64{}, sets: map[pair]bool{{"b", [2]byte{1}, 1}: true, {"b", [2]byte{0, 9}, 1}: false, {"b", [2]byte{1}, -1}: true, {"", [2]byte{}, 0}: true},
		byName: map[string]*node{"a": a, "b": b, "nil": nil}, order: []*node{b, a, nil, {}}, empty: []string{},
		number: &number, same: &number,
	}
	for n := range uint32(100) {
		s.numbers[n*n] = uint64(n)
	}
	s.inner.part = []node{{name: "x", next: a}}
	s.root = s
	return s
}

func TestWhatIsSavedIsRestored(t *testing.T) {
	want := newSample()
	state := sampleForm.Append([]byte("before"), want)
	require.Equal(t, "before", string(state[:6]))
	state = state[6:]
	fresh := []byte("fresh")
	got := &sample{left: func() {}, leftBytes: fresh, odd: "other", none: []string{"x"}, nilMap: map[string]int{"x": 1}, bytes: [3][]byte{1: {1}}}
	require.NoError(t, sampleForm.Load(got, state))

	require.Equal(t, "fresh", string(got.leftBytes))
	require.NotNil(t, got.left)
	got.leftBytes, got.left = nil, nil
	require.True(t, reflect.DeepEqual(want, got), "want %#v\ngot %#v", want, got)
	require.Same(t, got, got.root)
	require.Same(t, got.byName["a"], got.order[1])
	require.Same(t, got.order[1], got.order[0].next)
	require.Same(t, got.order[1], got.inner.part[0].next)
	require.NotSame(t, got.order[0], got.order[1])
	require.Same(t, got.number, got.same)
	require.NotSame(t, want.number, got.number)

	require.Equal(t, state, sampleForm.Append(nil, got))
	require.Equal(t, 1, strings.Count(string(state), `{"a":"shared by two"}`), "a text is written once")
	require.Equal(t, 2, strings.Count(string(state), "the same name"), "but bytes, which change, are their own")
}

// What is restored has memory of its own: neither the state's nor its neighbours'.
func TestWhatIsRestoredIsItsOwn(t *testing.T) {
	state := sampleForm.Append(nil, newSample())
	got := &sample{}
	require.NoError(t, sampleForm.Load(got, state))
	again := sampleForm.Append(nil, got)
	for i := range state {
		state[i] = 'x'
	}
	got.bytes[0] = append(got.bytes[0], "more"...)
	got.bytes[0] = got.bytes[0][:len("the same name")]
	got.json[0] = append(got.json[0], "more"...)[:len(got.json[1])]
	require.Equal(t, again, sampleForm.Append(nil, got))
	require.Equal(t, len(got.json[1]), cap(got.json[1]), "an append goes elsewhere")
}

func TestEqualValuesGiveEqualBytes(t *testing.T) {
	want := sampleForm.Append(nil, newSample())
	for range 20 { // maps are walked otherwise each time
		require.Equal(t, want, sampleForm.Append(nil, newSample()))
	}
}

func TestAStateMayBeFollowed(t *testing.T) {
	state := append(sampleForm.Append(nil, newSample()), "rest"...)
	rest, err := sampleForm.Cut(&sample{}, state)
	require.NoError(t, err)
	require.Equal(t, "rest", string(rest))
	require.ErrorIs(t, sampleForm.Load(&sample{}, state), ErrUnfit)
}

// Each of these differs from the first in one thing, and refuses its state.
func TestAnotherFormIsRefused(t *testing.T) {
	type first struct {
		A, B string
		C    []pair
		S    string `state:"-"`
	}
	type renamed struct {
		A, D string
		C    []pair
	}
	type swapped struct {
		B, A string
		C    []pair
	}
	type retyped struct {
		A string
		B word
		C []pair
	}
	type longer struct {
		A, B string
		C    []pair
		D    bool
	}
	type shorter struct{ A, B string }
	type pair struct { // another of that name
		ID  string
		Sum [2]byte
		N   int16
	}
	type deeper struct {
		A, B string
		C    []pair
	}
	var v first
	state := NewForm[first]("x").Append(nil, &v)
	prints := map[string]string{}
	note := func(name string, print [16]byte) {
		require.NotContains(t, prints, string(print[:]), "%s is like %s", name, prints[string(print[:])])
		prints[string(print[:])] = name
		require.Equal(t, name == "first", string(state[:16]) == string(print[:]), name)
	}
	note("first", NewForm[first]("x").print)
	note("other name", NewForm[first]("y").print)
	note("renamed", NewForm[renamed]("x").print)
	note("swapped", NewForm[swapped]("x").print)
	note("retyped", NewForm[retyped]("x").print)
	note("longer", NewForm[longer]("x").print)
	note("shorter", NewForm[shorter]("x").print)
	note("deeper", NewForm[deeper]("x").print)
	require.ErrorIs(t, NewForm[renamed]("x").Load(&renamed{}, state), ErrUnfit)
	require.NoError(t, NewForm[first]("x").Load(&v, state), "a form is the same each time")
}

// A field that is not saved may come and go.
func TestAFormIsThatOfTheSavedFields(t *testing.T) {
	one := func() [16]byte {
		type s struct {
			A string
			B []byte `state:"-"`
		}
		return NewForm[s]("x").print
	}
	other := func() [16]byte {
		type s struct {
			C map[string]any `state:"-"`
			A string
		}
		return NewForm[s]("x").print
	}
	require.Equal(t, one(), other())
}

func TestWhatCannotBeSaved(t *testing.T) {
	type list struct{ Of []list }
	type tree struct{ By map[string]tree }
	type empty struct{}
	for name, form := range map[string]func(){
		"interface":           func() { NewForm[struct{ a any }]("x") },
		"function":            func() { NewForm[struct{ a *struct{ b func() } }]("x") },
		"channel":             func() { NewForm[struct{ a []chan int }]("x") },
		"float":               func() { NewForm[struct{ a map[string]float64 }]("x") },
		"itself in a slice":   func() { NewForm[list]("x") },
		"itself in a map":     func() { NewForm[struct{ a *tree }]("x") },
		"empty elements":      func() { NewForm[struct{ a []empty }]("x") },
		"nothing to count":    func() { NewForm[struct{ a *empty }]("x") },
		"a key without order": func() { NewForm[struct{ a map[[2]*string]int }]("x") },
	} {
		require.Panics(t, form, name)
	}
}

// A chain of objects is read and written without a stack of its length.
func TestALongChain(t *testing.T) {
	const n = 300_000
	form := NewForm[node]("chain/1")
	var chain node
	for range n {
		chain.next = &node{next: chain.next}
	}
	var got node
	require.NoError(t, form.Load(&got, form.Append(nil, &chain)))
	length := 0
	for at := got.next; at != nil; at = at.next {
		length++
	}
	require.Equal(t, n, length)
}

// allocated is how many bytes f asks for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Multiple of its length, and what is on top, that reading a state may allocate, in bytes.
const (
	multiple = 100
	onTop    = 1 << 20
)

// loads restores what may be damaged.
func loads(t testing.TB, data []byte) error {
	t.Helper()
	var err error
	got := &sample{}
	used := allocated(func() { err = sampleForm.Load(got, data) })
	require.LessOrEqual(t, used, uint64(multiple*len(data)+onTop), "%d bytes of state", len(data))
	if err != nil {
		require.ErrorIs(t, err, ErrUnfit)
		return err
	}
	again := sampleForm.Append(nil, got)
	require.NoError(t, sampleForm.Load(&sample{}, again), "what was read can be saved")
	return nil
}

func TestADamagedState(t *testing.T) {
	state := sampleForm.Append(nil, newSample())
	for n := range state {
		require.ErrorIs(t, sampleForm.Load(&sample{}, state[:n]), ErrUnfit, "cut behind %d bytes", n)
	}
	refused := 0
	for i := range state {
		for bit := range 8 {
			state[i] ^= 1 << bit
			if loads(t, state) != nil {
				refused++
			} else {
				require.GreaterOrEqual(t, i, 16, "the form was damaged")
			}
			state[i] ^= 1 << bit
		}
	}
	require.Greater(t, refused, len(state), "of %d", len(state)*8)
}

// Lengths that promise more than there is are refused before there is room for them.
func TestPromisesAreNotBelieved(t *testing.T) {
	type many struct {
		Objects []*sample
		Texts   []string
		Bytes   []byte
		Table   map[uint64]sample
	}
	form := NewForm[many]("many/1")
	for name, body := range map[string][]byte{
		"elements": binary.AppendUvarint(nil, 1<<40), "elements at all": binary.AppendUvarint(nil, 1<<63),
		"texts": binary.AppendUvarint([]byte{0}, 1<<40), "bytes": binary.AppendUvarint([]byte{0, 0}, 1<<40),
		"entries":       binary.AppendUvarint([]byte{0, 0, 0}, 1<<40),
		"a text":        binary.AppendUvarint([]byte{0, 2}, 1<<41),
		"a number":      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"a text number": {0, 2, 9}, "a pointer": {2, 9, 0, 0, 0},
	} {
		state := append(form.print[:], body...)
		used := allocated(func() { require.ErrorIs(t, form.Load(&many{}, state), ErrUnfit, name) })
		require.Less(t, used, uint64(64<<10), name)
	}
	// Each byte of the first half names a new object: the second half has no room for them.
	names := binary.AppendUvarint(append([]byte(nil), form.print[:]...), 10_001)
	for n := range uint64(10_000) {
		names = binary.AppendUvarint(names, n+2)
	}
	names = append(names, make([]byte, 10_000)...)
	used := allocated(func() { require.ErrorIs(t, form.Load(&many{}, names), ErrUnfit) })
	require.Less(t, used, uint64(multiple*len(names)))
}

func TestOutOfRange(t *testing.T) {
	type small struct {
		B bool
		I int8
		U uint16
		T time.Time
		P *small
		Q *uint64
		M map[uint64]bool
	}
	form := NewForm[small]("small/1")
	good := []byte{0, 0, 0, 0, 0, 0, 0, 0}
	require.NoError(t, form.Load(&small{}, append(form.print[:], good...)))
	for name, body := range map[string][]byte{
		"bool": {2, 0, 0, 0, 0, 0, 0, 0}, "int8": append([]byte{0}, binary.AppendVarint(nil, 128)...),
		"uint16":               append([]byte{0, 0}, binary.AppendUvarint(nil, 1<<16)...),
		"nanoseconds":          append([]byte{0, 0, 0, 0}, binary.AppendUvarint(nil, uint64(time.Second))...),
		"a pointer's type":     {0, 0, 0, 0, 0, 0, 1, 0},
		"a pointer's number":   {0, 0, 0, 0, 0, 3, 0, 0},
		"a key that was there": {0, 0, 0, 0, 0, 0, 0, 3, 5, 0, 5, 1},
		"more than there is":   append(good, 0),
	} {
		require.ErrorIs(t, form.Load(&small{}, append(form.print[:], body...)), ErrUnfit, name)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(sampleForm.Append(nil, newSample())[16:])
	f.Add(sampleForm.Append(nil, &sample{})[16:])
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = loads(t, append(sampleForm.print[:], body...)) // refused or not, it checks what must hold
	})
}

func BenchmarkSave(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			s := newSample()
			for i := range n {
				s.sets[pair{id: fmt.Sprint("a key of some length ", i)}] = true
			}
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = sampleForm.Append(dst[:0], s)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			s := newSample()
			for i := range n {
				s.sets[pair{id: fmt.Sprint("a key of some length ", i)}] = true
			}
			state := sampleForm.Append(nil, s)
			b.SetBytes(int64(len(state)))
			b.ReportAllocs()
			for b.Loop() {
				if err := sampleForm.Load(&sample{}, state); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
