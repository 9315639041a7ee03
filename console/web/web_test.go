package web_test

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/console/web"
)

func get(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(data)
}

const transcript = "/t/default/import/run-1/0/1/1"

func TestThePageIsUnderItsOwnPaths(t *testing.T) {
	for _, at := range []string{"/", "/?status=open", "/search?q=x", transcript, transcript + "?seq=3", transcript + "/"} {
		r := get(t, "GET", at)
		require.Equal(t, 200, r.StatusCode, at)
		require.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"), at)
		require.Contains(t, body(t, r), "<title>steno</title>", at)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	for _, at := range []string{"/t/default", "/t/a/b/c/0/1/1/2", "/nowhere", "/static/nothing.js", "/static/", "/static/../web.go", "/favicon.ico"} {
		r := get(t, "GET", at)
		require.Equal(t, 404, r.StatusCode, at)
		require.Equal(t, "application/json", r.Header.Get("Content-Type"), at)
		require.Contains(t, body(t, r), `{"error":{"code":"not_found",`, at)
	}
	r := get(t, "GET", "/nowhere", "Accept", "text/html,*/*")
	require.Equal(t, 404, r.StatusCode)
	require.Contains(t, body(t, r), "<title>steno</title>")
	r = get(t, "POST", "/")
	require.Equal(t, 405, r.StatusCode)
	require.Equal(t, "GET, HEAD", r.Header.Get("Allow"))
}

func TestEveryAnswerHasTheHeadersThatKeepThePageSafe(t *testing.T) {
	for _, at := range []string{"/", transcript, "/static/app.js", "/static/favicon.svg", "/nowhere", "/static/nothing"} {
		h := get(t, "GET", at).Header
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'",
			"form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"} {
			require.Contains(t, strings.Split(policy, "; "), part, at)
		}
		require.NotContains(t, policy, "unsafe", at)
		require.NotContains(t, policy, "http", at)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), at)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), at)
	}
}

func TestFilesAreKeptUntilTheyChange(t *testing.T) {
	first := get(t, "GET", "/static/app.js")
	require.Equal(t, 200, first.StatusCode)
	require.Equal(t, "text/javascript; charset=utf-8", first.Header.Get("Content-Type"))
	require.Equal(t, "no-cache", first.Header.Get("Cache-Control"))
	tag := first.Header.Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, tag)
	for _, have := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		again := get(t, "GET", "/static/app.js", "If-None-Match", have)
		require.Equal(t, 304, again.StatusCode, have)
		require.Empty(t, body(t, again))
		require.Equal(t, tag, again.Header.Get("ETag"))
	}
	require.Equal(t, 200, get(t, "GET", "/static/app.js", "If-None-Match", `"other"`).StatusCode)
	require.NotEqual(t, tag, get(t, "GET", "/static/dom.js").Header.Get("ETag"))
	head := get(t, "HEAD", "/static/app.js")
	require.Equal(t, first.Header.Get("Content-Length"), head.Header.Get("Content-Length"))
	require.Empty(t, body(t, head))
}

var (
	comments = regexp.MustCompile(`(?m)^\s*(//|\*|/\*).*$|\s//\s.*$`)
	imports  = regexp.MustCompile(`(?m)^(?:import|export)\b(?:[^'"\n(]*\bfrom)?\s*['"]([^'"]+)['"]`)
	refs     = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	outside  = regexp.MustCompile(`https?:\\?/\\?/[a-zA-Z0-9]|\burl\(|@import|//cdn`)
)

// forbidden are the ways in which a string becomes markup or code.
var forbidden = []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment",
	"setHTMLUnsafe", "parseHTMLUnsafe", "srcdoc", "eval(", "new Function", "javascript:", "importScripts", "setTimeout('", `setTimeout("`}

// Every file is read as it is served: what the page must not do does not stand in it, and what it imports is there.
func TestFilesKeepTheRules(t *testing.T) {
	files := os.DirFS("static")
	scripts, imported := 0, map[string]bool{}
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		r := get(t, "GET", "/static/"+name)
		require.Equal(t, 200, r.StatusCode, name)
		text := body(t, r)
		code := text
		switch path.Ext(name) {
		case ".js":
			scripts++
			require.Regexp(t, `^// [A-Z]`, text, "%s begins with what it is for", name)
			code = comments.ReplaceAllString(text, "")
			for _, m := range imports.FindAllStringSubmatch(code, -1) {
				require.True(t, strings.HasPrefix(m[1], "."), "%s imports %s", name, m[1])
				at := path.Join(path.Dir(name), m[1])
				_, err := fs.Stat(files, at)
				require.NoError(t, err, "%s imports %s", name, m[1])
				imported[at] = true
			}
		case ".html":
			require.NotRegexp(t, `(?i)\sstyle=|\son[a-z]+=|<style|<script(?:>| type="module">)[^<]`, text, name)
			for _, m := range refs.FindAllStringSubmatch(text, -1) {
				if file, ok := strings.CutPrefix(m[1], "/static/"); ok {
					_, err := fs.Stat(files, file)
					require.NoError(t, err, "%s refers to %s", name, file)
					imported[file] = true
				}
			}
		case ".css":
			require.Regexp(t, `^/\* [A-Z]`, text, "%s begins with what it is for", name)
		case ".svg":
			code = strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")
		}
		code = strings.ReplaceAll(code, "'http://www.w3.org/2000/svg'", "")
		require.NotRegexp(t, outside, code, "%s asks another server for something", name)
		for _, word := range forbidden {
			require.NotContains(t, code, word, name)
		}
		return nil
	}))
	require.Greater(t, scripts, 20)
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() && name != "index.html" {
			require.True(t, imported[name], "nothing uses %s", name)
		}
		return err
	}))
}
