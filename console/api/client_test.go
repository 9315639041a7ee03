package api_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// path is where a transcript stands.
func path(key schema.Transcript) string { return "/v1/transcripts/" + key.String() }

// answer is a response, read whole.
type answer struct {
	*http.Response
	body string
}

// get asks, and holds the answer against the OpenAPI document.
func (s *site) get(path string) answer {
	s.t.Helper()
	return s.ask(http.MethodGet, path, "")
}

// refuses asks for what is refused, and gives what is said.
func (s *site) refuses(status int, code, path string) string {
	s.t.Helper()
	a := s.get(path)
	require.Equal(s.t, status, a.StatusCode, "%s: %s", path, a.body)
	require.Contains(s.t, a.body, `{"error":{"code":"`+code+`","message":"`)
	return a.body
}

func (s *site) ask(method, path, body string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	data, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	a := answer{response, string(data)}
	described(s.t, a)
	return a
}

// message is a server-sent event.
type message struct {
	id    uint64
	event string
	data  string
}

// stream is a client of a stream.
type stream struct {
	t      testing.TB
	cancel context.CancelFunc
	body   io.ReadCloser
	lines  *bufio.Scanner
	text   strings.Builder // all that came
	beats  int             // comments
}

// follow opens a stream; id is the Last-Event-ID, if it is not empty.
func (s *site) follow(path, id string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	response, err := open(ctx, s.url+path, id)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	require.Equal(s.t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Equal(s.t, "no", response.Header.Get("X-Accel-Buffering"))
	require.Equal(s.t, "no-store", response.Header.Get("Cache-Control"))
	f := &stream{t: s.t, cancel: cancel, body: response.Body, lines: bufio.NewScanner(response.Body)}
	f.lines.Buffer(nil, 64<<20)
	s.t.Cleanup(f.close)
	return f
}

// transport makes each stream a connection of its own, which ends with it.
var transport = &http.Transport{DisableKeepAlives: true, DisableCompression: true}

func open(ctx context.Context, url, id string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	return transport.RoundTrip(r)
}

func (f *stream) close() {
	f.cancel()
	_ = f.body.Close() // it was cut off
}

// next is the next event; ok is false at the stream's end.
func (f *stream) next() (m message, ok bool) {
	f.t.Helper()
	for f.lines.Scan() {
		line := f.lines.Text()
		f.text.WriteString(line + "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, ":"):
			f.beats++
		case line == "" && m.event != "":
			return m, true
		case name == "id":
			id, err := strconv.ParseUint(value, 10, 64)
			require.NoError(f.t, err)
			m.id = id
		case name == "event":
			m.event = value
		case name == "data":
			require.Empty(f.t, m.data, "data is one line")
			m.data = value
		default:
			require.Contains(f.t, []string{"", "retry: 2000"}, line)
		}
	}
	return m, false
}

// until reads up to the next event of that name, and gives all that was read.
func (f *stream) until(name string) (all []message) {
	f.t.Helper()
	for {
		m, ok := f.next()
		require.True(f.t, ok, "the stream ended before %s: %v", name, f.lines.Err())
		all = append(all, m)
		if m.event == name {
			return all
		}
	}
}

// eventually waits for what has no signal of its own.
func eventually(t *testing.T, is func() bool, why string) {
	t.Helper()
	require.Eventually(t, is, within, 5*time.Millisecond, why)
}
