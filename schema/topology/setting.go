package topology

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// setting is one property of a stream that must hold: how it reads, and how it is copied from the
// wanted configuration to an existing one.
type setting struct {
	name string
	read func(*jetstream.StreamConfig) string
	copy func(dst, want *jetstream.StreamConfig)
}

// settings are those that every process checks. A bound on bytes or messages is the operator's to
// set: with discard new a full stream refuses and forgets nothing.
var settings = []setting{
	{"subjects", func(c *jetstream.StreamConfig) string { return strings.Join(c.Subjects, ",") },
		func(dst, want *jetstream.StreamConfig) { dst.Subjects = want.Subjects }},
	{"retention", func(c *jetstream.StreamConfig) string { return c.Retention.String() },
		func(dst, want *jetstream.StreamConfig) { dst.Retention = want.Retention }},
	{"storage", func(c *jetstream.StreamConfig) string { return c.Storage.String() },
		func(dst, want *jetstream.StreamConfig) { dst.Storage = want.Storage }},
	{"discard", func(c *jetstream.StreamConfig) string { return c.Discard.String() },
		func(dst, want *jetstream.StreamConfig) { dst.Discard = want.Discard }},
	{"discard_new_per_subject", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.DiscardNewPerSubject) },
		func(dst, want *jetstream.StreamConfig) { dst.DiscardNewPerSubject = want.DiscardNewPerSubject }},
	{"max_age", func(c *jetstream.StreamConfig) string { return c.MaxAge.String() },
		func(dst, want *jetstream.StreamConfig) { dst.MaxAge = want.MaxAge }},
	{"max_msgs_per_subject", func(c *jetstream.StreamConfig) string { return bound(c.MaxMsgsPerSubject) },
		func(dst, want *jetstream.StreamConfig) { dst.MaxMsgsPerSubject = want.MaxMsgsPerSubject }},
	{"max_msg_size", func(c *jetstream.StreamConfig) string { return bound(int64(c.MaxMsgSize)) },
		func(dst, want *jetstream.StreamConfig) { dst.MaxMsgSize = want.MaxMsgSize }},
	{"no_ack", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.NoAck) },
		func(dst, want *jetstream.StreamConfig) { dst.NoAck = want.NoAck }},
	{"duplicate_window", func(c *jetstream.StreamConfig) string { return c.Duplicates.String() },
		func(dst, want *jetstream.StreamConfig) { dst.Duplicates = want.Duplicates }},
	{"allow_direct", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.AllowDirect) },
		func(dst, want *jetstream.StreamConfig) { dst.AllowDirect = want.AllowDirect }},
	{"deny_delete", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.DenyDelete) },
		func(dst, want *jetstream.StreamConfig) { dst.DenyDelete = want.DenyDelete }},
	{"allow_rollup_hdrs", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.AllowRollup) },
		func(dst, want *jetstream.StreamConfig) { dst.AllowRollup = want.AllowRollup }},
	{"allow_msg_ttl", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.AllowMsgTTL) },
		func(dst, want *jetstream.StreamConfig) { dst.AllowMsgTTL = want.AllowMsgTTL }},
	{"allow_atomic", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.AllowAtomicPublish) },
		func(dst, want *jetstream.StreamConfig) { dst.AllowAtomicPublish = want.AllowAtomicPublish }},
	{"persist_mode", func(c *jetstream.StreamConfig) string { return c.PersistMode.String() },
		func(dst, want *jetstream.StreamConfig) { dst.PersistMode = want.PersistMode }},
	{"sealed", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.Sealed) },
		func(dst, want *jetstream.StreamConfig) { dst.Sealed = want.Sealed }},
	{"mirror", func(c *jetstream.StreamConfig) string { return strconv.FormatBool(c.Mirror != nil) },
		func(dst, want *jetstream.StreamConfig) { dst.Mirror = want.Mirror }},
	{"sources", func(c *jetstream.StreamConfig) string { return strconv.Itoa(len(c.Sources)) },
		func(dst, want *jetstream.StreamConfig) { dst.Sources = want.Sources }},
	{"subject_transform", transform,
		func(dst, want *jetstream.StreamConfig) { dst.SubjectTransform = want.SubjectTransform }},
	{"partitions", func(c *jetstream.StreamConfig) string { return c.Metadata[partitionsKey] },
		func(dst, want *jetstream.StreamConfig) {
			if dst.Metadata == nil {
				dst.Metadata = map[string]string{}
			}
			dst.Metadata[partitionsKey] = want.Metadata[partitionsKey]
		}},
}

// bucketSettings are those of a bucket's stream that matter here; the rest is the client library's.
var bucketSettings = pick("storage", "discard", "max_age", "no_ack", "sealed", "mirror", "sources")

// ledSettings are those of a bucket whose keys are read from the leader, endingSettings those of one with
// keys that end, too.
var (
	ledSettings    = append(append([]setting(nil), bucketSettings...), pick("allow_direct")...)
	endingSettings = append(append([]setting(nil), ledSettings...), pick("allow_msg_ttl")...)
)

// replicas and maxBytes are the deployment's: planned and applied, but not checked.
var (
	replicas = setting{"num_replicas", func(c *jetstream.StreamConfig) string { return strconv.Itoa(c.Replicas) },
		func(dst, want *jetstream.StreamConfig) { dst.Replicas = want.Replicas }}
	maxBytes = setting{"max_bytes", func(c *jetstream.StreamConfig) string { return bound(c.MaxBytes) },
		func(dst, want *jetstream.StreamConfig) { dst.MaxBytes = want.MaxBytes }}
)

func pick(names ...string) []setting {
	var picked []setting
	for _, name := range names {
		for _, s := range settings {
			if s.name == name {
				picked = append(picked, s)
			}
		}
	}
	return picked
}

// bound writes a limit; the server takes every number below 1 as none.
func bound(n int64) string {
	if n < 1 {
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

func transform(c *jetstream.StreamConfig) string {
	if c.SubjectTransform == nil {
		return "none"
	}
	return fmt.Sprintf("%s to %s", c.SubjectTransform.Source, c.SubjectTransform.Destination)
}

// compare lists what differs.
func compare(settings []setting, want, got *jetstream.StreamConfig) []Difference {
	var out []Difference
	for _, s := range settings {
		if w, g := s.read(want), s.read(got); w != g {
			out = append(out, Difference{Setting: s.name, Want: w, Got: g})
		}
	}
	return out
}
