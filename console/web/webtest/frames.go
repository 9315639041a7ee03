package webtest

import (
	"fmt"
	"slices"
	"time"
)

// Frames says how evenly a page drew while something happened.
type Frames struct {
	Gaps  []float64 // ms between one frame and the next
	Tasks []float64 // ms of each task of the page's that took 50 or more
	Took  time.Duration
}

// Frames has the tab's frames watched while something happens.
func (tab *Tab) Frames(happens func()) Frames {
	tab.t.Helper()
	tab.Do(`(() => {
		const w = window.watched = { gaps: [], tasks: [], on: true };
		w.observer = new PerformanceObserver((list) => { for (const e of list.getEntries()) w.tasks.push(e.duration); });
		w.observer.observe({ type: "longtask" });
		let last = 0;
		const frame = (now) => {
			if (last) w.gaps.push(now - last);
			last = now;
			if (w.on) requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	})()`)
	began := time.Now()
	happens()
	took := time.Since(began)
	f := Eval[Frames](tab, `new Promise((tell) => {
		const w = window.watched;
		requestAnimationFrame(() => setTimeout(() => {
			w.on = false;
			for (const e of w.observer.takeRecords()) w.tasks.push(e.duration);
			w.observer.disconnect();
			tell({ Gaps: w.gaps, Tasks: w.tasks });
		}));
	})`)
	f.Took = took
	return f
}

// Above counts the gaps of more than so many milliseconds.
func (f Frames) Above(ms float64) (n int) {
	for _, gap := range f.Gaps {
		if gap > ms {
			n++
		}
	}
	return n
}

// At is the gap below which a share of all lie.
func (f Frames) At(share float64) float64 {
	if len(f.Gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Gaps))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// String says it in a line.
func (f Frames) String() string {
	longest := 0.0
	if len(f.Tasks) > 0 {
		longest = slices.Max(f.Tasks)
	}
	return fmt.Sprintf("%d frames in %.1f s: p50 %.1f ms, p99 %.1f ms, at most %.1f ms, %d above 50 ms; %d long tasks, at most %.0f ms",
		len(f.Gaps), f.Took.Seconds(), f.At(0.5), f.At(0.99), f.At(1), f.Above(50), len(f.Tasks), longest)
}
