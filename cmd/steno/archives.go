package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/archive/s3"
)

// archiveFlag lets a command read what was archived and given back, or dropped from the ledger.
func (a *app) archiveFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.archive, "archive", "", "archive to read in what was given back, or dropped from the ledger (default: the one that has it)")
}

// archives are those that a session has opened to read what was given back.
type archives struct {
	js    func() jetstream.JetStream
	cache *archive.Cache
	named string // by the user; empty: the one that a capture was given back to
	// otherwise is where that one is not there; empty: none is.
	otherwise string

	mu     sync.Mutex
	opened map[string]archive.Store
}

// archivesOf are a session's archives.
func (a *app) archivesOf(s *session) *archives {
	return &archives{js: func() jetstream.JetStream { return s.js }, named: a.archive, cache: &a.read}
}

// open gives the archive that has what was given back of a capture.
func (r *archives) open(ctx context.Context, id schema.Identity) (archive.Store, error) {
	place := r.named
	if place == "" {
		returned, err := topology.ReadReturned(ctx, r.js(), id)
		if err != nil {
			return nil, err
		}
		if place = cmp.Or(returned.Archive, r.otherwise); place == "" {
			return nil, errors.New("nothing says which archive has them: --archive names one")
		}
	}
	return r.either(ctx, place)
}

// dropped gives the archive that has what the ledger has dropped.
func (r *archives) dropped(ctx context.Context, d sink.Dropped) (archive.Store, error) {
	store, err := r.either(ctx, cmp.Or(r.named, d.Archive))
	if errors.Is(err, fs.ErrNotExist) { // which would say of a ledger that it is not there yet
		err = fmt.Errorf("%v", err) //nolint:errorlint // so it is
	}
	return store, err
}

// either opens the archive of a name, or the other one where there is none.
func (r *archives) either(ctx context.Context, place string) (archive.Store, error) {
	store, err := r.at(ctx, place)
	if errors.Is(err, fs.ErrNotExist) && r.otherwise != "" && r.otherwise != place {
		return r.at(ctx, r.otherwise)
	}
	return store, err
}

// through reads a ledger with what it has dropped.
func (r *archives) through(l ledger) ledger {
	return archive.Through{Kept: l, Dropped: archive.NewDropped(r.cache, r.dropped)}
}

// at opens the archive of a name. The error wraps fs.ErrNotExist if there is none, and topology.ErrAway if it may be
// opened later.
func (r *archives) at(ctx context.Context, place string) (archive.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if store := r.opened[place]; store != nil {
		return store, nil
	}
	store, err := readArchive(ctx, place)
	if err != nil {
		var wrong *exitError // the name is no archive's
		var unread *fs.PathError
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, s3.ErrAddress) && (!errors.As(err, &wrong) || errors.As(err, &unread)) {
			err = fmt.Errorf("%w: %w", topology.ErrAway, err)
		}
		return nil, fmt.Errorf("%w (--archive names the archive, if it is elsewhere by now)", err)
	}
	if r.opened == nil {
		r.opened = map[string]archive.Store{}
	}
	r.opened[place] = store
	return store, nil
}

// readArchive opens an archive for reading by its name.
func readArchive(ctx context.Context, place string) (archive.Store, error) {
	store, _, err := openArchive(ctx, place)
	return store, err
}

// stored is where the session's frames are: on the streams, and what was given back, in archives.
func (s *session) stored(ctx context.Context) (archive.Joined, error) {
	blobs, err := s.blobs(ctx)
	if err != nil {
		return archive.Joined{}, err
	}
	stream := topology.Frames{JS: s.js, Blobs: blobs, Partitions: s.info.Partitions}
	return archive.Joined{Stream: stream, Open: s.archives.open}, nil
}

// archivePlace names an archive so that other processes find it.
func archivePlace(name string) (string, error) {
	if strings.Contains(name, "://") {
		return name, nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find archive %s: %w", name, err)
	}
	return full, nil
}
