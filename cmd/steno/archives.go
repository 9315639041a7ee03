package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
)

// archiveFlag lets a command read frames that were archived and given back.
func (a *app) archiveFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.archive, "archive", "", "archive to read frames from that were given back (default: the one that has them)")
}

// archives are those that a session has opened to read what was given back.
type archives struct {
	js    func() jetstream.JetStream
	named string // by the user; empty: the one that a capture was given back to

	mu     sync.Mutex
	opened map[string]archive.Store
}

// archivesOf are a session's archives.
func (a *app) archivesOf(s *session) *archives {
	return &archives{js: func() jetstream.JetStream { return s.js }, named: a.archive}
}

// open gives the archive that has what was given back of a capture.
func (r *archives) open(ctx context.Context, id schema.Identity) (archive.Store, error) {
	place := r.named
	if place == "" {
		returned, err := topology.ReadReturned(ctx, r.js(), id)
		if err != nil {
			return nil, err
		}
		if place = returned.Archive; place == "" {
			return nil, errors.New("nothing says which archive has them: --archive names one")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if store := r.opened[place]; store != nil {
		return store, nil
	}
	store, _, err := openArchive(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("%w (--archive names the archive, if it is elsewhere by now)", err)
	}
	if r.opened == nil {
		r.opened = map[string]archive.Store{}
	}
	r.opened[place] = store
	return store, nil
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
