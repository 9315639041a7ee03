package compat_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema/wire/a2a/compat"
)

// capture is the frames of one exchange between an SDK's client and server, as they were on the wire.
type capture struct {
	requests, answers []string
}

// captures reads testdata/captures.jsonl: one scenario after another, in both versions.
func captures(t *testing.T) map[string]*capture {
	file, err := os.Open("testdata/captures.jsonl")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	all := map[string]*capture{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var frame struct{ Capture, Dir, Raw string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &frame))
		c := all[frame.Capture]
		if c == nil {
			c = &capture{}
			all[frame.Capture] = c
		}
		if frame.Dir == "request" {
			c.requests = append(c.requests, frame.Raw)
		} else {
			c.answers = append(c.answers, frame.Raw)
		}
	}
	require.NoError(t, lines.Err())
	return all
}

var (
	ids   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// anonymous replaces ids and times: two runs of one scenario differ in nothing else.
func anonymous(t *testing.T, frames []string) []string {
	known := map[string]string{}
	out := make([]string, len(frames))
	for i, frame := range frames {
		frame = times.ReplaceAllString(canonical(t, frame), "time")
		out[i] = ids.ReplaceAllStringFunc(frame, func(id string) string {
			if known[id] == "" {
				known[id] = fmt.Sprintf("id%d", len(known))
			}
			return known[id]
		})
	}
	return out
}

func rewritten(t *testing.T, frames []string, f rewriter) []string {
	out := make([]string, len(frames))
	for i, frame := range frames {
		out[i] = must(t, f, frame)
	}
	return out
}

// TestStreamsOfBothVersionsBecomeEachOther takes the same scenario on the wire in both versions.
func TestStreamsOfBothVersionsBecomeEachOther(t *testing.T) {
	all := captures(t)
	for _, scenario := range []string{"auth", "boom", "fail", "happy", "input", "message-only", "no-task-first", "reject", "slow"} {
		t.Run(scenario, func(t *testing.T) {
			old, current := all["v03-jsonrpc-stream-"+scenario], all["v10-jsonrpc-stream-"+scenario]
			require.NotEmpty(t, old.answers)
			require.Len(t, current.answers, len(old.answers))

			require.Equal(t, anonymous(t, current.requests), anonymous(t, rewritten(t, old.requests, compat.RequestUp)))
			require.Equal(t, anonymous(t, old.requests), anonymous(t, rewritten(t, current.requests, compat.RequestDown)))

			require.Equal(t, anonymous(t, current.answers), anonymous(t, rewritten(t, old.answers, responseUp("message/stream"))))
			require.Equal(t, anonymous(t, old.answers), anonymous(t, rewritten(t, current.answers, responseDown("SendStreamingMessage"))))
		})
	}
}

func TestAnswersOfBothVersionsBecomeEachOther(t *testing.T) {
	all := captures(t)
	for _, c := range []struct{ old, current, method string }{
		{"v03-push", "v10-push", "message/send"},
		{"v03-err-tasknotfound", "v10-err-tasknotfound", "tasks/get"},
	} {
		t.Run(c.old, func(t *testing.T) {
			old, current := all[c.old], all[c.current]
			require.Len(t, old.answers, 1)
			require.Equal(t, anonymous(t, current.answers), anonymous(t, rewritten(t, old.answers, responseUp(c.method))))
			require.Equal(t, anonymous(t, old.answers), anonymous(t, rewritten(t, current.answers, responseDown(compat.MethodUp(c.method)))))
		})
	}
}

// TestPushConfigOnTheWire says what the two captured requests leave to the server: the one of 1.0 is
// silent about waiting.
func TestPushConfigOnTheWire(t *testing.T) {
	all := captures(t)
	old, current := all["v03-push"].requests[0], all["v10-push"].requests[0]
	current = strings.Replace(current, "/hook", "/hook03", 1)

	silent := strings.Replace(must(t, compat.RequestUp, old), `"returnImmediately":false,`, "", 1)
	same(t, current, silent)
	same(t, old, must(t, compat.RequestDown, current))
}

// TestEveryCapturedFrameIsDetected holds the detection against what the frames were captured as.
func TestEveryCapturedFrameIsDetected(t *testing.T) {
	for name, c := range captures(t) {
		for _, frame := range c.requests {
			var request struct{ Method string }
			if json.Unmarshal([]byte(frame), &request) != nil || name == "v10-err-method" {
				continue // no JSON by intent, and a method of 0.3 sent as 1.0 by intent
			}
			want := map[string]compat.Version{"v03": compat.V03, "v10": compat.V10}[name[:3]]
			require.Equal(t, want, compat.Detect(compat.Signals{Method: request.Method}), "%s: %s", name, frame)
		}
	}
}

// TestFramesOfTheTargetVersionStay rewrites every captured frame into the version that it speaks.
func TestFramesOfTheTargetVersionStay(t *testing.T) {
	methods := regexp.MustCompile(`"method":"([^"]+)"`)
	for name, c := range captures(t) {
		method := "message/stream"
		if len(c.requests) > 0 {
			if found := methods.FindStringSubmatch(c.requests[0]); found != nil {
				method = found[1]
			}
		}
		for _, frame := range c.answers {
			f := responseUp(method)
			if strings.HasPrefix(name, "v03") {
				f = responseDown(method)
			}
			require.Equal(t, frame, must(t, f, frame), name)
		}
	}
}
