package api

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// transcriptPath is where what belongs to a transcript stands.
const transcriptPath = "/v1/transcripts/{namespace}/{workflow}/{run}/{activity}/{attempt}/{session}"

// route is a path, as openapi.json writes it, and what answers there.
type route struct {
	path  string
	serve func(*Server, http.ResponseWriter, *http.Request) error
}

var routes = []route{
	{"/v1/transcripts", page((*Server).list)},
	{transcriptPath, page((*Server).transcript)},
	{transcriptPath + "/events", page((*Server).events)},
	{transcriptPath + "/frames", page((*Server).framesOf)},
	{transcriptPath + "/stream", (*Server).stream},
	{transcriptPath + "/typing", (*Server).typing},
	{interventionPath, page((*Server).capable)},
	{transcriptPath + "/verify", (*Server).verify},
	{"/v1/search", page((*Server).search)},
	{"/v1/openapi.json", document(openAPI)},
	{"/v1/event.schema.json", document(eventSchema)},
	{"/v1/frame.schema.json", document(frameSchema)},
	{"/livez", (*Server).live},
	{"/readyz", (*Server).ready},
}

// Handler answers requests, to whatever host they are addressed.
func (s *Server) Handler() http.Handler { return s.handler(false) }

// handler checks the host of requests if the server is reached on loopback alone.
func (s *Server) handler(loopback bool) http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.path, s.only(r))
	}
	mux.HandleFunc("POST "+interventionPath, s.intervened)
	rest := s.o.Web
	if rest == nil {
		rest = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	}
	mux.Handle("/", rest)
	mux.HandleFunc("/v1/transcripts/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoTranscript) })
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if loopback && !s.isOwn(r.Host) {
			s.fail(w, r, errHost)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// isOwn reports whether a request's host is this machine. Another name that leads here may be a web
// page's, which would then read what its user's browser can reach.
func (s *Server) isOwn(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || net.ParseIP(host).IsLoopback() {
		return true
	}
	return slices.ContainsFunc(s.o.Hosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// bodyWithin is how long a body that nobody reads may keep its connection.
const bodyWithin = 5 * time.Second

// only lets requests through that read.
func (s *Server) only(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.answering.begin() {
			s.fail(w, r, errUnavailable)
			return
		}
		defer s.answering.done()
		w.Header().Set("Cache-Control", "no-store")
		var err error = errMethod
		switch {
		case r.ContentLength != 0:
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWithin)) // where the connection has one
			w.Header().Set("Connection", "close")
			if isRead(r) {
				err = bad(codeParameter, "a request has no body here")
			}
			s.fail(w, r, err)
		case !isRead(r):
			s.fail(w, r, err)
		default:
			if err := route.serve(s, w, r); err != nil {
				s.fail(w, r, err)
			}
		}
	})
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// pageWithin bounds what is read for a page.
const pageWithin = 30 * time.Second

// page answers with an object that is made whole before it is sent.
func page(do func(*Server, context.Context, *http.Request) ([]byte, error)) func(*Server, http.ResponseWriter, *http.Request) error {
	return func(s *Server, w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), pageWithin)
		defer cancel()
		body, err := do(s, ctx, r)
		if err != nil {
			return err
		}
		return write(w, http.StatusOK, body)
	}
}
