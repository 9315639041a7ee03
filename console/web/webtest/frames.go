package webtest

import (
	"fmt"
	"slices"
	"strings"
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

// above counts what is more than so many milliseconds.
func above(all []float64, ms float64) (n int) {
	for _, v := range all {
		if v > ms {
			n++
		}
	}
	return n
}

// at is what a share of all lie below.
func at(all []float64, share float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// spread says how some times are spread.
func spread(all []float64) string {
	return fmt.Sprintf("p50 %.1f, p99 %.1f, at most %.1f ms, %d above 50 ms", at(all, 0.5), at(all, 0.99), at(all, 1), above(all, 50))
}

// late says when the frames came that had more than 50 ms before them.
func late(gaps []float64) string {
	var out strings.Builder
	at := 0.0
	for _, gap := range gaps {
		if at += gap; gap > 50 {
			fmt.Fprintf(&out, ", %.0f at %.2f s", gap, at/1000)
		}
	}
	return out.String()
}

// String says it in a line.
func (f Frames) String() string {
	return fmt.Sprintf("%d frames in %.1f s, one from the next %s; %d long tasks%s",
		len(f.Gaps), f.Took.Seconds(), spread(f.Gaps), len(f.Tasks), late(f.Gaps))
}
