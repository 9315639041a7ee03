package webtest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var shots = flag.String("shots", "", "directory in which pictures of pages stay; else go test's -artifacts decides, which drops them by default")

// Shot keeps a picture of what the tab shows, and gives the file's name: where pictures stay, else none is taken.
func (tab *Tab) Shot(name string) string {
	tab.t.Helper()
	if artifacts := flag.Lookup("test.artifacts"); *shots == "" && (artifacts == nil || artifacts.Value.String() != "true") {
		return ""
	}
	return tab.picture(name)
}

func (tab *Tab) picture(name string) string {
	tab.t.Helper()
	dir := *shots
	if dir == "" {
		dir = tab.t.ArtifactDir()
	}
	require.NoError(tab.t, os.MkdirAll(dir, 0o755))
	ctx, cancel := context.WithTimeout(tab.ctx, within)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(tab.t, err, "take a picture")
	test := strings.NewReplacer("/", "-", " ", "_").Replace(tab.t.Name())
	tab.shots++
	path := filepath.Join(dir, fmt.Sprintf("%s-%02d-%s.png", test, tab.shots, name))
	require.NoError(tab.t, os.WriteFile(path, picture, 0o644))
	return path
}
