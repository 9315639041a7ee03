package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/steno-io/steno/"

// floors says how high each folder stands; the longest path that fits counts. Imports run down: to a
// lower floor, or to the same one inside the same top folder.
var floors = map[string]int{
	"schema":                  0,
	"schema/topology":         1,
	"schema/wire":             1,
	"schema/natstest":         2,
	"translate":               1,
	"translate/translatetest": 2,
	"translate/acp":           2,
	"translate/a2a":           2,
	"translate/lease":         2,
	"translate/stage":         3,
	"ingest":                  2,
	"sink":                    2,
	"sink/sqlite":             3,
	"sink/postgres":           3,
	"sink/tables":             3,
	"sink/verify":             2,
	"sink/verify/verifytest":  3,
	"sink/archive":            3,
	"sink/retranslate":        3,
	"sink/rebuild":            3,
	"sink/ledgertest":         3,
	"console":                 3,
	"console/consoletest":     4,
	"cmd":                     4,
	"deploy":                  3,
}

// strangers never import each other: each stage is read, tested and run without the others.
var strangers = []string{"ingest", "translate", "sink"}

func TestImportsRunDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	require.NoError(t, err)
	packages := json.NewDecoder(bytes.NewReader(out))
	seen := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		seen++
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, path := range p.Imports {
			to, ours := strings.CutPrefix(path, module)
			if !ours {
				if from == "schema" {
					require.True(t, !strings.Contains(strings.Split(path, "/")[0], ".") || path == "github.com/google/uuid",
						"schema imports the standard library and uuid only, not %s", path)
				}
				continue
			}
			down := floor(t, to) < floor(t, from) || floor(t, to) == floor(t, from) && top(to) == top(from)
			require.True(t, down, "%s (floor %d) imports %s (floor %d)", from, floor(t, from), to, floor(t, to))
			require.False(t, top(to) != top(from) && isStranger(top(from)) && isStranger(top(to)), "%s imports %s", from, to)
		}
	}
	require.Greater(t, seen, 10)
}

func floor(t *testing.T, path string) int {
	t.Helper()
	for p := path; p != ""; {
		if f, ok := floors[p]; ok {
			return f
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			break
		}
		p = p[:cut]
	}
	t.Fatalf("%s stands on no floor: put it into the plan", path)
	return 0
}

func top(path string) string { return strings.SplitN(path, "/", 2)[0] }

func isStranger(folder string) bool {
	for _, s := range strangers {
		if s == folder {
			return true
		}
	}
	return false
}
