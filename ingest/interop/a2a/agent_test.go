package interop

import (
	"errors"
	"strings"
	"time"
)

// agent does what it is ordered to, one word an order; it is the same whichever SDK carries it.
type agent struct {
	over   <-chan struct{} // closed when its server ends
	resume chan struct{}   // a task that is held goes on with each value
	alive  bool            // its streams are kept alive: a slow task goes on once that was seen
	spread *spread
}

// voice is how an agent speaks through an SDK. False says that nobody listens any more.
type voice interface {
	id() string
	task() bool
	status(state, text string) bool
	chunk(text string, last bool) bool
	things() bool
	message(text string) bool
	wait(until <-chan struct{}) bool
}

// The states of a task, in the words of v0.3.
const (
	working       = "working"
	completed     = "completed"
	failed        = "failed"
	rejected      = "rejected"
	canceled      = "canceled"
	inputRequired = "input-required"
	authRequired  = "auth-required"
)

var errBoom = errors.New("the agent has thrown")

// answer holds what the answer is made of, as it is streamed.
var answer = []string{"Seven <b>open</b> orders", " in", " Łódź", "."}

// pause is how long a slow agent thinks where nobody sees whether it lives.
const pause = 50 * time.Millisecond

// perform carries out one order. The error is one that the agent throws.
func (a *agent) perform(says voice, text string, known bool) error {
	order := strings.TrimPrefix(text, "orders ")
	if order == "message-only" {
		says.message("Only a message.")
		return nil
	}
	if !known && order != "no-task-first" && !says.task() {
		return nil
	}
	if order == "boom" {
		// Thrown any sooner, it would be chance whether the client still hears of the task.
		if says.wait(a.spread.of(says.id())) {
			return errBoom
		}
		return nil
	}
	if !says.status(working, "Looking at the order list") {
		return nil
	}
	switch order {
	case "auth":
		if says.status(authRequired, "Sign in first") {
			says.wait(a.over) // the task stays open, and so does its stream
		}
		return nil
	case "input":
		says.status(inputRequired, "Which branch?")
		return nil
	case "reject":
		says.status(rejected, "Out of scope")
		return nil
	case "fail":
		says.status(failed, "Upstream said no")
		return nil
	case "slow":
		if !says.wait(a.rested()) {
			return nil
		}
	}
	for i, text := range answer {
		if !says.chunk(text, i == len(answer)-1) {
			return nil
		}
		if order == "hold" && i == 0 && !says.wait(a.resume) {
			return nil
		}
	}
	if says.things() {
		says.status(completed, "")
	}
	return nil
}

func (a *agent) rested() <-chan struct{} {
	if a.alive {
		return a.resume
	}
	c := make(chan struct{})
	time.AfterFunc(pause, func() { close(c) })
	return c
}
