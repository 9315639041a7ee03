package webtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

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
		chromedp.Flag("disable-smooth-scrolling", true), // a turn of the wheel is over when it was made
		chromedp.Flag("hide-scrollbars", false),         // a page that scrolls sideways shows it
		chromedp.WindowSize(1440, 900),
	)
	b := &browser{}
	allocator, free := chromedp.NewExecAllocator(context.Background(), options...)
	b.free = free
	b.ctx, b.cancel = chromedp.NewContext(allocator)
	if err := chromedp.Do(b.ctx); err != nil {
		b.cancel()
		b.free()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// stop ends the browser and all that belongs to it, and waits for that.
func (b *browser) stop() error {
	ctx, cancel := context.WithTimeout(b.ctx, stopWithin)
	defer cancel()
	err := chromedp.Cancel(ctx)
	b.free()
	if err != nil {
		return fmt.Errorf("stop Chromium: %w", err)
	}
	return nil
}
