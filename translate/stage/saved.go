package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/translate"
)

// savedForm is the form of a snapshot's state. One of another form is not read.
const savedForm = 1

// errSaved marks a state of another form.
var errSaved = errors.New("state of another form")

// appendSaved appends a snapshot's state: the form, the sessions, what records have said about them and
// what still waits to be said, and the fold's own state to the end.
func (c *capture) appendSaved(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, savedForm)
	dst = binary.AppendUvarint(dst, uint64(len(c.sessions)))
	for _, session := range slices.Sorted(maps.Keys(c.sessions)) {
		dst = binary.AppendUvarint(dst, uint64(session))
	}
	dst = appendAbouts(dst, c.about.Given)
	dst = appendAbouts(dst, c.about.Waiting)
	return c.fold.AppendState(dst)
}

func appendAbouts(dst []byte, m map[uint32]schema.About) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(m)))
	for _, session := range slices.Sorted(maps.Keys(m)) {
		a := m[session]
		dst = binary.AppendUvarint(dst, uint64(session))
		for _, text := range []string{a.Agent, a.Title, a.Cwd, string(a.Status)} {
			dst = appendText(dst, text)
		}
		dst = binary.AppendUvarint(dst, uint64(len(a.Labels)))
		for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
			dst = appendText(appendText(dst, name), a.Labels[name])
		}
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// saved is what appendSaved writes.
type saved struct {
	sessions map[uint32]struct{}
	about    translate.Abouts
	fold     []byte // the rest
}

// readSaved reads a state; an error wraps errSaved. Its texts are copies.
func readSaved(state []byte) (saved, error) {
	r := savedReader{rest: state}
	s := saved{sessions: map[uint32]struct{}{}}
	if form := r.number(); form != savedForm {
		return s, fmt.Errorf("read state of form %d: want %d: %w", form, savedForm, errSaved)
	}
	for n := r.number(); n > 0 && !r.bad; n-- {
		s.sessions[uint32(r.number())] = struct{}{}
	}
	s.about.Given, s.about.Waiting = r.abouts(), r.abouts()
	if r.bad {
		return s, fmt.Errorf("read state of %d bytes: it ends too early: %w", len(state), errSaved)
	}
	s.fold = r.rest
	return s, nil
}

type savedReader struct {
	rest []byte
	bad  bool // the rest is too short for what was asked
}

func (r *savedReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *savedReader) text() string {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}

// abouts reads what appendAbouts writes.
func (r *savedReader) abouts() map[uint32]schema.About {
	m := map[uint32]schema.About{}
	for n := r.number(); n > 0 && !r.bad; n-- {
		session := uint32(r.number())
		a := schema.About{Agent: r.text(), Title: r.text(), Cwd: r.text(), Status: schema.Status(r.text())}
		for labels := r.number(); labels > 0 && !r.bad; labels-- {
			if a.Labels == nil {
				a.Labels = map[string]string{}
			}
			name := r.text()
			a.Labels[name] = r.text()
		}
		m[session] = a
	}
	return m
}
