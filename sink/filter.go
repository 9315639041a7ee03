package sink

import (
	"slices"
	"strings"
	"time"

	"github.com/steno-io/steno/schema"
)

// Filter leaves a part of the transcripts. What is empty leaves all; of the rest all must hold.
type Filter struct {
	Namespace string
	// Namespaces leave what is in any of them.
	Namespaces []string
	Protocol   schema.Protocol
	// Agent is a part of the agent's name, in upper or lower case as one likes.
	Agent  string
	Status schema.Status
	// Parked are captures whose transcripts have the status parked, whatever the ledger says of them. Lines
	// that are given are as the ledger has them. The map is read only.
	Parked map[schema.Identity]bool
	Labels map[string]string // each with just this value
	// Since and Until bound, the second exclusively, when something was said last (LastAt, or AddedAt where
	// nothing was); in a search, when what is found was said.
	Since, Until time.Time
}

// Match reports whether a line of the list is one of those that the filter leaves.
func (f Filter) Match(s Summary) bool {
	at := s.LastAt
	if at.IsZero() {
		at = s.AddedAt
	}
	return f.About(s) && f.During(at)
}

// During reports whether a time is between Since and Until.
func (f Filter) During(at time.Time) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Until.IsZero() || at.Before(f.Until))
}

// About is Match without the times.
func (f Filter) About(s Summary) bool {
	for k, v := range f.Labels {
		if have, ok := s.Labels[k]; !ok || have != v {
			return false
		}
	}
	return (f.Namespace == "" || f.Namespace == s.Transcript.Namespace) &&
		(len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, s.Transcript.Namespace)) &&
		(f.Protocol == "" || f.Protocol == s.Protocol) &&
		(f.Status == "" || f.Status == f.status(s)) &&
		f.IsAgent(s.Agent)
}

// status is a line's, with what is parked.
func (f Filter) status(s Summary) schema.Status {
	if f.Parked[s.Transcript.Identity] {
		return schema.StatusParked
	}
	return s.Status
}

// IsAgent reports whether Agent is a part of an agent's name.
func (f Filter) IsAgent(name string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(f.Agent))
}
