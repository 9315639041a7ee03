package webtest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// canary is what hostile text would like to reach. Whoever touches window.canary is told of on the
// console, and so is what the page's policy blocked.
const canary = `(() => {
	const say = (what) => { console.error("canary: " + what); };
	Object.defineProperty(window, "canary", {
		get() { say("read"); return () => say("called"); },
		set(v) { say("set to " + v); },
	});
	document.addEventListener("securitypolicyviolation", (e) => {
		say("policy " + e.effectiveDirective + " blocked " + e.blockedURI + " " + e.sample);
	});
})();`

// record is what a page did.
type record struct {
	origin string

	mu       sync.Mutex
	problems []string
	requests []string
	allowed  []string      // parts of problems that are expected
	more     chan struct{} // closed at the next problem
}

func newRecord(u *url.URL) *record {
	return &record{origin: originOf(u), more: make(chan struct{})}
}

func originOf(u *url.URL) string {
	if u.Scheme == "file" {
		return "file://" + u.Path
	}
	return u.Scheme + "://" + u.Host
}

// Allow expects problems that hold a text, as where the server is cut off on purpose.
func (r *record) Allow(parts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed = append(r.allowed, parts...)
}

// Problems are what nobody expected up to now.
func (r *record) Problems() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, problem := range r.problems {
		if !slices.ContainsFunc(r.allowed, func(part string) bool { return strings.Contains(problem, part) }) {
			all = append(all, problem)
		}
	}
	return all
}

// hears waits until a problem holds a text.
func (r *record) hears(ctx context.Context, part string) error {
	for {
		r.mu.Lock()
		all, more := slices.Clone(r.problems), r.more
		r.mu.Unlock()
		if slices.ContainsFunc(all, func(problem string) bool { return strings.Contains(problem, part) }) {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("wait for %q: %w; heard %q", part, ctx.Err(), all)
		}
	}
}

// Requests are the addresses that were asked for up to now, in order.
func (r *record) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Forget begins a new account of requests, and of problems that were expected.
func (r *record) Forget() {
	unexpected := r.Problems()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.problems = nil, unexpected
}

// isClean reports whether the page did nothing that a test may fail for, expected or not.
func (r *record) isClean() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.problems) == 0
}

func (r *record) report(t testing.TB) {
	t.Helper()
	for _, problem := range r.Problems() {
		t.Errorf("the page: %s", problem)
	}
}

func (r *record) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
	close(r.more)
	r.more = make(chan struct{})
}

// hear notes an event of the browser.
func (r *record) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert:
			r.problem("console.%s %s", e.Type, spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		r.problem("exception %s", thrown(e.ExceptionDetails))
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			r.problem("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			r.problem("policy %s violated: %s %s", csp.ViolatedDirective, csp.ContentSecurityPolicyViolationType, csp.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		r.request(e.Request.URL)
	case *network.EventWebSocketCreated:
		r.request(e.URL)
	case *page.EventFrameAttached:
		r.problem("a frame inside the page")
	case *page.EventFrameNavigated:
		r.navigated(e.Frame)
	case *page.EventJavascriptDialogOpening:
		r.problem("dialog %q", e.Message)
	case *page.EventWindowOpen:
		r.problem("a window for %s", e.URL)
	}
}

// request notes an address that was asked for, and that it is another's.
func (r *record) request(address string) {
	r.mu.Lock()
	r.requests = append(r.requests, address)
	r.mu.Unlock()
	if u, err := url.Parse(address); err != nil || u.Scheme != "data" && originOf(u) != r.origin {
		r.problem("request to %.200s", address)
	}
}

func (r *record) navigated(f *cdp.Frame) {
	if u, err := url.Parse(f.URL); err != nil || f.URL != "about:blank" && originOf(u) != r.origin {
		r.problem("the page became %.200s", f.URL)
	}
}

func spoken(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		if a.Description != "" {
			words = append(words, a.Description)
		} else {
			words = append(words, string(a.Value))
		}
	}
	return strings.Join(words, " ")
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Text + " " + d.Exception.Description
	}
	return fmt.Sprintf("%s at %s:%d", d.Text, d.URL, d.LineNumber+1)
}
