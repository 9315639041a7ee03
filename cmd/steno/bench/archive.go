package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/steno-io/steno/console/proof"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/sqlite"
)

// verifyArchive proves an archive of some of the captures that verify proves: files, seals, log, and the fold
// again. The ceiling reads the same files, side by side, hashes and unpacks them, and hashes what is in them.
func (b *bench) verifyArchive(ctx context.Context, r *rig, l *sqlite.Ledger, load *backlog) error {
	b.Say("verify, archive: sealing")
	private, _, err := archive.Generate("bench")
	if err != nil {
		return err
	}
	key, err := archive.NewKey(private)
	if err != nil {
		return err
	}
	store, err := archive.OpenDir(filepath.Join(r.dir, "archive"), true)
	if err != nil {
		return err
	}
	sealer := archive.NewSealer(store, topology.Frames{JS: r.js, Blobs: r.blobs, Partitions: r.info.Partitions}, l, key)
	part := backlog{load.captures[:b.size.captures], load.of[:b.size.captures]}
	total, err := b.durable(&part)
	if err != nil {
		return err
	}
	for _, id := range part.captures {
		if _, err := sealer.Seal(ctx, id); err != nil {
			return err
		}
	}
	figure, ceiling, err := b.beside(ctx, "verify, archive",
		func(ctx context.Context) (float64, error) { return b.check(ctx, store, total) },
		func(ctx context.Context) (float64, error) { return b.unpack(ctx, store, total) })
	if err != nil {
		return err
	}
	return b.higher("verify, archive", "events/s", figure, ceiling, goalVerify)
}

// check proves the archive as often as a window takes.
func (b *bench) check(ctx context.Context, store archive.Store, total int) (float64, error) {
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		checked, err := archive.Check(ctx, store, archive.CheckOptions{NewFold: proof.Folds(b.Catalogue)})
		if err == nil && (len(checked.Findings) > 0 || checked.Events != uint64(total)) {
			err = fmt.Errorf("%d events of %d agree, and there are %d findings", checked.Events, total, len(checked.Findings))
		}
		if err != nil {
			return 0, err
		}
		n += total
	}
	return perSecond(n, begin), nil
}

// unpack reads and hashes the archive's files as often as a window takes.
func (b *bench) unpack(ctx context.Context, store archive.Store, total int) (float64, error) {
	names := []string{}
	for listed, err := range store.List(ctx, "") {
		if err != nil {
			return 0, err
		}
		names = append(names, listed.Name)
	}
	n := 0
	begin := time.Now()
	for n == 0 || time.Since(begin) < b.size.window {
		if err := unpackAll(ctx, store, names); err != nil {
			return 0, err
		}
		n += total
	}
	return perSecond(n, begin), nil
}

func unpackAll(ctx context.Context, store archive.Store, names []string) error {
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan string, len(names))
	for _, name := range names {
		next <- name
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
			if err != nil {
				return err
			}
			defer zip.Close()
			for name := range next {
				if err := unpackOne(ctx, store, name, zip); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func unpackOne(ctx context.Context, store archive.Store, name string, zip *zstd.Decoder) (err error) {
	in, err := store.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	packed, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(packed)
	if filepath.Ext(name) != ".zst" {
		return nil
	}
	if err := zip.Reset(bytes.NewReader(packed)); err != nil {
		return err
	}
	_, err = io.Copy(sum, zip)
	return err
}
