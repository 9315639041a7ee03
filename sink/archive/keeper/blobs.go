package keeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
)

// tidy deletes the bytes of large frames from the bucket that the archive has and no message of the capture
// names any more, and puts back what one names and the bucket does not have. An append may name bytes that it
// found there just before they went: so messages are looked at again afterwards, and who appends looks, too,
// once the frame is stored. What fails in between keeps nothing from being put back; whoever dies, the archive
// has the bytes, and the next keeper puts them back.
func (k *Keeper) tidy(ctx context.Context, id schema.Identity) error {
	archived, err := k.archived.Blobs(ctx, id)
	if err != nil || len(archived) == 0 {
		return err
	}
	err = k.pass(ctx, id, archived, true)
	return errors.Join(err, k.pass(ctx, id, archived, false))
}

// putBack puts back what a message names, the archive has, and the bucket does not have any more.
func (k *Keeper) putBack(ctx context.Context, id schema.Identity) error {
	archived, err := k.archived.Blobs(ctx, id)
	if err != nil || len(archived) == 0 {
		return err
	}
	return k.pass(ctx, id, archived, false)
}

// pass deletes those that are there and no message names, or else puts back those that one names and are not there.
func (k *Keeper) pass(ctx context.Context, id schema.Identity, archived []string, deleting bool) error {
	named, err := k.named(ctx, id)
	if err != nil {
		return err
	}
	for _, sha := range archived {
		if named[sha] == deleting {
			continue
		}
		there, err := k.blobs.Has(ctx, id, sha)
		if err != nil {
			return err
		}
		switch {
		case deleting && there:
			err = k.blobs.Delete(ctx, id, sha)
		case !deleting && !there:
			err = k.restore(ctx, id, sha)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restore puts bytes back that the bucket does not have any more.
func (k *Keeper) restore(ctx context.Context, id schema.Identity, sha string) error {
	data, err := k.archived.Blob(ctx, id, sha)
	if err == nil {
		_, err = k.blobs.Put(ctx, id, data)
	}
	return err
}

// named are the bytes in the bucket that messages of a capture name.
func (k *Keeper) named(ctx context.Context, id schema.Identity) (map[string]bool, error) {
	named := map[string]bool{}
	for stream, subject := range map[string]string{
		topology.Raw: schema.RawSubject(id, k.info.Partitions), topology.Events: schema.EventSubject(id, k.info.Partitions),
	} {
		for m, err := range topology.ReadHeaders(ctx, k.o.JS, stream, subject) {
			if err != nil {
				return nil, fmt.Errorf("look which blobs of %s are named: %w", id, err)
			}
			if sha := m.Header.Get(schema.HeaderBlob); sha != "" {
				named[sha] = true
			}
		}
	}
	return named, nil
}
