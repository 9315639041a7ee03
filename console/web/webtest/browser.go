package webtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var errNoBrowser = errors.New("find Chromium: no chromium, chromium-browser or google-chrome in $PATH; these tests need a real browser " +
	"(Debian: apt-get install -y --no-install-recommends chromium; ./.ci/programs install chromium does it)")

// executable finds the browser.
func executable() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

// stopWithin is how long the browser may take to end; then it is killed.
const stopWithin = 20 * time.Second

// browser is a running Chromium in a directory of its own.
type browser struct {
	ctx    context.Context
	cancel context.CancelFunc
	free   context.CancelFunc // of the allocator, which removes the directory
	rest   *httptest.Server   // an empty page, for tabs that no test has

	mu      sync.Mutex
	resting []window
}

// window is a tab as the browser has it.
type window struct {
	ctx   context.Context
	close context.CancelFunc
}

// newBrowser starts one that reaches loopback only. It has no sandbox where the tests run as root, who
// cannot have one.
func newBrowser() (*browser, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("process-per-site", true),         // pages of all tests are of one site: a process takes longer to start than most of them
		chromedp.Flag("disable-smooth-scrolling", true), // a turn of the wheel is over when it was made
		chromedp.Flag("hide-scrollbars", false),         // a page that scrolls sideways shows it
		chromedp.WindowSize(1440, 900),
	)
	b := &browser{rest: httptest.NewServer(http.HandlerFunc(rest))}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	b.free = free
	b.ctx, b.cancel = chromedp.NewContext(allocator)
	if err := chromedp.Do(b.ctx); err != nil {
		b.cancel()
		b.free()
		b.rest.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

func rest(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><link rel=icon href=data:,><title>rest</title>") // whoever asks sees that it failed
}

// take gives a tab that rests, or a new one.
func (b *browser) take(t testing.TB) window {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.resting); n > 0 {
		w := b.resting[n-1]
		b.resting = b.resting[:n-1]
		return w
	}
	var w window
	w.ctx, w.close = chromedp.NewContext(b.ctx, chromedp.WithNewWindow(false))
	if err := w.prepare(); err != nil {
		w.close()
		t.Fatalf("open a tab: %v", err)
	}
	return w
}

// give has a tab rest until another test takes it: what its page still did ends. One that cannot is closed.
func (b *browser) give(w window) {
	ctx, cancel := context.WithTimeout(w.ctx, within)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Navigate(b.rest.URL))
	if err == nil {
		_, err = chromedp.Call(ctx, page.ResetNavigationHistory, cdp.Empty{})
	}
	if err != nil {
		w.close()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resting = append(b.resting, w)
}

// prepare has the browser tell what pages in the tab do.
func (w window) prepare() error {
	if err := chromedp.Do(w.ctx); err != nil { // not within a time: the tab would end with it
		return err
	}
	ctx, cancel := context.WithTimeout(w.ctx, within)
	defer cancel()
	for _, step := range []func() error{
		enabling(ctx, network.Enable, network.EnableParams{}),
		enabling(ctx, cdplog.Enable, cdp.Empty{}),
		enabling(ctx, audits.Enable, cdp.Empty{}),
		enabling(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}),
		enabling(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: canary}),
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func enabling[P, R any](ctx context.Context, command cdp.Command[P, R], p P) func() error {
	return func() error {
		_, err := chromedp.Call(ctx, command, p)
		return err
	}
}

// stop ends the browser and all that belongs to it, and waits for that.
func (b *browser) stop() error {
	ctx, cancel := context.WithTimeout(b.ctx, stopWithin)
	defer cancel()
	err := chromedp.Cancel(ctx)
	b.free()
	b.rest.Close()
	if err != nil {
		return fmt.Errorf("stop Chromium: %w", err)
	}
	return nil
}
