package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// heldLines bounds what is held back: the last ones.
const heldLines = 200

// heldBack writes to an error output, but holds it back while a screen is shown there.
type heldBack struct {
	to io.Writer

	mu      sync.Mutex
	holding bool
	held    [][]byte
	left    int // lines that were left out
}

// hold holds back what is written from now on.
func (h *heldBack) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = true
}

// Write implements io.Writer.
func (h *heldBack) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.holding:
		return h.to.Write(p)
	case len(h.held) == heldLines:
		h.held, h.left = append(h.held[1:], bytes.Clone(p)), h.left+1
	default:
		h.held = append(h.held, bytes.Clone(p))
	}
	return len(p), nil
}

// release writes what was held back.
func (h *heldBack) release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = false
	if h.left > 0 {
		if _, err := fmt.Fprintf(h.to, "steno: warning: %d lines before these were left out\n", h.left); err != nil {
			return fmt.Errorf("write what was held back: %w", err)
		}
	}
	for _, line := range h.held {
		if _, err := h.to.Write(line); err != nil {
			return fmt.Errorf("write what was held back: %w", err)
		}
	}
	h.held, h.left = nil, 0
	return nil
}
