package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Headers of a snapshot on STENO_STATE, beside Steno-Seq, Steno-Chain, Steno-Origin, Steno-Translator and
// Steno-Blob.
const (
	HeaderStreamSeq   = "Steno-Stream-Seq"
	HeaderCreated     = "Steno-Stream-Created"
	HeaderOriginChain = "Steno-Origin-Chain"
	HeaderHeld        = "Steno-Held"
	HeaderSHA         = "Steno-Sha256"
)

// Snapshot is how the fold of a capture stood behind one of its frames. It is a cache: whoever finds it
// lacking folds the frames.
type Snapshot struct {
	Frame      uint64    // the last one folded, from 1
	StreamSeq  uint64    // of that frame on STENO_RAW
	Created    time.Time // of STENO_RAW
	Chain      string    // of that frame
	Last       Origin    // of the last durable event that the fold has given; zero before the first
	LastChain  string    // of Last's frame
	Translator string
	Held       uint64 // open messages
	State      []byte // not read by anybody but the stage that wrote it
}

// ErrSnapshot marks a snapshot that is damaged, or another capture's.
var ErrSnapshot = errors.New("snapshot not to be trusted")

// Header writes the snapshot's headers, the hash of all of it among them.
func (s *Snapshot) Header(id Identity) map[string][]string {
	h := map[string][]string{
		HeaderSeq:        {strconv.FormatUint(s.Frame, 10)},
		HeaderStreamSeq:  {strconv.FormatUint(s.StreamSeq, 10)},
		HeaderCreated:    {s.Created.UTC().Format(time.RFC3339Nano)},
		HeaderChain:      {s.Chain},
		HeaderTranslator: {s.Translator},
		HeaderHeld:       {strconv.FormatUint(s.Held, 10)},
	}
	if s.Last != (Origin{}) {
		h[HeaderOrigin] = []string{s.Last.String()}
		h[HeaderOriginChain] = []string{s.LastChain}
	}
	h[HeaderSHA] = []string{snapshotSum(id, h, s.State)}
	return h
}

// snapshotSum is the SHA-256 over the capture's name, the headers as sorted name:value lines, and the
// state.
func snapshotSum(id Identity, h map[string][]string, state []byte) string {
	b := append([]byte(id.String()), '\n')
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == HeaderSHA || name == HeaderBlob {
			continue
		}
		for _, value := range h[name] {
			b = append(append(append(append(b, name...), ':'), value...), '\n')
		}
	}
	sum := sha256.New()
	sum.Write(b)
	sum.Write(state)
	return hex.EncodeToString(sum.Sum(nil))
}

// SnapshotFromHeader reads a snapshot's headers; State stays empty and nothing is proved.
func SnapshotFromHeader(h map[string][]string) (Snapshot, error) {
	get, err := headerReader(h, HeaderSeq, HeaderStreamSeq, HeaderCreated, HeaderChain, HeaderOrigin, HeaderOriginChain,
		HeaderTranslator, HeaderHeld, HeaderSHA)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Chain: get(HeaderChain), LastChain: get(HeaderOriginChain), Translator: get(HeaderTranslator)}
	for name, n := range map[string]*uint64{HeaderSeq: &s.Frame, HeaderStreamSeq: &s.StreamSeq, HeaderHeld: &s.Held} {
		if *n, err = parseNumber(get(name), 64); err != nil {
			return Snapshot{}, headerError(name, get(name), err)
		}
	}
	if s.Created, err = parseAt(get(HeaderCreated)); err != nil {
		return Snapshot{}, headerError(HeaderCreated, get(HeaderCreated), err)
	}
	if origin := get(HeaderOrigin); origin != "" {
		if s.Last, err = ParseOrigin(origin); err != nil {
			return Snapshot{}, headerError(HeaderOrigin, origin, err)
		}
	}
	return s, nil
}

// DecodeSnapshot reads the snapshot of a capture; its state stays a part of payload. An error wraps
// ErrSnapshot.
func DecodeSnapshot(id Identity, h map[string][]string, payload []byte) (Snapshot, error) {
	s, err := SnapshotFromHeader(h)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read snapshot of %s: %w: %w", id, err, ErrSnapshot)
	}
	s.State = payload
	// What the headers say again must be what they said, so that none is there that is not understood.
	want := s.Header(id)
	for name, value := range h {
		if strings.HasPrefix(name, "Steno-") && name != HeaderBlob && !slices.Equal(value, want[name]) {
			return Snapshot{}, fmt.Errorf("read snapshot of %s: header %s is %q, the rest gives %q: %w", id, name, value, want[name], ErrSnapshot)
		}
	}
	if len(h[HeaderSHA]) == 0 {
		return Snapshot{}, fmt.Errorf("read snapshot of %s: no header %s: %w", id, HeaderSHA, ErrSnapshot)
	}
	return s, nil
}
