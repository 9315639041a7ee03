package archive

import (
	"bytes"
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/steno-io/steno/schema"
)

// SealVersion is the version of a Seal's JSON that this package writes and reads.
const SealVersion = 1

// maxNumber bounds the numbers of frames and events: any reader of JSON has it exactly.
const maxNumber = 1<<53 - 1

// Seal says what of a capture is in the archive, up to one of its frames, and by what it can be
// recognised. It has no time and nothing else that another run would not give again: sealed twice, the same
// frames give the same bytes.
type Seal struct {
	Version    int               `json:"steno_seal"`
	Capture    string            `json:"capture"` // its identity
	Protocol   schema.Protocol   `json:"protocol"`
	Translator string            `json:"translator"`  // the version that folded the frames
	Last       uint64            `json:"last_frame"`  // the seal covers frames 1 to this one, which ends a record
	Origin     string            `json:"last_origin"` // of the last event: frame.part
	Chain      string            `json:"chain"`       // of the last frame; see schema.ChainHash
	Root       tlog.Hash         `json:"root"`        // RFC 6962, over the leaves of frames 1 to Last, in base64
	Edge       []tlog.Hash       `json:"edge"`        // roots of that tree's full subtrees, from the left: the next seal goes on from them
	Sessions   []Heads           `json:"sessions"`    // in ascending order
	Open       map[uint32]uint64 `json:"open"`        // by session: frames in messages that were still open
	Gaps       uint64            `json:"gaps"`        // gap frames among 1 to Last
	Previous   *Link             `json:"previous"`    // null in a capture's first seal
	Files      []File            `json:"files"`       // what this seal adds, by name
}

// Heads is how far a session is sealed.
type Heads struct {
	Session uint32 `json:"session"`
	Head    uint64 `json:"head"` // number of the last event
}

// Link names a seal by its content.
type Link struct {
	Last   uint64 `json:"last_frame"`
	SHA256 string `json:"sha256"` // of its JSON, in hex
}

// Encode writes the seal's JSON, indented, with a line feed at its end.
func (s *Seal) Encode() ([]byte, error) {
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write seal of %s up to frame %d: %w", s.Capture, s.Last, err)
	}
	return append(out, '\n'), nil
}

// DecodeSeal reads a seal and checks that it is one: known fields only, and written as Encode writes it, so
// that no byte of it is without a meaning.
func DecodeSeal(data []byte) (Seal, error) {
	var s Seal
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Seal{}, fmt.Errorf("read seal: %w", err)
	}
	if s.Version != SealVersion {
		return Seal{}, fmt.Errorf("read seal: its version is %d, this build reads %d", s.Version, SealVersion)
	}
	if err := s.validate(); err != nil {
		return Seal{}, fmt.Errorf("read seal of %s up to frame %d: %w", s.Capture, s.Last, err)
	}
	again, err := s.Encode()
	if err != nil {
		return Seal{}, err
	}
	if !bytes.Equal(again, data) {
		return Seal{}, fmt.Errorf("read seal of %s up to frame %d: byte %d is not as a seal is written", s.Capture, s.Last, differAt(again, data))
	}
	return s, nil
}

func (s *Seal) validate() error {
	if _, err := schema.ParseIdentity(s.Capture); err != nil {
		return err
	}
	if s.Last == 0 {
		return fmt.Errorf("it covers no frame")
	}
	if s.Last > maxNumber {
		return fmt.Errorf("no capture has %d frames", s.Last)
	}
	origin, err := schema.ParseOrigin(s.Origin)
	if err != nil {
		return err
	}
	if origin.Frame != s.Last {
		return fmt.Errorf("its last event %s is not of its last frame", s.Origin)
	}
	tree, err := NewTree(s.Last, s.Edge)
	if err != nil {
		return err
	}
	if tree.Root() != s.Root {
		return fmt.Errorf("its root is %s, its edge gives %s", s.Root, tree.Root())
	}
	for i := 1; i < len(s.Sessions); i++ {
		if s.Sessions[i-1].Session >= s.Sessions[i].Session {
			return fmt.Errorf("sessions are not in ascending order")
		}
	}
	for _, h := range s.Sessions {
		if h.Head > maxNumber {
			return fmt.Errorf("no session has %d events", h.Head)
		}
	}
	for _, f := range s.Files {
		if f.Content != nil && (f.Content.Bytes < 0 || f.Content.Bytes > maxContent) {
			return fmt.Errorf("no part unpacks to %d bytes, as %s is to", f.Content.Bytes, f.Name)
		}
	}
	if s.Previous != nil && s.Previous.Last >= s.Last {
		return fmt.Errorf("the seal before it goes up to frame %d", s.Previous.Last)
	}
	return nil
}

// head is the number of a session's last event under the seal; of no seal it is 0.
func (s *Seal) head(session uint32) uint64 {
	if s == nil {
		return 0
	}
	for _, h := range s.Sessions {
		if h.Session == session {
			return h.Head
		}
	}
	return 0
}

// differAt is where two texts part.
func differAt(a, b []byte) int {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return at
}
