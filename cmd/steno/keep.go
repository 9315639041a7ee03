package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/keeper"
	"github.com/steno-io/steno/translate/stage"
)

// keepFlags say whether captures are sealed by themselves, where to, and what is given back and dropped then.
type keepFlags struct {
	to   archiveFlags
	idle time.Duration
	back string // as --give-back says it
	keep time.Duration
	old  string // as --drop-sealed says it
	drop time.Duration
	key  string
}

// leastKeep is the shortest time that is given to whoever else reads the streams.
const leastKeep = time.Hour

func (f *keepFlags) register(cmd *cobra.Command) {
	p := cmd.Flags()
	f.to.register(p, "seal captures by itself into this archive: a directory, or s3://bucket/prefix")
	p.DurationVar(&f.idle, "seal-idle", keeper.DefaultIdle, "with --archive: how long a capture that has not ended must have been silent")
	p.StringVar(&f.back, "give-back", "0", "with --archive: take what is sealed, and was stored so long ago, such as 30d, at least 1h, from the streams (0: nothing)")
	p.StringVar(&f.old, "drop-sealed", "0", "with --archive: take events that are sealed, and so old, such as 180d, at least 1h, from the ledger, which reads them in the archive then (0: none)")
	p.StringVar(&f.key, "signing-key", "", "with --archive: file with the private key, or the key itself")
}

func (a *app) checkKeep(f *keepFlags) error {
	if f.to.place == "" {
		for _, flag := range []string{"seal-idle", "signing-key", "object-lock", "object-lock-mode", "legal-hold"} {
			if a.given(flag) {
				return usage("--%s: it is for --archive", flag)
			}
		}
	}
	var ok bool
	if f.keep, ok = sink.ParsePeriod(f.back); !ok {
		return a.badValue(fmt.Errorf("--give-back %q: want how long, such as 30d or 720h", f.back), "give-back")
	}
	if f.drop, ok = sink.ParsePeriod(f.old); !ok {
		return a.badValue(fmt.Errorf("--drop-sealed %q: want how long, such as 180d or 720h", f.old), "drop-sealed")
	}
	switch {
	case f.to.place == "" && f.drop != 0:
		return a.badValue(errors.New("--drop-sealed: nothing is dropped that is not sealed: give --archive"), "drop-sealed")
	case f.drop != 0 && f.drop < leastKeep:
		return a.badValue(fmt.Errorf("--drop-sealed %s: want at least %s, or 0", f.drop, leastKeep), "drop-sealed")
	case f.to.place == "" && f.keep != 0:
		return a.badValue(errors.New("--give-back: nothing is given back that is not sealed: give --archive"), "give-back")
	case f.idle <= 0:
		return a.badValue(fmt.Errorf("--seal-idle %s: want more than 0", f.idle), "seal-idle")
	case f.keep != 0 && f.keep < leastKeep:
		return a.badValue(fmt.Errorf("--give-back %s: want at least %s, or 0", f.keep, leastKeep), "give-back")
	}
	return nil
}

// keeping is an archive that is kept, and what it takes to keep it.
type keeping struct {
	store archive.Store
	place string
	o     keeper.Options // but for the streams and the ledger
}

// keeping opens the archive that the flags name; nil if they name none.
func (a *app) keeping(ctx context.Context, f *keepFlags) (*keeping, error) {
	if err := a.checkKeep(f); err != nil || f.to.place == "" {
		return nil, err
	}
	key, err := a.signingKey(f.key)
	if err != nil {
		return nil, err
	}
	k := &keeping{}
	if k.place, err = archivePlace(f.to.place); err != nil {
		return nil, err
	}
	to := f.to
	to.place = k.place
	if k.store, err = a.createArchive(ctx, &to); err != nil {
		return nil, err
	}
	k.o = keeper.Options{
		Store: k.store, Open: readArchive, Cache: &a.read, Place: k.place, Key: key, Idle: f.idle, Keep: f.keep, Drop: f.drop, Log: a.log,
	}
	return k, nil
}

// keptLedger is what is kept.
type keptLedger interface {
	keeper.Ledger
	keeper.Dropper
}

// run keeps a ledger's captures until ctx ends.
func (k *keeping) run(
	ctx context.Context, js jetstream.JetStream, ledger keptLedger, owns func(uint32) bool, claimed func(uint32) (sink.Claim, bool),
) error {
	o := k.o
	o.JS, o.Ledger, o.Owns, o.Dropper, o.Claimed = js, ledger, owns, ledger, claimed
	return keeper.New(o).Run(ctx)
}

// returned gives frames that were given back, out of the archive that a capture's were given back to; where that is
// not there, out of another one, if one is named.
func returned(js jetstream.JetStream, otherwise string) stage.Returned {
	r := &archives{js: func() jetstream.JetStream { return js }, otherwise: otherwise}
	return archive.Joined{Open: r.open}.Between
}

// sealedIn gives what was dropped from a ledger, out of the archive that has it; where that is not there, out of another
// one, if one is named.
func (a *app) sealedIn(otherwise string) sink.Sealed {
	return archive.NewDropped(&a.read, (&archives{otherwise: otherwise}).dropped).Events
}

// connectKeeper connects to a destination as keeper.Options wants it; close the connection at the end.
func connectKeeper(destination string) (*nats.Conn, jetstream.JetStream, error) {
	conn, err := dialWith(destination, nats.ReconnectBufSize(-1))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("open JetStream: %w", err)
	}
	return conn, js, nil
}
