package holder

import (
	"context"
	"sync"
	"time"
)

// keepAnswers is how long an answer waits for its asker to ask again.
const keepAnswers = time.Minute

// jobs are the requests being worked on, by their id: one that is asked again finds what was done of
// it.
type jobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup // of all work, answers included

	mu sync.Mutex
	by map[string]*job
}

type job struct {
	done  chan struct{}
	reply reply // once done
	asked time.Time
}

func newJobs(ctx context.Context) *jobs {
	ctx, cancel := context.WithCancel(ctx)
	return &jobs{ctx: ctx, cancel: cancel, by: map[string]*job{}}
}

// stop ends all work and waits for it.
func (j *jobs) stop() {
	j.cancel()
	j.group.Wait()
}

// step gives the answer to a request, or "not yet" after a while. The first step begins the work.
func (j *jobs) step(id string, work func(context.Context) reply) reply {
	one := j.begin(id, work)
	timer := time.NewTimer(answerStep)
	defer timer.Stop()
	select {
	case <-one.done:
		j.mu.Lock()
		defer j.mu.Unlock()
		if one.reply.Error == errAgain { // it begins anew
			delete(j.by, id)
		}
		return one.reply
	case <-j.ctx.Done():
	case <-timer.C:
	}
	return reply{Error: errAgain}
}

func (j *jobs) begin(id string, work func(context.Context) reply) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	for other, one := range j.by { // askers that went away, or have their answer
		select {
		case <-one.done:
			if now.Sub(one.asked) > keepAnswers {
				delete(j.by, other)
			}
		default:
		}
	}
	one := j.by[id]
	if one == nil {
		one = &job{done: make(chan struct{})}
		j.by[id] = one
		j.group.Go(func() {
			defer close(one.done)
			one.reply = work(j.ctx)
		})
	}
	one.asked = now
	return one
}
