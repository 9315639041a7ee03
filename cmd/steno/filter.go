package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
)

// filterFlags leave a part of the transcripts.
type filterFlags struct {
	namespace, agent, protocol, status, since, until string
	labels                                           []string
}

// register adds the flags; times says what of a transcript --since and --until are about.
func (f *filterFlags) register(cmd *cobra.Command, times string) {
	p := cmd.Flags()
	p.StringVar(&f.namespace, "namespace", "", "only transcripts of that namespace")
	p.StringVar(&f.agent, "agent", "", "only those whose agent's name has this in it, in upper or lower case")
	p.StringVar(&f.protocol, "protocol", "", "only those of acp or a2a")
	p.StringVar(&f.status, "status", "", "only those that are open, ended, abandoned or parked")
	p.StringVar(&f.since, "since", "", "only "+times+" since then: how long ago (2h, 7d), a day (2026-11-29) or a time (RFC 3339)")
	p.StringVar(&f.until, "until", "", "only "+times+" before then, likewise")
	p.StringArrayVar(&f.labels, "label", nil, "only those with that label, k=v; all of several")
}

var (
	protocolNames = []schema.Protocol{schema.ACP, schema.A2A}
	statusNames   = []schema.Status{schema.StatusOpen, schema.StatusEnded, schema.StatusAbandoned, schema.StatusParked}
)

// filter reads the flags; times are told from now.
func (f *filterFlags) filter(a *app, now time.Time) (sink.Filter, error) {
	out := sink.Filter{
		Namespace: f.namespace, Agent: f.agent, Protocol: schema.Protocol(f.protocol), Status: schema.Status(f.status),
	}
	if f.namespace != "" && !schema.IsToken(f.namespace) {
		return out, a.badValue(fmt.Errorf("--namespace %q: want 1 to %d characters of [A-Za-z0-9_-]", f.namespace, schema.MaxToken), "namespace")
	}
	if f.protocol != "" && !slices.Contains(protocolNames, out.Protocol) {
		return out, a.badValue(fmt.Errorf("--protocol %q: want acp or a2a", f.protocol), "protocol")
	}
	if f.status != "" && !slices.Contains(statusNames, out.Status) {
		return out, a.badValue(fmt.Errorf("--status %q: want open, ended, abandoned or parked", f.status), "status")
	}
	var err error
	if out.Labels, err = parseLabels(f.labels); err != nil {
		return out, a.badValue(err, "label")
	}
	if out.Since, err = sink.ParseMoment(f.since, now); err != nil {
		return out, a.badValue(fmt.Errorf("--since %w", err), "since")
	}
	if out.Until, err = sink.ParseMoment(f.until, now); err != nil {
		return out, a.badValue(fmt.Errorf("--until %w", err), "until")
	}
	return out, nil
}
