package tui

import (
	"context"
	"sync"
	"time"
)

// tempo is the clock of a replay: the time of the recording, which passes at a speed, and stands still.
type tempo struct {
	mu     sync.Mutex
	at     time.Time // of the recording, when
	since  time.Time // it was read
	speed  float64
	paused bool
	idle   time.Duration // the longest wait; 0 = no limit
	due    time.Time     // what is waited for; zero = nothing
	goal   time.Time     // what is sought, and not reached yet; zero = nothing
	change chan struct{} // closed by each change
}

func newTempo() *tempo { return &tempo{speed: 1, since: time.Now(), change: make(chan struct{})} }

// Now implements replay.Clock.
func (c *tempo) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// here is the time that is sought, or Now.
func (c *tempo) here() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.goal.IsZero() {
		return c.goal
	}
	return c.now()
}

// sought says that a time is sought: until it is reached, the clock goes on as it did.
func (c *tempo) sought(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goal = at
}

// reached says that a time is not sought any more.
func (c *tempo) reached(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goal.Equal(at) {
		c.goal = time.Time{}
	}
}

func (c *tempo) now() time.Time {
	if c.paused {
		return c.at
	}
	now := c.at.Add(time.Duration(float64(time.Since(c.since)) * c.speed))
	if !c.due.IsZero() && now.After(c.due) {
		return c.due
	}
	return now
}

// alter changes the clock, and wakes who waits by it.
func (c *tempo) alter(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.since = c.now(), time.Now()
	how()
	close(c.change)
	c.change = make(chan struct{})
}

// set puts the clock to a time.
func (c *tempo) set(at time.Time) { c.alter(func() { c.at = at }) }

// step lets what is waited for come.
func (c *tempo) step() {
	c.alter(func() {
		if !c.due.IsZero() {
			c.at = c.due
		}
	})
}

// WaitUntil implements replay.Clock. No wait is longer than the idle limit.
func (c *tempo) WaitUntil(ctx context.Context, at time.Time) error {
	began := time.Now()
	defer c.wait(time.Time{})
	for ctx.Err() == nil {
		left, changed := c.wait(at)
		if left == 0 {
			return nil
		}
		timer := time.NewTimer(max(left, 0))
		if left < 0 { // it stands still
			timer.Stop()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
		c.skip(at, began)
	}
	return ctx.Err()
}

// wait says for how long to wait for a time: 0 = it is there, below 0 = until something changes.
func (c *tempo) wait(at time.Time) (left time.Duration, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.due = at
	switch {
	case at.IsZero():
		c.at, c.since = now, time.Now()
		return 0, nil
	case !at.After(now):
		return 0, nil
	case c.paused:
		return -1, c.change
	}
	left = max(1, time.Duration(float64(at.Sub(now))/c.speed))
	if c.idle > 0 {
		left = min(left, c.idle)
	}
	return left, c.change
}

// skip goes on at a time once it was waited for as long as is allowed.
func (c *tempo) skip(at, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused && c.idle > 0 && time.Since(began) >= c.idle && at.After(c.now()) {
		c.at, c.since = at, time.Now()
	}
}
