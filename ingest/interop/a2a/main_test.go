package interop

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// steno is the command under test.
var steno string

func TestMain(m *testing.M) {
	slog.SetDefault(silent()) // the SDKs' own words
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "steno-interop-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "make a place for the command:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		if steno = os.Getenv("STENO"); steno == "" {
			steno = filepath.Join(dir, "steno")
			build := exec.Command("go", "build", "-o", steno, "./cmd/steno")
			build.Dir = filepath.Join("..", "..", "..")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build steno: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}
