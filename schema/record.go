package schema

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Record is one message on STENO_EVENTS: all durable events of one or more consecutive frames of one
// capture.
type Record struct {
	Last       Origin            // of its last event
	First      map[uint32]uint64 // each session in it: the ordinal (from 1) of its first event here
	Chain      string            // of the frame of Last
	Translator string
	Open       map[uint32]uint64 // each session with open messages at Last: the frames in them so far
	About      map[uint32]About  // what changed about a session: a reader's index, not the transcript
	Events     [][]byte          // the events' encodings, store_seq null, in order of origin
}

// About is what a list shows of a transcript. It is made from the frames like the events are, and every
// text in it is cut to MaxAbout bytes. The title is the agent's own in ACP; in A2A it says what a
// conversation without a message holds, and is nothing once there is one.
type About struct {
	Agent  string            `json:"agent,omitempty"`
	Title  string            `json:"title,omitempty"`
	Cwd    string            `json:"cwd,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Status Status            `json:"status,omitempty"`
}

// MaxAbout bounds each text of an About, in bytes.
const MaxAbout = 512

// Status is how a transcript stands. Parked is the stages' word, the others come from the frames.
type Status string

// Statuses.
const (
	StatusOpen  Status = "open"
	StatusEnded Status = "ended"
	// StatusAbandoned: it has not ended, and nobody is left who would end it. Its tap died, or, in A2A, the
	// last exchange of every task that goes on broke off. A later frame opens it again.
	StatusAbandoned Status = "abandoned"
	StatusParked    Status = "parked"
)

// Equal reports whether both say the same.
func (a About) Equal(b About) bool {
	return a.Agent == b.Agent && a.Title == b.Title && a.Cwd == b.Cwd && a.Status == b.Status &&
		maps.Equal(a.Labels, b.Labels)
}

// Header writes the record's headers.
func (r *Record) Header() (map[string][]string, error) {
	h := map[string][]string{
		HeaderOrigin:     {r.Last.String()},
		HeaderOrdinals:   {joinCounts(r.First)},
		HeaderChain:      {r.Chain},
		HeaderTranslator: {r.Translator},
	}
	if len(r.Open) > 0 {
		h[HeaderOpen] = []string{joinCounts(r.Open)}
	}
	if len(r.About) > 0 {
		about, err := json.Marshal(r.About) // encoding/json sorts the keys of a map
		if err != nil {
			return nil, fmt.Errorf("write record %s: about: %w", r.Last, err)
		}
		h[HeaderAbout] = []string{base64.StdEncoding.EncodeToString(about)}
	}
	return h, nil
}

// Payload writes the events, each with a line feed behind it.
func (r *Record) Payload() []byte {
	var payload []byte
	for _, event := range r.Events {
		payload = append(payload, event...)
		payload = append(payload, '\n')
	}
	return payload
}

// RecordFromHeader reads a record's headers; Events stay empty.
func RecordFromHeader(h map[string][]string) (Record, error) {
	get, err := headerReader(h, HeaderOrigin, HeaderOrdinals, HeaderChain, HeaderTranslator, HeaderOpen, HeaderAbout)
	if err != nil {
		return Record{}, err
	}
	r := Record{Chain: get(HeaderChain), Translator: get(HeaderTranslator)}
	if r.Last, err = ParseOrigin(get(HeaderOrigin)); err != nil {
		return Record{}, headerError(HeaderOrigin, get(HeaderOrigin), err)
	}
	if r.First, err = splitCounts(get(HeaderOrdinals)); err != nil {
		return Record{}, headerError(HeaderOrdinals, get(HeaderOrdinals), err)
	}
	if r.Open, err = splitCounts(get(HeaderOpen)); err != nil {
		return Record{}, headerError(HeaderOpen, get(HeaderOpen), err)
	}
	if about := get(HeaderAbout); about != "" {
		data, err := base64.StdEncoding.DecodeString(about)
		if err == nil {
			err = json.Unmarshal(data, &r.About)
		}
		if err != nil {
			return Record{}, headerError(HeaderAbout, about, err)
		}
	}
	return r, nil
}

// DecodeRecord reads a record with its events, which stay parts of payload.
func DecodeRecord(h map[string][]string, payload []byte) (Record, error) {
	r, err := RecordFromHeader(h)
	if err != nil {
		return Record{}, err
	}
	for line := range bytes.Lines(payload) {
		event, ok := bytes.CutSuffix(line, []byte{'\n'})
		if !ok || len(event) == 0 {
			return Record{}, fmt.Errorf("read record %s: event %d: want a line with its line feed, got %d bytes", r.Last, len(r.Events)+1, len(line))
		}
		r.Events = append(r.Events, event)
	}
	return r, nil
}

// ParseOrigin reads frame.part.
func ParseOrigin(s string) (Origin, error) {
	frame, part, ok := strings.Cut(s, ".")
	if !ok {
		return Origin{}, fmt.Errorf("parse origin %q: want frame.part", s)
	}
	f, err := parseNumber(frame, 64)
	if err != nil {
		return Origin{}, fmt.Errorf("parse origin %q: frame: %w", s, err)
	}
	p, err := parseNumber(part, 32)
	if err != nil {
		return Origin{}, fmt.Errorf("parse origin %q: part: %w", s, err)
	}
	return Origin{Frame: f, Part: uint32(p)}, nil
}

// joinCounts writes session:count pairs in the order of the sessions.
func joinCounts(counts map[uint32]uint64) string {
	var b strings.Builder
	for i, session := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(uint64(session), 10))
		b.WriteByte(':')
		b.WriteString(strconv.FormatUint(counts[session], 10))
	}
	return b.String()
}

// splitCounts reads what joinCounts writes, in its one spelling.
func splitCounts(s string) (map[uint32]uint64, error) {
	last := int64(-1)
	counts := map[uint32]uint64{}
	if s == "" {
		return counts, nil
	}
	for pair := range strings.SplitSeq(s, ",") {
		session, count, ok := strings.Cut(pair, ":")
		if !ok {
			return nil, fmt.Errorf("want session:count pairs, got %q", pair)
		}
		n, err := parseNumber(session, 32)
		if err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
		if int64(n) <= last {
			return nil, fmt.Errorf("session %d twice or out of order", n)
		}
		last = int64(n)
		c, err := parseNumber(count, 64)
		if err != nil {
			return nil, fmt.Errorf("count: %w", err)
		}
		counts[uint32(n)] = c
	}
	return counts, nil
}
