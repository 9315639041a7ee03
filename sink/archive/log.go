package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Entry is one line of a namespace's log of seals. An entry is an object of its own, whose name is its
// number, and which is put only if absent: so the log is a list that only one writer extends at a time.
// It shows a seal that was taken away; its head, a signed note, shows an end that was.
type Entry struct {
	Number  uint64      `json:"number"` // 1, 2, 3 …
	Capture string      `json:"capture"`
	Last    uint64      `json:"last_frame"`
	SHA256  string      `json:"sha256"` // of the seal's JSON
	Edge    []tlog.Hash `json:"edge"`   // of the RFC 6962 tree over the entries before, whose leaves are their SHA-256
}

// maxEntry bounds an entry's JSON, in bytes: 64 hashes and an identity.
const maxEntry = 8 << 10

func (e *Entry) encode() ([]byte, error) {
	out, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write log entry %d: %w", e.Number, err)
	}
	return append(out, '\n'), nil
}

func decodeEntry(data []byte, number uint64) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("read log entry %d: %w", number, err)
	}
	again, err := e.encode()
	if err != nil {
		return Entry{}, err
	}
	switch {
	case e.Number != number:
		return Entry{}, fmt.Errorf("read log entry %d: it says that it is %d", number, e.Number)
	case !bytes.Equal(again, data):
		return Entry{}, fmt.Errorf("read log entry %d: byte %d is not as an entry is written", number, differAt(again, data))
	}
	return e, nil
}

// tree is the log's tree with the entry in it.
func (e *Entry) tree() (*Tree, error) {
	t, err := NewTree(e.Number-1, e.Edge)
	if err != nil {
		return nil, fmt.Errorf("read log entry %d: %w", e.Number, err)
	}
	data, err := e.encode()
	if err != nil {
		return nil, err
	}
	t.Append(sha256.Sum256(data))
	return t, nil
}

// seals is the log of one namespace.
type seals struct {
	store     Store
	namespace string
}

// entry reads an entry; ErrNotFound behind the end.
func (l seals) entry(ctx context.Context, n uint64) (Entry, error) {
	data, err := read(ctx, l.store, logName(l.namespace, n), maxEntry)
	if err != nil {
		return Entry{}, err
	}
	return decodeEntry(data, n)
}

// head reads the signed head; 0 if there is none.
func (l seals) head(ctx context.Context, trusted string) (data []byte, c checkpoint, by Signed, err error) {
	data, err = read(ctx, l.store, logHeadName(l.namespace), maxEntry)
	if errors.Is(err, ErrNotFound) {
		return nil, c, by, nil
	}
	if err != nil {
		return nil, c, by, err
	}
	c, by, err = openNote(data, trusted)
	if err == nil && c.origin != logOrigin+l.namespace {
		err = fmt.Errorf("it is of %s", c.origin)
	}
	if err != nil {
		err = fmt.Errorf("read head of the log of namespace %s: %w: %w", l.namespace, errNote, err)
	}
	return data, c, by, err
}

// errNote marks a note that was read and is not what it must be; the store itself answered.
var errNote = errors.New("note not good")

// end gives the last entry, nil if there is none. The head may lag behind it: a writer was killed.
func (l seals) end(ctx context.Context) (*Entry, error) {
	_, c, _, err := l.head(ctx, "")
	if err != nil {
		return nil, err
	}
	var last *Entry
	for n := max(c.size, 1); ; n++ {
		e, err := l.entry(ctx, n)
		if errors.Is(err, ErrNotFound) {
			if n == c.size {
				return nil, fmt.Errorf("read log of namespace %s: its head says %d entries, and the last is missing", l.namespace, n)
			}
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		last = &e
	}
}

// append adds a seal behind the entry last, unless an entry behind it names that seal already, and gives
// the seal's entry.
func (l seals) append(ctx context.Context, last *Entry, capture string, frame uint64, sha string) (Entry, error) {
	for {
		e := Entry{Number: 1, Capture: capture, Last: frame, SHA256: sha, Edge: []tlog.Hash{}}
		if last != nil {
			t, err := last.tree()
			if err != nil {
				return Entry{}, err
			}
			e.Number, e.Edge = last.Number+1, t.Edge()
		}
		data, err := e.encode()
		if err != nil {
			return Entry{}, err
		}
		err = l.store.Put(ctx, logName(l.namespace, e.Number), data)
		if err == nil {
			return e, nil
		}
		if !errors.Is(err, ErrExists) {
			return Entry{}, err
		}
		there, err := l.entry(ctx, e.Number)
		if err != nil {
			return Entry{}, err
		}
		if there.names(capture, frame, sha) {
			return there, nil
		}
		last = &there
	}
}

func (e *Entry) names(capture string, frame uint64, sha string) bool {
	return e.Capture == capture && e.Last == frame && e.SHA256 == sha
}

// find looks for a seal from an entry backwards; nil if no entry names it.
func (l seals) find(ctx context.Context, from *Entry, capture string, frame uint64, sha string) (*Entry, error) {
	for e := from; e != nil; {
		if e.names(capture, frame, sha) {
			return e, nil
		}
		if e.Number == 1 {
			return nil, nil
		}
		before, err := l.entry(ctx, e.Number-1)
		if err != nil {
			return nil, err
		}
		e = &before
	}
	return nil, nil
}

// sign brings the head up to an entry. One that is there or beyond is put again: who wrote it may have been killed
// before it could outlive a power loss.
func (l seals) sign(ctx context.Context, k Key, e Entry) error {
	for {
		old, c, _, err := l.head(ctx, "")
		if err != nil {
			return err
		}
		head := old
		if c.size < e.Number {
			if head, err = l.signed(k, e); err != nil {
				return err
			}
		}
		if err := l.store.Replace(ctx, logHeadName(l.namespace), old, head); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// signed is the head whose last entry is e.
func (l seals) signed(k Key, e Entry) ([]byte, error) {
	t, err := e.tree()
	if err != nil {
		return nil, err
	}
	data, err := e.encode()
	if err != nil {
		return nil, err
	}
	return k.sign(checkpoint{origin: logOrigin + l.namespace, size: e.Number, root: t.Root(), sha256: hexSum(data)})
}
