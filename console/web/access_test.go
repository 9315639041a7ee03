package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/consoletest"
	"github.com/steno-io/steno/console/web/webtest"
)

// views are the pages of a console with something on each.
func views(t *testing.T) (s *consoletest.Site, addresses map[string]string) {
	s = site(t)
	c := turns(s, "seen", 2)
	s.Indexed()
	return s, map[string]string{
		"list":       s.URL + "/",
		"search":     s.URL + "/search?q=sacks",
		"transcript": address(s, c.Key),
		"nothing":    s.URL + "/search?q=nowhereatall",
	}
}

// contrast lists texts that stand out too little from what is behind them, by WCAG's level AA.
const contrast = `(() => {
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = 1;
	const pen = canvas.getContext("2d", { willReadFrequently: true });
	const known = new Map();
	const over = (under, color) => { // the colour over another, as bytes
		const key = under + " " + color;
		if (!known.has(key)) known.set(key, painted(under, color));
		return known.get(key);
	};
	const painted = (under, color) => {
		pen.globalCompositeOperation = "source-over";
		pen.fillStyle = "rgb(" + under.join(",") + ")";
		pen.fillRect(0, 0, 1, 1);
		pen.fillStyle = color;
		pen.fillRect(0, 0, 1, 1);
		return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
	};
	const light = (c) => {
		const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const grounds = new Map();
	const behind = (e) => {
		if (e === null) return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
		if (!grounds.has(e)) grounds.set(e, over(behind(e.parentElement), getComputedStyle(e).backgroundColor));
		return grounds.get(e);
	};
	const bad = new Map();
	for (const e of document.body.querySelectorAll("*")) {
		if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		if (e.closest(":disabled, [aria-disabled=true]")) continue;
		const r = e.getBoundingClientRect();
		if (r.width < 2 || r.height < 2) continue;
		const style = getComputedStyle(e);
		const size = parseFloat(style.fontSize), big = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
		const back = behind(e), front = over(back, style.color);
		const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < (big ? 3 : 4.5)) {
			const what = e.tagName + "." + e.className + " " + style.color + " on " + back + ": " + ratio.toFixed(2);
			if (!bad.has(what)) bad.set(what, what + " “" + e.textContent.trim().slice(0, 30) + "”");
		}
	}
	return [...bad.values()];
})()`

// TestEveryViewCanBeReadAndNamed looks at each page in light and dark: what can have the focus has a name,
// there is a main landmark and a first heading, and text stands out from what is behind it.
func TestEveryViewCanBeReadAndNamed(t *testing.T) {
	s, addresses := views(t)
	tab := open(t, s.URL+"/")
	for name, at := range addresses {
		tab.Go(at)
		tab.There("body[data-ready]")
		for _, scheme := range []string{"light", "dark"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				tab.Scheme(scheme)
				tab.Do(`(() => { for (const d of document.querySelectorAll("details:not([open])")) d.open = true; })()`)
				still2(tab)
				told := tab.Access()
				for _, c := range told.Controls {
					require.True(t, c.Name != "" || c.Role == "main", "a %s has no name; there are %v", c.Role, told.Controls)
				}
				require.Len(t, told.Roles["main"], 1)
				require.NotEmpty(t, told.Roles["heading"])
				require.Equal(t, 1, tab.Count("h1"), "one heading of the page")
				require.Empty(t, webtest.Eval[[]string](tab, contrast))
				tab.Shot(name + "-" + scheme)
			})
		}
	}
}

// still2 waits two frames.
func still2(tab *webtest.Tab) {
	tab.Do("new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(tell)))")
}

