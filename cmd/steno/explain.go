package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
)

// explainFlags say where an event is looked for, and how it is explained.
type explainFlags struct {
	archive string
	key     keyFlag
	full    bool
	json    bool
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain KEY#NUMBER",
		Short: "Show where an event comes from, and what proves it",
		Long: `explain shows an event with the frames that it is made of: their bytes as they came, and
where in them what it says stands; the rule of the translator that made it; and the
proof: the chain over the frames, folded again up to there, and, with --archive, the
path from the frame's leaf to the root that a seal signs.

KEY names a transcript as in other commands; NUMBER is the event's store_seq, as
steno search and show --json give it. KEY@NUMBER is the same, and so is the address
of an item in the console. With --archive, of a directory or a bundle, all is read
from there, and nothing else is needed; KEY is then a part of the key, not of a title.

It ends with 0 when the frames give the event again, with 10 when they do not, or
something on the way to the signature does not fit, with 12 when the signature is not
good, and with 1 when this build does not have the event's translator version.`,
		Example: `  steno explain fix-the-mill#14
  steno explain fix-the-mill#14 --archive /srv/archive --key mill.pub
  steno explain 4f1c#9 --archive sacks.tar --json | jq .inclusion`,
		Args: onlyOne("which event? such as: steno explain KEY#14"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.explain(cmd.Context(), args[0], &f) },
	}
	p := cmd.Flags()
	p.StringVar(&f.archive, "archive", "", "archive or bundle to read, in the place of the ledger and the streams")
	f.key.register(cmd)
	p.BoolVar(&f.full, "full", false, "show every frame, and all of its bytes")
	p.BoolVar(&f.json, "json", false, "print one JSON object")
	a.ledgerFlag(cmd)
	return cmd
}

// eventName takes KEY#NUMBER apart, or an item's address in the console.
func eventName(name string) (key string, number uint64, err error) {
	if _, path, ok := strings.Cut(name, "/t/"); ok && strings.Contains(name, "://") {
		name = strings.Replace(path, "?seq=", "#", 1)
	}
	at := strings.LastIndexAny(name, "#@")
	if at > 0 {
		number, err = strconv.ParseUint(name[at+1:], 10, 64)
	}
	if at <= 0 || err != nil || number == 0 {
		return "", 0, usage("explain %q: want KEY#NUMBER, such as fix-the-mill#14", name)
	}
	return name[:at], number, nil
}

func (a *app) explain(ctx context.Context, name string, f *explainFlags) error {
	key, number, err := eventName(name)
	if err != nil {
		return err
	}
	if f.archive == "" && f.key != "" {
		return usage("--key: it is for --archive")
	}
	if f.archive != "" {
		return a.explainSealed(ctx, key, number, f)
	}
	return a.withTranscript(ctx, "explain", []string{key}, func(ctx context.Context, s *session, t sink.Summary) error {
		library, err := s.library(ctx)
		if err != nil {
			return err
		}
		e := &explaining{library: library, key: t.Transcript, number: number}
		if err := e.run(ctx, 0); err != nil {
			return err
		}
		return a.sayExplained(e, f)
	})
}

// explainSealed explains an event by an archive alone.
func (a *app) explainSealed(ctx context.Context, part string, number uint64, f *explainFlags) error {
	trusted, err := a.trustedKey(f.key)
	if err != nil {
		return err
	}
	store, single, err := openArchive(ctx, f.archive)
	if err != nil {
		return err
	}
	contents, err := archive.Open(ctx, store, mayBeOf(part))
	if err != nil {
		return err
	}
	defer contents.Close()
	e := &explaining{library: &library{contents, contents.FramesOf}, archived: true, number: number}
	if e.key, err = e.library.find(ctx, part); err != nil {
		return err
	}
	event, err := e.event(ctx)
	if err != nil {
		return err
	}
	if e.sealing, err = contents.Sealing(ctx, e.key.Identity, event.WorkerSeq, trusted, single); err != nil {
		return err
	}
	upTo := uint64(0)
	if e.sealing != nil {
		upTo = e.sealing.Seal.Last
	}
	if err := e.run(ctx, upTo); err != nil {
		return err
	}
	return a.sayExplained(e, f)
}

// mayBeOf tells of which captures a transcript may be that a part of a key names: what is wrong with others is
// then nothing to it.
func mayBeOf(part string) func(schema.Identity) bool {
	part = strings.TrimRight(part, "0123456789") // of a session
	return func(id schema.Identity) bool { return strings.Contains(id.String()+"/", part) }
}

// find finds the transcript that a part of a key names; ACP's connections go behind, as they do in a ledger.
func (s *library) find(ctx context.Context, part string) (schema.Transcript, error) {
	var found, connections []schema.Transcript
	for info, err := range s.captures(ctx) {
		if err != nil {
			return schema.Transcript{}, err
		}
		for _, session := range info.Sessions {
			key := schema.Transcript{Identity: info.Capture.Capture, Session: session.Session}
			if key.String() == part {
				return key, nil
			}
			switch {
			case !strings.Contains(key.String(), part):
			case session.Session == 0 && protocolOf(info.Translator) == string(schema.ACP):
				connections = append(connections, key)
			default:
				found = append(found, key)
			}
		}
	}
	if len(found) == 0 {
		found = connections
	}
	switch len(found) {
	case 0:
		return schema.Transcript{}, fmt.Errorf("find transcript %q: no key in the archive has it", part)
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, key := range found {
		names[i] = "\n  " + key.String()
	}
	return schema.Transcript{}, usage("find transcript %q: %d transcripts have it; give more of one:%s", part, len(found), strings.Join(names, ""))
}
