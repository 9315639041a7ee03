package headless

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/steno-io/steno/schema/wire/acp"
	"github.com/steno-io/steno/schema/wire/jsontree"
)

// maxFile is how long a file may be that is read or written for an agent, in bytes.
const maxFile = 16 << 20

// readText serves a text file, or some of its lines.
func (h *host) readText(params jsontree.Value) (any, *failure) {
	place, bad := h.inside(params.Get("path"))
	if bad != nil {
		return nil, bad
	}
	first, ok := count(params.Get("line"), 1)
	most, ok2 := count(params.Get("limit"), math.MaxUint64)
	if !ok || !ok2 {
		return nil, refuse(acp.CodeInvalidParams, "line and limit: want numbers")
	}
	f, err := h.openRegular(place, os.O_RDONLY)
	if err != nil {
		return nil, trouble(err)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(h.most)+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, trouble(err)
	}
	if len(text) > h.most {
		return nil, refuse(acp.CodeInternal, "%s is longer than %d bytes", place, h.most)
	}
	if !utf8.Valid(text) {
		return nil, refuse(acp.CodeInternal, "%s is no text in UTF-8", place)
	}
	return object{"content": linesOf(string(text), first, most)}, nil
}

// linesOf gives at most so many lines, from the first one on, which counts from 1.
func linesOf(text string, first, most uint64) string {
	for ; first > 1 && text != ""; first-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	rest := text
	for ; most > 0 && rest != ""; most-- {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return text[:len(text)-len(rest)]
}

// writeText makes or replaces a text file, and the directories that it stands in.
func (h *host) writeText(params jsontree.Value) (any, *failure) {
	place, bad := h.inside(params.Get("path"))
	if bad != nil {
		return nil, bad
	}
	text, ok := params.Get("content").Text()
	if !ok || len(text) > h.most {
		return nil, refuse(acp.CodeInvalidParams, "content: want a string of at most %d bytes", h.most)
	}
	if err := h.write(place, text); err != nil {
		return nil, trouble(err)
	}
	return object{}, nil
}

func (h *host) write(place, text string) error {
	if err := h.root.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	f, err := h.openRegular(place, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}

// openRegular opens a file that can be read and written without waiting for anybody.
func (h *host) openRegular(place string, flags int) (*os.File, error) {
	f, err := h.root.OpenFile(place, flags|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: it is no regular file", place)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
