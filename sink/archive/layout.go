package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/steno-io/steno/schema"
)

// Numbers in names have a fixed width, so that the order of names is the order of what is in them.
const digits = 12

// Object is a name in an archive, taken apart.
type Object struct {
	Kind    ObjectKind
	Capture schema.Identity // of a capture's objects
	Session uint32          // of Events
	First   uint64          // of Frames, Events and BegunFile; of LogEntry its number
	Last    uint64          // of Frames, Events, Seal and Note
	SHA256  string          // of Blob
}

// ObjectKind is what an object is.
type ObjectKind string

// The kinds, by what they hold.
const (
	Frames    ObjectKind = "frames"    // a part of a capture's frames, one a line
	Events    ObjectKind = "events"    // a part of a session's events, one a line
	Blob      ObjectKind = "blob"      // the bytes of a large frame
	BegunFile ObjectKind = "begun"     // a Begun
	SealFile  ObjectKind = "seal"      // a Seal
	Note      ObjectKind = "note"      // its signed note
	LogEntry  ObjectKind = "log entry" // a line of a namespace's log of seals
	LogHead   ObjectKind = "log head"  // the signed note of how long that log is
	MarkFile  ObjectKind = "mark"      // Mark
)

// MarkName is an object in which nothing is kept: those who write into a bucket try with it whether the
// server refuses to write over objects. It always holds Mark, wherever it is copied to.
const (
	MarkName = ".steno"
	Mark     = "An archive of steno.\n"
)

// Folder is where a capture's objects stand, with a slash at its end.
func Folder(id schema.Identity) string {
	return fmt.Sprintf("%s/%s/%s/%d-%d/", id.Namespace, id.Workflow, id.Run, id.Activity, id.Attempt)
}

func framesName(first, last uint64) string {
	return fmt.Sprintf("frames-%0*d-%0*d.jsonl.zst", digits, first, digits, last)
}

func eventsName(session uint32, first, last uint64) string {
	return fmt.Sprintf("s%d/events-%0*d-%0*d.jsonl.zst", session, digits, first, digits, last)
}

func blobName(sha string) string { return "blobs/" + sha }

func begunName(first uint64) string { return fmt.Sprintf("begun-%0*d.json", digits, first) }

func sealName(last uint64) string { return fmt.Sprintf("seal-%0*d.json", digits, last) }

// noteName is the name of the note beside a seal.
func noteName(seal string) string { return strings.TrimSuffix(seal, ".json") + ".note" }

// logFolder is where a namespace's log of seals stands. No workflow has such a name: a dot is no
// character of a token.
func logFolder(namespace string) string { return namespace + "/seals.log/" }

func logName(namespace string, n uint64) string {
	return fmt.Sprintf("%s%0*d.json", logFolder(namespace), digits, n)
}

func logHeadName(namespace string) string { return logFolder(namespace) + "head.note" }

// ParseObject takes a name apart. A name that no function of this package gives is an error.
func ParseObject(name string) (Object, error) {
	o, err := parseObject(name)
	if err != nil {
		return Object{}, fmt.Errorf("read name %q: %w", name, err)
	}
	return o, nil
}

func parseObject(name string) (Object, error) {
	if name == MarkName {
		return Object{Kind: MarkFile}, nil
	}
	parts := strings.Split(name, "/")
	if len(parts) == 3 && parts[1] == "seals.log" && schema.IsToken(parts[0]) {
		return parseLog(parts[0], parts[2])
	}
	if len(parts) < 5 {
		return Object{}, fmt.Errorf("want namespace/workflow/run/activity-attempt/object")
	}
	activity, attempt, ok := strings.Cut(parts[3], "-")
	if !ok {
		return Object{}, fmt.Errorf("%q is no activity-attempt", parts[3])
	}
	id, err := schema.ParseIdentity(path.Join(parts[0], parts[1], parts[2], activity, attempt))
	if err != nil {
		return Object{}, err
	}
	o, err := parseMember(strings.Join(parts[4:], "/"))
	o.Capture = id
	if err == nil && o.name() != name {
		err = fmt.Errorf("it is written %q", o.name())
	}
	return o, err
}

// parseMember reads a name inside a capture's folder. What it takes may be written otherwise.
func parseMember(name string) (Object, error) {
	switch {
	case strings.HasPrefix(name, "blobs/"):
		o := Object{Kind: Blob, SHA256: name[len("blobs/"):]}
		if sum, err := hex.DecodeString(o.SHA256); err != nil || len(sum) != sha256.Size || strings.ToLower(o.SHA256) != o.SHA256 {
			return o, fmt.Errorf("a blob is called by its SHA-256 in hex")
		}
		return o, nil
	case strings.HasPrefix(name, "frames-"):
		return parsePart(Object{Kind: Frames}, name[len("frames-"):])
	case strings.HasPrefix(name, "begun-"):
		first, err := strconv.ParseUint(strings.TrimSuffix(name[len("begun-"):], ".json"), 10, 64)
		return Object{Kind: BegunFile, First: first}, err
	case strings.HasPrefix(name, "seal-"):
		number, ending, _ := strings.Cut(name[len("seal-"):], ".")
		o := Object{Kind: SealFile}
		switch ending {
		case "json":
		case "note":
			o.Kind = Note
		default:
			return o, fmt.Errorf("a seal ends in .json or .note")
		}
		var err error
		o.Last, err = strconv.ParseUint(number, 10, 64)
		return o, err
	case strings.HasPrefix(name, "s"):
		number, rest, _ := strings.Cut(name[1:], "/events-")
		session, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return Object{}, fmt.Errorf("session: %w", err)
		}
		return parsePart(Object{Kind: Events, Session: uint32(session)}, rest)
	}
	return Object{}, fmt.Errorf("want frames-…, s<n>/events-…, blobs/…, begun-… or seal-…")
}

func parsePart(o Object, numbers string) (Object, error) {
	numbers, _ = strings.CutSuffix(numbers, ".jsonl.zst")
	first, last, _ := strings.Cut(numbers, "-")
	var err error
	if o.First, err = strconv.ParseUint(first, 10, 64); err != nil {
		return o, err
	}
	o.Last, err = strconv.ParseUint(last, 10, 64)
	return o, err
}

func parseLog(namespace, name string) (Object, error) {
	o := Object{Kind: LogHead, Capture: schema.Identity{Namespace: namespace}}
	if logHeadName(namespace) == logFolder(namespace)+name {
		return o, nil
	}
	o.Kind = LogEntry
	var err error
	if o.First, err = strconv.ParseUint(strings.TrimSuffix(name, ".json"), 10, 64); err != nil {
		return o, err
	}
	if want := logName(namespace, o.First); want != logFolder(namespace)+name {
		err = fmt.Errorf("it is written %q", want)
	}
	return o, err
}

// name writes a capture's object.
func (o Object) name() string {
	folder := Folder(o.Capture)
	switch o.Kind {
	case Frames:
		return folder + framesName(o.First, o.Last)
	case Events:
		return folder + eventsName(o.Session, o.First, o.Last)
	case Blob:
		return folder + blobName(o.SHA256)
	case BegunFile:
		return folder + begunName(o.First)
	case SealFile:
		return folder + sealName(o.Last)
	case Note:
		return folder + noteName(sealName(o.Last))
	}
	return ""
}
