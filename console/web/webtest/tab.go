package webtest

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Tab is a page of a test. It is used by the test's goroutine; the tab that was opened last is the one in
// sight.
type Tab struct {
	t   testing.TB
	ctx context.Context
	*record
	shots int
}

// Open opens an address in a tab of 1440 by 900 pixels, in light colours, that has seen nothing of it before.
// The tab is the test's until its end, which then fails for whatever the page did that was not allowed.
func Open(t testing.TB, address string) *Tab {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	b := start(t)
	w := b.take(t)
	ctx, cancel := context.WithCancel(w.ctx)
	tab := &Tab{t: t, ctx: ctx, record: newRecord(u)}
	t.Cleanup(func() {
		tab.Quiet()
		tab.report(t)
		cancel()
		if tab.isClean() {
			b.give(w)
		} else { // who knows what else the page left behind
			w.close()
		}
	})
	require.NoError(t, chromedp.Listen(ctx, tab.hear), "open a tab")
	call(tab, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: tab.origin, StorageTypes: "all"}) // of an earlier server at the address
	call(tab, page.BringToFront, cdp.Empty{})
	tab.Size(1440, 900)
	tab.Scheme("light")
	tab.Go(address)
	return tab
}

// Go navigates as the address bar does, and waits until the page is loaded.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.do(fmt.Sprintf("open %s", address), chromedp.Navigate(address))
}

// Reload loads the page again, and waits until it is.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.do("reload", chromedp.Reload())
}

// Back goes back in the tab's history, within the page or to the one before.
func (tab *Tab) Back() {
	tab.t.Helper()
	tab.Do("history.back()")
}

// Size gives the page so many CSS pixels.
func (tab *Tab) Size(width, height int64) {
	tab.t.Helper()
	tab.do("set the size", chromedp.EmulateViewport(width, height))
}

// Scheme has the system prefer "light" or "dark".
func (tab *Tab) Scheme(name string) {
	tab.t.Helper()
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// Hears waits until the page has done something that holds a text, of which a test fails unless it is
// allowed.
func (tab *Tab) Hears(part string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	require.NoError(tab.t, tab.hears(ctx, part))
}

// do does something within bounds.
func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	require.NoError(tab.t, chromedp.Do(ctx, steps...), what)
}
