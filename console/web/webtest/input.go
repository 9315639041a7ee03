package webtest

import (
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Names of keys that are no characters.
const (
	Enter     = kb.Enter
	Escape    = kb.Escape
	TabKey    = kb.Tab
	Space     = " "
	Left      = kb.ArrowLeft
	Right     = kb.ArrowRight
	Up        = kb.ArrowUp
	Down      = kb.ArrowDown
	Home      = kb.Home
	End       = kb.End
	PageUp    = kb.PageUp
	PageDown  = kb.PageDown
	Backspace = kb.Backspace
)

// Press presses keys, one after the other, where the focus is.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do(fmt.Sprintf("press %q", keys), chromedp.KeyEvent(keys))
}

// PressSlowly presses Enter, and does something before the browser makes a character of the key.
func (tab *Tab) PressSlowly(meanwhile func()) {
	tab.t.Helper()
	for i, e := range kb.Encode('\r') {
		if i == 1 {
			meanwhile()
		}
		call(tab, input.DispatchKeyEvent, *e)
	}
}

// PressShift presses a key together with Shift.
func (tab *Tab) PressShift(key string) {
	tab.t.Helper()
	tab.do(fmt.Sprintf("press Shift and %q", key), chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierShift)))
}

// Click clicks into the middle of an element, which must be there and lie in the open.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	x, y := tab.middle(selector)
	tab.do("click "+selector, chromedp.MouseClickXY(x, y))
}

// middle scrolls an element into the view and gives its middle.
func (tab *Tab) middle(selector string) (x, y float64) {
	tab.t.Helper()
	at := Eval[[]float64](tab, fmt.Sprintf(`(() => {
		const e = document.querySelector(%[1]s);
		if (!e) return [];
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const r = e.getClientRects()[0];
		if (!r) return [];
		const x = r.x + r.width / 2, y = r.y + r.height / 2;
		const over = document.elementFromPoint(x, y);
		return over && (e.contains(over) || over.contains(e)) ? [x, y] : [];
	})()`, Quote(selector)))
	require.Len(tab.t, at, 2, "%s cannot be clicked", selector)
	return at[0], at[1]
}

// wheel is what the browser is told of a turn of the wheel; it wants zeros, too.
type wheel struct {
	Type   input.DispatchMouseEventType `json:"type"`
	X      float64                      `json:"x"`
	Y      float64                      `json:"y"`
	DeltaX float64                      `json:"deltaX"`
	DeltaY float64                      `json:"deltaY"`
}

var turn = cdp.Command[wheel, cdp.Empty]{Method: input.CommandDispatchMouseEvent}

// Wheel turns the wheel over the middle of the page by so many pixels down, and waits for the next frame.
func (tab *Tab) Wheel(down float64) {
	tab.t.Helper()
	call(tab, turn, wheel{Type: input.DispatchMouseEventTypeMouseWheel, X: 700, Y: 450, DeltaY: down})
	tab.Do("new Promise((tell) => requestAnimationFrame(tell))")
}
