package schema

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// MaxToken is the longest name part of an identity, in bytes.
const MaxToken = 64

// idSpace is the UUIDv5 name space of everything that steno names by content. It is fixed for ever:
// event ids are derived from it.
var idSpace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/steno-io/steno"))

// Identity names a capture: what one identity's ingest reads. Namespace, Workflow and Run are
// tokens of [A-Za-z0-9_-]{1,64}.
type Identity struct {
	Namespace string
	Workflow  string
	Run       string
	Activity  uint64
	Attempt   uint32
}

// String writes the identity as namespace/workflow/run/activity/attempt.
func (id Identity) String() string {
	return id.join("/")
}

// Subject writes the identity as five subject tokens.
func (id Identity) Subject() string {
	return id.join(".")
}

func (id Identity) join(sep string) string {
	return strings.Join([]string{
		id.Namespace, id.Workflow, id.Run,
		strconv.FormatUint(id.Activity, 10), strconv.FormatUint(uint64(id.Attempt), 10),
	}, sep)
}

// Validate reports the first part that is not a token of its kind.
func (id Identity) Validate() error {
	for _, part := range []struct{ name, value string }{
		{"namespace", id.Namespace}, {"workflow", id.Workflow}, {"run", id.Run},
	} {
		if !IsToken(part.value) {
			return fmt.Errorf("check identity %s: %s %q is not 1 to %d characters of [A-Za-z0-9_-]",
				id, part.name, part.value, MaxToken)
		}
	}
	return nil
}

// Partition is the partition of the identity among n, which must not be 0: FNV-1a 32 of its five tokens, modulo n. It
// is the number that a NATS subject transform {{partition(n,…)}} over the same tokens computes.
func (id Identity) Partition(n uint32) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id.join(""))) // a hash.Hash never returns an error
	return h.Sum32() % n
}

// UUID derives the UUIDv5 of a name within this identity; equal names give equal ids on every run.
func (id Identity) UUID(name string) uuid.UUID {
	return uuid.NewSHA1(id.space(), []byte(name))
}

func (id Identity) space() uuid.UUID {
	return uuid.NewSHA1(idSpace, []byte(id.String()))
}

// RunOf derives the run of a capture that is named by content, such as an imported file's SHA-256:
// UUIDv5 of the name.
func RunOf(name string) string {
	return uuid.NewSHA1(idSpace, []byte("run/"+name)).String()
}

// ConversationRun derives the run of an A2A conversation: UUIDv5 of the peer's name and the contextId, or
// the exchange's id where no contextId ever comes. Every replica of a proxy names the same capture.
func ConversationRun(peer, conversation string) string {
	return RunOf("a2a/" + peer + "\x00" + conversation)
}

// ParseIdentity reads namespace/workflow/run/activity/attempt.
func ParseIdentity(s string) (Identity, error) {
	return parseIdentity(s, "/")
}

// ParseIdentitySubject reads five subject tokens.
func ParseIdentitySubject(s string) (Identity, error) {
	return parseIdentity(s, ".")
}

func parseIdentity(s, sep string) (Identity, error) {
	parts := strings.Split(s, sep)
	if len(parts) != 5 {
		return Identity{}, fmt.Errorf("parse identity %q: want 5 parts, got %d", s, len(parts))
	}
	activity, err := parseNumber(parts[3], 64)
	if err != nil {
		return Identity{}, fmt.Errorf("parse identity %q: activity: %w", s, err)
	}
	attempt, err := parseNumber(parts[4], 32)
	if err != nil {
		return Identity{}, fmt.Errorf("parse identity %q: attempt: %w", s, err)
	}
	id := Identity{Namespace: parts[0], Workflow: parts[1], Run: parts[2], Activity: activity, Attempt: uint32(attempt)}
	if err := id.Validate(); err != nil {
		return Identity{}, err
	}
	return id, nil
}

// parseNumber reads a decimal without sign or leading zeros, so that one number has one spelling.
func parseNumber(s string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		return 0, err
	}
	if len(s) > 1 && s[0] == '0' {
		return 0, fmt.Errorf("number %q is not in its shortest form", s)
	}
	return n, nil
}

// IsToken reports whether s may stand as a name in an identity.
func IsToken(s string) bool {
	if len(s) == 0 || len(s) > MaxToken {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !tokenByte(s[i]) {
			return false
		}
	}
	return true
}

// Token makes a token of a name: other characters become "_", cut at 64; an empty name is "_".
func Token(name string) string {
	var b strings.Builder
	for _, r := range name {
		if b.Len() == MaxToken {
			break
		}
		if r < 128 && tokenByte(byte(r)) {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('_')
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// Transcript names what is listed, numbered, followed and archived: one session of a capture.
type Transcript struct {
	Identity
	Session uint32
}

// String writes the transcript's key, namespace/workflow/run/activity/attempt/session.
func (t Transcript) String() string {
	return t.Identity.String() + "/" + strconv.FormatUint(uint64(t.Session), 10)
}

// ParseTranscript reads a transcript's key.
func ParseTranscript(s string) (Transcript, error) {
	cut := strings.LastIndexByte(s, '/')
	if cut < 0 {
		return Transcript{}, fmt.Errorf("parse transcript key %q: want 6 parts, got 1", s)
	}
	id, err := ParseIdentity(s[:cut])
	if err != nil {
		return Transcript{}, fmt.Errorf("parse transcript key %q: %w", s, err)
	}
	session, err := parseNumber(s[cut+1:], 32)
	if err != nil {
		return Transcript{}, fmt.Errorf("parse transcript key %q: session: %w", s, err)
	}
	return Transcript{Identity: id, Session: uint32(session)}, nil
}
