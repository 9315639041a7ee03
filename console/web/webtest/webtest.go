// Package webtest opens pages in a real Chromium, as a test's user does: one headless browser for a test
// binary, started when the first test asks for it, and a tab for each test. A tab keeps account of what
// the page did, and its test fails for what nobody expected: errors, blocked loads, requests elsewhere.
package webtest

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// within bounds each wait for the browser and the page.
const within = 30 * time.Second

// shared is the test binary's browser.
var shared struct {
	once    sync.Once
	browser *browser
	err     error
}

// Main runs a binary's tests, then ends its browser and waits for it; it gives the exit code. TestMain calls it.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.browser != nil {
		if err := shared.browser.stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
	}
	return code
}

func start(t testing.TB) *browser {
	t.Helper()
	shared.once.Do(func() { shared.browser, shared.err = newBrowser() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.browser
}
