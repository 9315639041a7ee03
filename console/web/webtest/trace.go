package webtest

import (
	"context"
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
	Cat  string  `json:"cat"`
	Ph   string  `json:"ph"`
	Pid  int     `json:"pid"`
	Tid  int     `json:"tid"`
	Dur  float64 `json:"dur"`  // µs
	Tdur float64 `json:"tdur"` // µs of the processor's time
	Args struct {
		Name string `json:"name"`
	} `json:"args"`
}

// Trace collects what the browser's threads do, until the returned function is called: it gives how
// long, in ms of the processor's time, each task of the page's main thread took. A machine that has
// other things to do does not change that.
func (tab *Tab) Trace() (stop func() []float64) {
	tab.t.Helper()
	var mu sync.Mutex
	var spans []span
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(tab.ctx)
	require.NoError(tab.t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *tracing.EventDataCollected:
			mu.Lock()
			defer mu.Unlock()
			for _, v := range e.Value {
				var s span
				if err := jsonv2.Unmarshal(v, &s); err == nil && (s.Name == "RunTask" || s.Name == "thread_name") {
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
	return func() (tasks []float64) {
		tab.t.Helper()
		defer cancel()
		call(tab, tracing.End, cdp.Empty{})
		select {
		case <-done:
		case <-ctx.Done():
			require.NoError(tab.t, ctx.Err(), "trace")
		}
		mu.Lock()
		defer mu.Unlock()
		return mainTasks(spans)
	}
}

// mainTasks are those of the renderer that worked most, in ms.
func mainTasks(spans []span) (tasks []float64) {
	type thread struct{ pid, tid int }
	mains, all := map[thread]bool{}, map[thread][]float64{}
	for _, s := range spans {
		at := thread{s.Pid, s.Tid}
		switch {
		case s.Name == "thread_name" && s.Args.Name == "CrRendererMain":
			mains[at] = true
		case s.Name == "RunTask":
			all[at] = append(all[at], s.Tdur/1000)
		}
	}
	most := 0.0
	for at := range mains {
		sum := 0.0
		for _, ms := range all[at] {
			sum += ms
		}
		if sum > most {
			most, tasks = sum, all[at]
		}
	}
	return tasks
}
