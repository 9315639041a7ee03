package consoletest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// Binary is what a test binary's tests share is made for: it ends with all of them. TestMain has its End.
type Binary struct {
	testing.TB // no test: what is not below panics

	mu     sync.Mutex
	ends   []func()
	failed bool
}

// Helper does nothing.
func (b *Binary) Helper() {}

// Name says that it is no test.
func (b *Binary) Name() string { return "shared" }

// Context is never done.
func (b *Binary) Context() context.Context { return context.Background() }

// Cleanup has something done at the end, the last one first.
func (b *Binary) Cleanup(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends = append(b.ends, f)
}

// TempDir makes a directory that is removed at the end.
func (b *Binary) TempDir() string {
	dir, err := os.MkdirTemp("", "shared")
	if err != nil {
		b.Errorf("make a directory: %v", err)
		b.FailNow()
	}
	b.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			b.Errorf("remove what tests shared: %v", err)
		}
	})
	return dir
}

// Errorf says what went wrong, for which End fails.
func (b *Binary) Errorf(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = true
	fmt.Fprintf(os.Stderr, "shared: "+format+"\n", args...)
}

// FailNow ends the binary: without what they share its tests are nothing.
func (b *Binary) FailNow() { panic("what the tests share cannot be had") }

// End ends what was made, and gives the exit code: that of the tests, unless something else failed.
func (b *Binary) End(code int) int {
	b.mu.Lock()
	ends := b.ends
	b.ends = nil
	b.mu.Unlock()
	for _, end := range slices.Backward(ends) {
		end()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed {
		return max(code, 1)
	}
	return code
}
