package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// call sends the tab a command of the browser's protocol.
func call[P, R any](tab *Tab, command cdp.Command[P, R], p P) R {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	r, err := chromedp.Call(ctx, command, p)
	if err != nil {
		tab.t.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// Eval gives the value of an expression in the page; a promise's, once it is kept.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, 2*within)
	defer cancel()
	v, err := evaluate[T](ctx, expression)
	if err != nil {
		tab.t.Fatalf("evaluate %.300s: %v", expression, err)
	}
	return v
}

func evaluate[T any](ctx context.Context, expression string) (T, error) {
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Do evaluates an expression for what it does.
func (tab *Tab) Do(expression string) {
	tab.t.Helper()
	Eval[chromedp.Void](tab, expression)
}

// Await waits until an expression is true in the page, over navigations, looking before each frame. It
// fails the test with what the page shows where it does not come to that.
func (tab *Tab) Await(expression string, args ...any) {
	tab.t.Helper()
	if len(args) > 0 {
		expression = fmt.Sprintf(expression, args...)
	}
	ctx, cancel := context.WithTimeout(tab.ctx, within+within/2)
	defer cancel()
	for {
		came, err := evaluate[bool](ctx, fmt.Sprintf(awaiting, within.Milliseconds(), expression))
		switch {
		case err == nil && came:
			return
		case err == nil:
			tab.fail("never came: %s", expression)
		case ctx.Err() != nil, isException(err):
			tab.fail("await %s: %v", expression, err)
		}
		// The page was left while it was looked at: look at the next one.
	}
}

func isException(err error) bool {
	var exception *chromedp.ExceptionError
	return errors.As(err, &exception)
}

// awaiting looks again before each frame, and now and then where no frame comes.
const awaiting = `new Promise((tell, refuse) => {
	const end = performance.now() + %d;
	const look = () => {
		try {
			const seen = (%s);
			if (seen instanceof Promise) return refuse(new TypeError("a promise is always true: use Do"));
			if (seen) return tell(true);
		} catch (e) {
			return refuse(e);
		}
		if (performance.now() > end) return tell(false);
		let due = true;
		const once = () => { if (due) { due = false; look(); } };
		requestAnimationFrame(once);
		setTimeout(once, 100);
	};
	look();
})`

// settling gives the page two turns and two frames for what it has still to do.
const settling = `new Promise((tell) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(tell)))))`

// Quiet waits until what the page does last is heard, such as a load that fails: events come in their order.
func (tab *Tab) Quiet() {
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	_, _ = evaluate[chromedp.Void](ctx, settling) // a page that has failed, or was left, has nothing more to tell
}

// Problems are what the page did up to now that was not allowed.
func (tab *Tab) Problems() []string {
	tab.Quiet()
	return tab.record.Problems()
}

// fail ends the test with what the page shows.
func (tab *Tab) fail(format string, args ...any) {
	tab.t.Helper()
	text := ""
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	if s, err := evaluate[string](ctx, `location.href + "\n" + document.body.innerText.slice(0, 3000)`); err == nil {
		text = s
	}
	tab.t.Fatalf("%s\nthe page is kept as %s and shows %s", fmt.Sprintf(format, args...), tab.picture("failed"), text)
}

// Count is how many elements a selector has in the page.
func (tab *Tab) Count(selector string) int {
	tab.t.Helper()
	return Eval[int](tab, fmt.Sprintf("document.querySelectorAll(%s).length", Quote(selector)))
}

// Text is what an element shows, which must be there: its text as it is laid out.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return Eval[string](tab, fmt.Sprintf("document.querySelector(%s).innerText", Quote(selector)))
}

// Shows waits until an element that a selector names shows a text.
func (tab *Tab) Shows(selector, text string) {
	tab.t.Helper()
	tab.Await("[...document.querySelectorAll(%s)].some((e) => e.innerText.includes(%s))", Quote(selector), Quote(text))
}

// There waits until an element is.
func (tab *Tab) There(selector string) {
	tab.t.Helper()
	tab.Await("document.querySelector(%s)", Quote(selector))
}

// Gone waits until an element is not.
func (tab *Tab) Gone(selector string) {
	tab.t.Helper()
	tab.Await("!document.querySelector(%s)", Quote(selector))
}

// Quote writes a text as JavaScript's.
func Quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(quoted)
}