// TestNothingIsWiderThanAPhone has no page scroll sideways at 360 pixels, nor at 200 % on a laptop.
func TestNothingIsWiderThanAPhone(t *testing.T) {
	s, addresses := views(t)
	tab := open(t, s.URL+"/")
	for name, at := range addresses {
		tab.Size(1440, 900)
		tab.Go(at)
		tab.There("body[data-ready]")
		for _, width := range []int64{360, 720} {
			t.Run(fmt.Sprintf("%s %d", name, width), func(t *testing.T) {
				tab.Size(width, 740)
				still2(tab)
				require.Empty(t, webtest.Eval[[]string](tab, `(() => {
					const wide = [];
					const see = (e, name) => { if (e && e.scrollWidth > e.clientWidth + 1) wide.push(name + " " + e.scrollWidth + " > " + e.clientWidth); };
					see(document.documentElement, "page");
					see(document.body, "body");
					see(document.querySelector("[data-scroller]"), "scroller");
					see(document.querySelector("[data-list]"), "list");
					if (wide.length) for (const e of document.body.querySelectorAll("*")) {
						const r = e.getBoundingClientRect();
						if (r.right > innerWidth + 1 && r.width > 0) wide.push(e.tagName + "." + e.className + " to " + Math.round(r.right));
					}
					return wide.slice(0, 12);
				})()`))
				tab.Shot(fmt.Sprintf("%s-%d", name, width))
			})
		}
	}
}

// TestWithoutAMouse goes from the list to a transcript, through it and back by keys alone.
func TestWithoutAMouse(t *testing.T) {
	s, addresses := views(t)
	tab := open(t, addresses["list"])
	focus := func() string {
		return webtest.Eval[string](tab, `(() => { const e = document.activeElement; return e === document.body ? "" : e.tagName + " " + (e.getAttribute("aria-label") || e.innerText || e.id || "").slice(0, 60); })()`)
	}
	// Everything can be reached, and is seen to have the focus.
	count := webtest.Eval[int](tab, `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled).length`)
	seen := map[string]bool{}
	for range count + 2 {
		tab.Press(webtest.TabKey)
		if f := focus(); f != "" {
			seen[f] = true
			require.True(t, webtest.Eval[bool](tab, `(() => {
				const e = document.activeElement; // or what it stands in, as a row of the list
				return e.matches(":focus-visible") && [e, e.parentElement, e.parentElement.parentElement].some((p) => {
					const s = getComputedStyle(p);
					return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
				});
			})()`), "the focus on %s is not seen", f)
		}
	}
	require.GreaterOrEqual(t, len(seen), 4, "%v", seen)

	tab.Go(s.URL + "/")
	tab.There("body[data-ready]")
	tab.Press("j")
	tab.Press(webtest.Enter)
	tab.There(`body[data-view="transcript"][data-ready]`)
	tab.Press("g")
	tab.Press("j")
	tab.There(`[data-item][aria-current="true"]`)
	was := webtest.Eval[string](tab, `document.querySelector('[aria-current="true"]').dataset.index`)
	tab.Press("j")
	tab.Await(`document.querySelector('[data-item][aria-current="true"]')?.dataset.index !== %s`, webtest.Quote(was))
	tab.Press("k")
	tab.Await(`document.querySelector('[data-item][aria-current="true"]')?.dataset.index === %s`, webtest.Quote(was))
	tab.Press(webtest.Enter)
	tab.There("[data-inspector] [data-event]")
	tab.There("[data-inspector] [data-frame] [data-bytes]")
	tab.Shot("inspector")
	tab.Press(webtest.Escape)
	tab.Await(`![...document.querySelectorAll("[data-inspector]")].some((e) => e.checkVisibility())`)
	tab.Press("G")
	tab.Await(`(() => { const s = document.querySelector("[data-scroller]"); return s.scrollHeight - s.scrollTop - s.clientHeight < 4; })()`)
	tab.Press("?")
	tab.There("dialog[data-keys][open]")
	tab.Shot("keys")
	tab.Press(webtest.Escape)
	tab.Gone("dialog[data-keys][open]")
	tab.Press("u")
	tab.There(`body[data-view="list"]`)
}

// TestTheThemeIsRemembered switches it by hand, against what the system prefers.
func TestTheThemeIsRemembered(t *testing.T) {
	s := site(t)
	tab := open(t, s.URL+"/")
	ground := `getComputedStyle(document.documentElement).backgroundColor`
	light := webtest.Eval[string](tab, ground)
	tab.Scheme("dark")
	dark := webtest.Eval[string](tab, ground)
	require.NotEqual(t, light, dark)
	tab.Click(`[data-action="theme"]`)
	tab.Await(`document.documentElement.dataset.theme === "light"`)
	require.Equal(t, light, webtest.Eval[string](tab, ground))
	tab.Reload()
	tab.There(`html[data-theme="light"]`)
	require.Equal(t, light, webtest.Eval[string](tab, ground))
}
