//go:build faults

package faults

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program with a clock that jumps is built of the same sources, and of Go's own but for time.Now:
// it adds a number of seconds that changes as the monotonic clock goes on, which does not jump.
const (
	skewVariable = "STENO_FAULTS_SKEW"
	skewBy       = "5400" // seconds
	skewText     = `package time

import "syscall"

var skewBy = func() (n int64) {
	text, _ := syscall.Getenv("` + skewVariable + `")
	for _, digit := range text {
		n = 10*n + int64(digit-'0')
	}
	return n
}()

// skew is none, ahead, none and behind, a second and a half each.
func skew(mono int64) int64 { return [...]int64{0, skewBy, 0, -skewBy}[mono/1_500_000_000%4] }
`
)

// buildSkewed builds steno with that clock.
func buildSkewed(t *testing.T, dir string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	source := filepath.Join(strings.TrimSpace(string(root)), "src/time/time.go")
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	const now = "sec, nsec, mono := runtimeNow()\n"
	at := strings.Index(string(text), "func Now() Time {\n\t"+now)
	require.Positive(t, at, "%s is not as this suite knows it", source)
	changed := string(text[:at]) + strings.Replace(string(text[at:]), now, now+"\tsec += skew(mono)\n", 1)
	overlay := map[string]map[string]string{"Replace": {
		source: filepath.Join(dir, "time.go"), filepath.Join(filepath.Dir(source), "skew.go"): filepath.Join(dir, "skew.go"),
	}}
	list, err := json.Marshal(overlay)
	require.NoError(t, err)
	for name, text := range map[string]string{"time.go": changed, "skew.go": skewText, "overlay.json": string(list)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return build(t, dir, "steno-skewed", "./cmd/steno", "-overlay", filepath.Join(dir, "overlay.json"))
}
