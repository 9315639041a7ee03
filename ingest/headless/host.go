package headless

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// host is what the agent may use of this machine: files and commands inside one directory.
type host struct {
	cwd  string   // as it was given
	real string   // without symbolic links
	root *os.Root // none of its names leads out of it
	env  []string
	most int // bytes of a file that is read or written

	mu        sync.Mutex
	terminals map[string]*terminal
	made      int // terminals so far
	over      bool
}

func openHost(o Options) (*host, error) {
	h := &host{cwd: filepath.Clean(o.Cwd), env: o.Env, most: maxFile, terminals: map[string]*terminal{}}
	if !filepath.IsAbs(o.Cwd) {
		return nil, fmt.Errorf("open working directory %q: it is not absolute", o.Cwd)
	}
	var err error
	if h.real, err = filepath.EvalSymlinks(h.cwd); err != nil {
		return nil, fmt.Errorf("open working directory: %w", err)
	}
	if h.root, err = os.OpenRoot(h.real); err != nil {
		return nil, fmt.Errorf("open working directory: %w", err)
	}
	if h.env == nil {
		h.env = os.Environ()
	}
	return h, nil
}

func (h *host) close() error { return h.root.Close() }

// inside gives a path's place in the directory. It only reads the name: links are the root's matter.
func (h *host) inside(path jsontree.Value) (place string, bad *failure) {
	name, ok := path.Text()
	if !ok || !filepath.IsAbs(name) {
		return "", refuse(acp.CodeInvalidParams, "path %s: want an absolute path", cut(path.Raw()))
	}
	for _, top := range []string{h.cwd, h.real} {
		if place, err := filepath.Rel(top, name); err == nil && filepath.IsLocal(place) {
			return place, nil
		}
	}
	return "", refuse(acp.CodeInvalidParams, "%s is outside of %s, and nothing else is served", name, h.cwd)
}

// trouble is an error of the system as an answer.
func trouble(err error) *failure {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return refuse(acp.CodeResourceNotFound, "%v", err)
	}
	return refuse(acp.CodeInternal, "%v", err)
}

// count reads a number that may be absent; ok is false where it is none of 0 and above.
func count(v jsontree.Value, absent uint64) (n uint64, ok bool) {
	if !v.Given() {
		return absent, true
	}
	n, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	return n, err == nil
}
