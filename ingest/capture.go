package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema"
)

// tapName is the tap of captures that do not say theirs.
const tapName = "ingest"

// Capture is one connection that is being recorded. Its methods may be called by several goroutines.
type Capture struct {
	site    Site
	journal *journal.Writer
	turn    chan struct{}        // one token: held by who writes
	begun   map[schema.From]bool // the journal ends in the beginning of a frame of that side
	feed    feed
}

// Open begins a capture at a time, before which no frame of it is: its journal is on the disk when this
// returns. Nothing is started: Run must follow. The identity's attempt counts from 1, and 0 is 1; if
// somebody else's capture has the identity, the next free attempt is taken, which Stored tells. about is
// what readers are told of the capture, and what steers its translation: Protocol must be ACP, whose
// connections are captures; an exchange of A2A belongs to whichever conversation it names, and only
// steno's proxy files those.
func (s Site) Open(id schema.Identity, at time.Time, about schema.OpenInfo) (*Capture, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("open capture %s: %w", id, err)
	}
	if about.Protocol != schema.ACP {
		return nil, fmt.Errorf("open capture %s: protocol %q: want %q", id, about.Protocol, schema.ACP)
	}
	if about.Tap == "" {
		about.Tap = tapName
	}
	if id.Attempt == 0 {
		id.Attempt = 1
	}
	w, err := journal.Create(journal.Options{
		Dir: s.Dir, Head: journal.Head{Identity: id, Open: about, Destination: s.Destination, CreatedAt: at},
		Max: s.Max, WhenFull: s.WhenFull, Report: s.Report,
	})
	if err != nil {
		return nil, fmt.Errorf("open capture %s: %w", id, err)
	}
	return &Capture{site: s, journal: w, turn: make(chan struct{}, 1), begun: map[schema.From]bool{}}, nil
}

// Journal is the capture's file.
func (c *Capture) Journal() string { return c.journal.Path() }

// Write keeps one frame that came from the client, the agent, or the agent's stderr: a line as it was
// sent, of up to MaxFrame bytes, without its line feed, which must not be in it. What is no JSON-RPC is a
// frame, too. at is when its last byte came; a time before the frame's before counts as that one's. Nothing
// of frame is kept in memory.
//
// The frame stands in the journal when this returns nil, behind all frames whose Write returned before.
// The error wraps ErrFrame, journal.ErrClosed, or, where there is no room until ctx ends, journal.ErrFull
// or journal.ErrDiskFull; after a failed write of the disk every later one fails as well. What was kept of
// a frame longer than journal.MaxData when it failed is a frame of its own.
func (c *Capture) Write(ctx context.Context, from schema.From, at time.Time, frame []byte) error {
	if err := check(from, frame); err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("write frame of %d bytes from %s: %w", len(frame), from, context.Cause(ctx))
	}
	defer func() { <-c.turn }()
	line := make([]byte, 0, len(frame)+2)
	if c.begun[from] {
		line = append(line, '\n')
	}
	line = append(append(line, frame...), '\n')
	for rest := line; len(rest) > 0; {
		n := min(len(rest), journal.MaxData)
		if err := c.journal.Append(ctx, from, at, rest[:n]); err != nil {
			return fmt.Errorf("write frame of %d bytes from %s: %w", len(frame), from, err)
		}
		rest = rest[n:]
		c.begun[from] = len(rest) > 0
	}
	return nil
}

func check(from schema.From, frame []byte) error {
	switch {
	case from != schema.FromClient && from != schema.FromAgent && from != schema.FromStderr:
		return fmt.Errorf("write frame from %q: %w: want %s, %s or %s", from, ErrFrame, schema.FromClient, schema.FromAgent, schema.FromStderr)
	case len(frame) > MaxFrame:
		return fmt.Errorf("write frame of %d bytes from %s: %w: at most %d bytes", len(frame), from, ErrFrame, MaxFrame)
	case bytes.IndexByte(frame, '\n') >= 0:
		return fmt.Errorf("write frame of %d bytes from %s: %w: a line feed at byte %d", len(frame), from, ErrFrame, bytes.IndexByte(frame, '\n'))
	}
	return nil
}

// Close ends the capture: how stands in its last frame, and no frame is taken any more. An empty reason is
// schema.ReasonEOF. It waits for a Write that waits for room. What is not published yet, Run still publishes,
// and then ends. A second Close does nothing; without one, whoever publishes the journal when the program is
// gone says so in its stead.
func (c *Capture) Close(at time.Time, how schema.CloseInfo) error {
	if how.Exchange != "" {
		return fmt.Errorf("close capture %s: it is no exchange", c.journal.Head().Identity)
	}
	if how.Reason == "" {
		how.Reason = schema.ReasonEOF
	}
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	err := c.journal.Control(context.Background(), schema.TypeClose, at, how)
	if errors.Is(err, journal.ErrClosed) {
		return nil
	}
	if err = errors.Join(err, c.journal.Close()); err != nil {
		return fmt.Errorf("close capture %s: %w", c.journal.Head().Identity, err)
	}
	return nil
}
