package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsWhatIsPrinted runs the README's example: what stands there is what comes out.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	data := t.TempDir()
	ok(t, "import", "--data", data, "testdata/sacks.jsonl")
	shown := ok(t, "show", "--data", data)
	require.Contains(t, string(text),
		"\n```\n$ steno import cmd/steno/testdata/sacks.jsonl\n$ steno show\n"+shown+"```\n")
}

// TestReadmeNamesTestsThatExist looks for every test and fuzz target that a page calls a proof.
func TestReadmeNamesTestsThatExist(t *testing.T) {
	var named []string
	for _, page := range []string{"README.md", "schema/topology/PITFALLS.md"} {
		text, err := os.ReadFile("../../" + page)
		require.NoError(t, err)
		here := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(text), -1)
		require.NotEmpty(t, here, page)
		named = append(named, here...)
	}
	var tests strings.Builder
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		tests.Write(source)
		return err
	}))
	for _, name := range named {
		require.Contains(t, tests.String(), "func "+name+"(", "a page names a test that is not there")
	}
}
