package webtest

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// span is an event of a trace.
type span struct {
	Name string  `json:"name"`
	Ph   string  `json:"ph"`
	Pid  int     `json:"pid"`
	Tid  int     `json:"tid"`
	Ts   float64 `json:"ts"`   // µs
	Dur  float64 `json:"dur"`  // µs
	Tdur float64 `json:"tdur"` // µs of the processor's time
	Args struct {
		Name string `json:"name"`
		Data struct {
			Function string `json:"functionName"`
			URL      string `json:"url"`
		} `json:"data"`
	} `json:"args"`
}

// Work is what the page's main thread had to do, in ms of the processor's time: whatever else the machine
// does is not in it.
type Work struct {
	Tasks []float64 // of each task of 1 ms or more
	Slow  []string  // what was done in the longest ones
}

const (
	slowTask = 25_000 // µs of the processor's time from which on Slow says what a task did
	slowPart = 3_000  // µs of a part of it that is named
	slowMost = 8
)

// Work has the browser trace what its threads do while something happens. That takes time itself: frames
// are watched without it.
func (tab *Tab) Work(happens func()) Work {
	tab.t.Helper()
	var mu sync.Mutex
	var spans []span
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(tab.ctx)
	defer cancel()
	require.NoError(tab.t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range e.Value {
				var s span
				if err := jsonv2.Unmarshal(v, &s); err == nil && (s.Name == "thread_name" || s.Ph == "X" && s.Dur >= 1000) {
					spans = append(spans, s)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	}))
	call(tab, tracing.Start, tracing.StartParams{
		TransferMode: tracing.StartTransferModeReportEvents,
		TraceConfig:  &tracing.TraceConfig{IncludedCategories: []string{"disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel"}},
	})
	happens()
	call(tab, tracing.End, cdp.Empty{})
	select {
	case <-done:
	case <-ctx.Done():
		require.NoError(tab.t, ctx.Err(), "trace")
	}
	mu.Lock()
	defer mu.Unlock()
	return workOf(spans)
}

// workOf reads a trace: that of the renderer's main thread that worked most.
func workOf(spans []span) (w Work) {
	type thread struct{ pid, tid int }
	mains, all := map[thread]bool{}, map[thread][]span{}
	for _, s := range spans {
		at := thread{s.Pid, s.Tid}
		if s.Name == "thread_name" {
			mains[at] = mains[at] || s.Args.Name == "CrRendererMain"
		} else {
			all[at] = append(all[at], s)
		}
	}
	var busiest []span
	most := 0.0
	for at := range mains {
		sum := 0.0
		for _, s := range all[at] {
			if s.Name == "RunTask" {
				sum += s.Tdur
			}
		}
		if mains[at] && sum > most {
			most, busiest = sum, all[at]
		}
	}
	var slow []span
	for _, s := range busiest {
		if s.Name == "RunTask" && s.Tdur >= 1000 {
			w.Tasks = append(w.Tasks, s.Tdur/1000)
			if s.Tdur >= slowTask {
				slow = append(slow, s)
			}
		}
	}
	slices.SortFunc(slow, func(a, b span) int { return cmp.Compare(b.Tdur, a.Tdur) })
	for _, task := range slow[:min(len(slow), slowMost)] {
		w.Slow = append(w.Slow, describe(task, busiest))
	}
	return w
}

// describe says what a task did, by the parts that took long.
func describe(task span, all []span) string {
	parts := []string{fmt.Sprintf("%.0f ms:", task.Tdur/1000)}
	for _, s := range all {
		if s.Name == "RunTask" || s.Ts < task.Ts || s.Ts+s.Dur > task.Ts+task.Dur || s.Dur < slowPart {
			continue
		}
		what := s.Name
		if d := s.Args.Data; d.URL != "" || d.Function != "" {
			what += " " + strings.TrimSpace(d.Function+" "+path.Base(d.URL))
		}
		parts = append(parts, fmt.Sprintf("%s %.0f", what, s.Dur/1000))
	}
	return strings.Join(parts, " ")
}

// String says it in a line, and one for each long task.
func (w Work) String() string {
	return strings.Join(append([]string{fmt.Sprintf("%d tasks by the processor's time: %s", len(w.Tasks), spread(w.Tasks))}, w.Slow...), "\n\t")
}
