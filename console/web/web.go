package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed static
var embedded embed.FS

const (
	staticPath = "/static/"
	pageFile   = "index.html"
)

// policy lets the page load what this server has, and nothing become code. The reports of a browser are its
// own: there is nowhere to send them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// types are those that are served; the system's own table may say otherwise, or nothing.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one that is served as it is.
type file struct {
	kind string
	tag  string // its ETag
	body []byte
}

// site answers with the files.
type site map[string]file

// Handler serves the page, under the paths that the page itself has, and its files under /static/. It answers
// GET and HEAD; what is not there is 404: the page, to a browser that asks for one, else an error as the API's.
func Handler() http.Handler {
	s := site{}
	err := fs.WalkDir(embedded, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		kind, ok := types[path.Ext(name)]
		if !ok {
			kind = mime.TypeByExtension(path.Ext(name))
		}
		s[strings.TrimPrefix(name, "static/")] = file{kind, strconv.Quote(hex.EncodeToString(sum[:16])), body}
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("read the embedded page: %v", err)) // it was built like that
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "only GET and HEAD")
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, staticPath); ok {
		if f, ok := s[name]; ok {
			f.serve(w, r, http.StatusOK)
			return
		}
		fail(w, http.StatusNotFound, "not_found", "no such file")
		return
	}
	switch {
	case isPage(r.URL.Path):
		s[pageFile].serve(w, r, http.StatusOK)
	case strings.Contains(r.Header.Get("Accept"), "text/html"):
		s[pageFile].serve(w, r, http.StatusNotFound)
	default:
		fail(w, http.StatusNotFound, "not_found", "no such page: / is the list, /v1/openapi.json says what else there is")
	}
}

// keyParts are those of a transcript's key.
const keyParts = 6

// isPage reports whether the page itself has something to show under a path.
func isPage(path string) bool {
	if path == "/" || path == "/search" {
		return true
	}
	key, ok := strings.CutPrefix(path, "/t/")
	return ok && strings.Count(strings.TrimSuffix(key, "/"), "/") == keyParts-1
}

// serve answers with the file. Browsers keep it, and ask each time whether it is still that one: its name does
// not change with what is in it.
func (f file) serve(w http.ResponseWriter, r *http.Request, status int) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.tag)
	if status == http.StatusOK && matches(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = bytes.NewReader(f.body).WriteTo(w) // its fault is the connection's
	}
}

// matches reports whether one of the tags that a browser has is this one.
func matches(have, tag string) bool {
	for t := range strings.SplitSeq(have, ",") {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// fail answers with an error as the API's are.
func fail(w http.ResponseWriter, status int, code, message string) {
	body := fmt.Appendf(nil, `{"error":{"code":%q,"message":%q}}`+"\n", code, message)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
