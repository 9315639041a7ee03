package archive

import (
	"context"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink/verify"
)

// folder is a capture's objects.
type folder struct {
	sizes map[string]int64 // of the objects, by name in the folder
	seals []uint64         // in ascending order
	begun []uint64
	links map[uint64]string // SHA-256 of each seal
	note  map[uint64]bool
	noted map[uint64]string // SHA-256 of each seal, as its note has it
}

// logged is a namespace's log.
type logged struct {
	entries []uint64
	head    bool
}

// inventory lists what is there.
func (c *check) inventory(ctx context.Context) error {
	c.folders, c.namespaces = map[schema.Identity]*folder{}, map[string]*logged{}
	for listed, err := range c.store.List(ctx, "") {
		if err != nil {
			return err
		}
		o, err := ParseObject(listed.Name)
		if err != nil {
			c.find(verify.BadFile, listed.Name, "it was added: nothing of an archive has such a name: %v", err)
			continue
		}
		switch o.Kind {
		case LogEntry:
			l := c.namespace(o.Capture.Namespace)
			l.entries = append(l.entries, o.First)
		case LogHead:
			c.namespace(o.Capture.Namespace).head = true
		case MarkFile:
			if err := c.mark(ctx, listed); err != nil {
				return err
			}
		default:
			c.namespace(o.Capture.Namespace)
			c.captureFolder(o.Capture).take(o, listed)
		}
	}
	return nil
}

func (c *check) mark(ctx context.Context, listed Listed) error {
	if listed.Bytes != int64(len(Mark)) {
		c.find(verify.BadFile, MarkName, "it has %d bytes, not %d", listed.Bytes, len(Mark))
		return nil
	}
	have, err := read(ctx, c.store, MarkName, listed.Bytes)
	if err == nil && string(have) != Mark {
		c.find(verify.BadFile, MarkName, "byte %d is not as it is written", differAt(have, []byte(Mark)))
	}
	return err
}

func (c *check) namespace(name string) *logged {
	if c.namespaces[name] == nil {
		c.namespaces[name] = &logged{}
	}
	return c.namespaces[name]
}

func (c *check) captureFolder(id schema.Identity) *folder {
	if c.folders[id] == nil {
		c.folders[id] = &folder{sizes: map[string]int64{}, links: map[uint64]string{}, note: map[uint64]bool{}, noted: map[uint64]string{}}
	}
	return c.folders[id]
}

func (f *folder) take(o Object, listed Listed) {
	f.sizes[listed.Name[len(Folder(o.Capture)):]] = listed.Bytes
	switch o.Kind {
	case SealFile:
		f.seals = append(f.seals, o.Last)
	case BegunFile:
		f.begun = append(f.begun, o.First)
	case Note:
		f.note[o.Last] = true
	}
}
