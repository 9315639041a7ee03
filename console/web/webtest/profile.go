package webtest

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/profiler"
)

// Profile samples what the page's scripts do while something happens, and gives the functions in which
// they were most often, with their shares of the time in which any was.
func (tab *Tab) Profile(happens func()) (functions []string) {
	tab.t.Helper()
	call(tab, profiler.Enable, cdp.Empty{})
	call(tab, profiler.SetSamplingInterval, profiler.SetSamplingIntervalParams{Interval: 500})
	call(tab, profiler.Start, cdp.Empty{})
	happens()
	p := call(tab, profiler.Stop, cdp.Empty{}).Profile
	call(tab, profiler.Disable, cdp.Empty{})
	hits, all := map[string]int64{}, int64(0)
	for _, n := range p.Nodes {
		switch name := n.CallFrame.FunctionName; name {
		case "(idle)", "(root)":
		default:
			all += n.HitCount
			hits[fmt.Sprintf("%s %s:%d", name, path.Base(n.CallFrame.URL), n.CallFrame.LineNumber+1)] += n.HitCount
		}
	}
	names := make([]string, 0, len(hits))
	for name := range hits {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), 12)] {
		functions = append(functions, fmt.Sprintf("%.1f%% %s", 100*float64(hits[name])/float64(max(all, 1)), name))
	}
	return functions
}
