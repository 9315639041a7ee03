package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Partitions is the number of partitions of a new deployment. The number in the streams' metadata
// counts; it is fixed for the streams' life.
const Partitions = 32

// Subjects of the streams, and what each stands before.
const (
	RawSubjects   = "steno.raw.>"
	EventSubjects = "steno.event.>"
	StateSubjects = "steno.state.>"

	StoredSubjects = "steno.stored.>" // wake-ups of all transcripts, which no stream keeps

	rawPrefix       = "steno.raw."
	eventPrefix     = "steno.event."
	statePrefix     = "steno.state."
	deltaPrefix     = "steno.delta."
	openPrefix      = "steno.open."
	redrivePrefix   = "steno.redrive."
	storedPrefix    = "steno.stored."
	intervenePrefix = "steno.intervene."
)

// RawSubject is where the capture's frames are stored, one subject a capture: the append is fenced
// on it.
func RawSubject(id Identity, partitions uint32) string {
	return rawPrefix + partitioned(id, partitions)
}

// RawPartition is the filter of one partition's frames.
func RawPartition(p uint32) string {
	return rawPrefix + strconv.FormatUint(uint64(p), 10) + ".>"
}

// EventSubject is where the capture's records are stored; the commit is fenced on it.
func EventSubject(id Identity, partitions uint32) string {
	return eventPrefix + partitioned(id, partitions)
}

// EventPartition is the filter of one partition's records.
func EventPartition(p uint32) string {
	return eventPrefix + strconv.FormatUint(uint64(p), 10) + ".>"
}

// StateSubject holds the last snapshot of the capture's fold.
func StateSubject(id Identity, partitions uint32) string {
	return statePrefix + partitioned(id, partitions)
}

// StatePartition is the filter of one partition's snapshots.
func StatePartition(p uint32) string {
	return statePrefix + strconv.FormatUint(uint64(p), 10) + ".>"
}

// OpenSubject is where the owner of the capture's partition answers what is open in it.
func OpenSubject(id Identity, partitions uint32) string {
	return openPrefix + partitioned(id, partitions)
}

// OpenPartition is the filter of the open requests for one partition's captures.
func OpenPartition(p uint32) string {
	return openPrefix + strconv.FormatUint(uint64(p), 10) + ".>"
}

// RedriveSubject is where the sink that stores the capture's partition is asked to take it out of the
// ledger's park.
func RedriveSubject(id Identity, partitions uint32) string {
	return redrivePrefix + partitioned(id, partitions)
}

// RedrivePartition is the filter of such requests for one partition's captures.
func RedrivePartition(p uint32) string {
	return redrivePrefix + strconv.FormatUint(uint64(p), 10) + ".>"
}

// DeltaSubject carries a transcript's ephemeral events on core NATS; they are never stored.
func DeltaSubject(t Transcript) string {
	return deltaPrefix + transcriptTokens(t)
}

// StoredSubject carries a wake-up with the transcript's new head after each ledger commit.
func StoredSubject(t Transcript) string {
	return storedPrefix + transcriptTokens(t)
}

// InterveneSubject is where somebody's interventions in a capture go. by is a token that names who that is:
// NATS does not tell a receiver who has sent a message, but a user's permissions can say which last token
// he may use, and so the subject does.
func InterveneSubject(id Identity, by string) string {
	return intervenePrefix + id.Subject() + "." + by
}

// InterveneSubjects is the filter by which the process that owns the capture's connection takes everybody's
// interventions.
func InterveneSubjects(id Identity) string { return InterveneSubject(id, "*") }

// ParseIntervener reads who an intervention on that subject is from.
func ParseIntervener(subject string) (by string, err error) {
	_, by, err = ParseInterveneSubject(subject)
	return by, err
}

// ParseInterveneSubject reads in which capture an intervention on that subject is to be, and who it is from.
func ParseInterveneSubject(subject string) (id Identity, by string, err error) {
	rest, ok := strings.CutPrefix(subject, intervenePrefix)
	cut := strings.LastIndexByte(rest, '.')
	if !ok || cut < 0 || !IsToken(rest[cut+1:]) {
		return id, "", fmt.Errorf("parse subject %q: want steno.intervene.<identity>.<who>", subject)
	}
	if id, err = ParseIdentitySubject(rest[:cut]); err != nil {
		return id, "", fmt.Errorf("parse subject %q: %w", subject, err)
	}
	return id, rest[cut+1:], nil
}

// ParseSubject reads a raw, event, state, open or redrive subject: its partition and identity.
func ParseSubject(subject string) (partition uint32, id Identity, err error) {
	for _, prefix := range []string{rawPrefix, eventPrefix, statePrefix, openPrefix, redrivePrefix} {
		rest, ok := strings.CutPrefix(subject, prefix)
		if !ok {
			continue
		}
		head, tail, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		n, err := parseNumber(head, 32)
		if err != nil {
			return 0, Identity{}, fmt.Errorf("parse subject %q: partition: %w", subject, err)
		}
		id, err := ParseIdentitySubject(tail)
		if err != nil {
			return 0, Identity{}, fmt.Errorf("parse subject %q: %w", subject, err)
		}
		return uint32(n), id, nil
	}
	return 0, Identity{}, fmt.Errorf("parse subject %q: want steno.{raw,event,state,open,redrive}.<partition>.<identity>", subject)
}

// ParseTranscriptSubject reads a delta or stored subject.
func ParseTranscriptSubject(subject string) (Transcript, error) {
	for _, prefix := range []string{deltaPrefix, storedPrefix} {
		if rest, ok := strings.CutPrefix(subject, prefix); ok && !strings.Contains(rest, "/") {
			return ParseTranscript(strings.ReplaceAll(rest, ".", "/"))
		}
	}
	return Transcript{}, fmt.Errorf("parse subject %q: want steno.{delta,stored}.<transcript>", subject)
}

func partitioned(id Identity, partitions uint32) string {
	return strconv.FormatUint(uint64(id.Partition(partitions)), 10) + "." + id.Subject()
}

func transcriptTokens(t Transcript) string {
	return t.Subject() + "." + strconv.FormatUint(uint64(t.Session), 10)
}

// IsInbox reports whether an answer may go to a subject. Whoever asks names it, and may have no right to
// publish there; who answers does, and NATS checks no permission on it: so it must be one on which nothing but
// answers goes, which are those below a token that begins with _INBOX, and the server's own for askers of
// another account.
func IsInbox(reply string) bool {
	head, rest, _ := strings.Cut(reply, ".")
	return (strings.HasPrefix(head, "_INBOX") || head == "_R_") && rest != "" && !strings.ContainsAny(reply, "*> ")
}
