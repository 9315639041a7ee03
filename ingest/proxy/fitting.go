package proxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/schema/wire/a2a"
)

const (
	// maxEvidence is what evidence may take as JSON: an entry's data, less the exchange's id.
	maxEvidence = journal.MaxData - len(uuid.UUID{})
	// maxBroken bounds what a close entry and a client hear of a fault, which may quote a peer.
	maxBroken = 4 << 10
)

// fitting gives evidence that takes at most so many bytes as JSON. Of one that takes more, what is
// longest is cut, and says so at its end.
func fitting(e a2a.Evidence, most int) a2a.Evidence {
	over := encoded(e) - most
	if over <= 0 {
		return e
	}
	e.Headers, e.Masked = maps.Clone(e.Headers), slices.Clone(e.Masked)
	for over > 0 {
		size, text, put := longest(&e)
		put(cutTo(text, min(max(size-over, 0), size/2)))
		now := encoded(e) - most
		if now >= over {
			return a2a.Evidence{Method: shortName(e.Method), Status: e.Status, Served: e.Served, Bytes: e.Bytes} // a thousand small ones
		}
		over = now
	}
	return e
}

// longest finds the text in evidence that takes the most bytes.
func longest(e *a2a.Evidence) (size int, text string, put func(string)) {
	put = func(string) {}
	look := func(s string, set func(string)) {
		if n := encoded(s); n > size {
			size, text, put = n, s, set
		}
	}
	for _, field := range []*string{&e.Method, &e.Path, &e.ContentType, &e.Version} {
		look(*field, func(s string) { *field = s })
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		look(e.Headers[name], func(s string) { e.Headers[name] = s })
	}
	for i := range e.Masked {
		look(e.Masked[i], func(s string) { e.Masked[i] = s })
	}
	return size, text, put
}

// cutTo leaves of a text what takes about so many bytes of JSON, and says how long it was.
func cutTo(text string, size int) string {
	said := fmt.Sprintf("… (cut, it has %d bytes)", len(text))
	size -= len(said)
	for i, r := range text {
		if size -= encodedRune(r); size < 0 {
			return text[:i] + said
		}
	}
	return text
}

// encodedRune is at least what a character takes in JSON.
func encodedRune(r rune) int {
	if r < ' ' || r >= 0x7f || strings.ContainsRune(`<>&"\`, r) {
		return 6
	}
	return 1
}

// encoded is how many bytes a value takes as JSON, as a journal writes it.
func encoded(v any) int {
	b, _ := json.Marshal(v) // strings and numbers always are JSON
	return len(b)
}

// shortened is the head of a text that a peer may have made long.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
