package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// log checks a namespace's log: its entries follow one another up to its signed head at least, and name
// every seal, and no other.
func (c *check) log(ctx context.Context, namespace string) error {
	l := c.namespaces[namespace]
	if c.o.Single && len(l.entries) == 0 && !l.head {
		return nil
	}
	slices.Sort(l.entries)
	listed := map[schema.Identity]map[uint64]bool{}
	var tree Tree
	var at []tlog.Hash // roots, by size
	for n := uint64(1); n <= uint64(len(l.entries)); n++ {
		at = append(at, tree.Root())
		if number := l.entries[n-1]; number != n {
			c.find(verify.BadLog, logName(namespace, n), "it is missing, or one too many is there: entry %d follows", number)
			break
		}
		e, err := seals{c.store, namespace}.entry(ctx, n)
		if storeFailed(err) {
			return err
		}
		if err != nil {
			c.find(verify.BadLog, logName(namespace, n), "%v", err)
			break
		}
		if !slices.Equal(e.Edge, tree.Edge()) {
			c.find(verify.BadLog, logName(namespace, n), "it does not follow the entries before it")
			if n > 1 { // either may be what was changed
				c.find(verify.BadLog, logName(namespace, n-1), "entry %d of the log of seals does not follow it", n)
			}
			break
		}
		grown, err := e.tree()
		if err != nil {
			return err
		}
		tree = *grown
		c.entry(namespace, &e, listed)
	}
	at = append(at, tree.Root())
	if err := c.head(ctx, namespace, l, at); err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(keysOf(c.folders, namespace), compareIdentities) {
		for _, last := range c.folders[id].seals {
			if !listed[id][last] {
				c.find(verify.BadLog, Folder(id)+sealName(last), "the log of seals does not name it: sealing was broken off (steno seal completes it), or the seal was added, or its entry taken away")
			}
		}
	}
	return nil
}

// entry checks that the seal is there that an entry names.
func (c *check) entry(namespace string, e *Entry, listed map[schema.Identity]map[uint64]bool) {
	id, err := schema.ParseIdentity(e.Capture)
	if err == nil && id.Namespace != namespace {
		err = fmt.Errorf("it is of namespace %s", id.Namespace)
	}
	if err != nil {
		c.find(verify.BadLog, logName(namespace, e.Number), "%v", err)
		return
	}
	if listed[id] == nil {
		listed[id] = map[uint64]bool{}
	}
	listed[id][e.Last] = true
	sum, wrong := "", Folder(id)+sealName(e.Last)
	if f := c.folders[id]; f != nil {
		if sum = f.links[e.Last]; sum == "" && slices.Contains(f.seals, e.Last) {
			return // it was found that it cannot be read
		}
		if f.noted[e.Last] == sum { // two against one
			wrong = logName(namespace, e.Number)
		}
	}
	switch sum {
	case e.SHA256:
	case "":
		c.find(verify.BadFile, Folder(id)+sealName(e.Last), "it is missing: entry %d of the log of seals names it", e.Number)
	default:
		c.find(verify.BadLog, wrong, "%s has SHA-256 %s, entry %d of the log of seals says %s", Folder(id)+sealName(e.Last), sum, e.Number, e.SHA256)
	}
}

// head checks the signed head against the roots of the log.
func (c *check) head(ctx context.Context, namespace string, l *logged, at []tlog.Hash) error {
	name := logHeadName(namespace)
	if !l.head {
		c.find(verify.BadLog, name, "it is missing: nobody can tell whether the log of seals was cut")
		return nil
	}
	_, h, by, err := seals{c.store, namespace}.head(ctx, c.o.Trusted)
	if by.Hash != "" {
		c.keys[by.Hash] = true
	}
	switch {
	case err != nil && !errors.Is(err, errNote):
		return c.unread(ctx, name, err)
	case err != nil:
		c.find(verify.BadSignature, name, "%v", err)
	case h.size >= uint64(len(at)):
		c.find(verify.BadLog, name, "the log of seals has %d entries that are good, its head says %d", len(at)-1, h.size)
		if len(l.entries) == len(at)-1 {
			c.find(verify.BadLog, logName(namespace, uint64(len(at))), "it is missing, if the log's head is good")
		}
	case h.root != at[h.size]:
		c.find(verify.BadLog, name, "its root is %s, the first %d entries give %s", h.root, h.size, at[h.size])
		if h.size > 0 { // either may be what was changed
			c.find(verify.BadLog, logName(namespace, h.size), "it, and those before it, do not give the root of the log's head")
		}
	case h.size < uint64(len(l.entries)):
		c.find(verify.BadLog, name, "it says %d entries, %d are there: sealing was broken off (steno seal completes it), or some were added", h.size, len(l.entries))
	}
	return nil
}
