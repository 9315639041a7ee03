package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/secrets"
	"github.com/steno-io/steno/sink/archive"
)

// sealFlags say what is sealed, and where to.
type sealFlags struct {
	archiveFlags
	all   bool
	key   string
	out   string
	force bool
	json  bool
}

func (a *app) sealCommand() *cobra.Command {
	var f sealFlags
	cmd := &cobra.Command{
		Use:   "seal KEY… | --all",
		Short: "Seal captures into an archive that anybody can check",
		Long: `seal writes what the ledger has of captures into an archive, a directory or an S3
bucket: frames, events and large payloads as compressed lines, a seal that names each
file by its SHA-256, and a signed note of the seal. What was sealed before is not
written again: a capture that goes on is sealed on top. KEY names a transcript; its
capture is sealed. Broken off at any point, seal completes it when it is called again.

A bucket is s3://bucket/prefix; ?endpoint=https://host:port&region=name, or
AWS_ENDPOINT_URL and AWS_REGION, say where it is if not at AWS. Credentials come from
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ~/.aws/credentials or the machine's role.
--object-lock and --legal-hold keep what is written from being changed, if the bucket
was made with Object Lock.

Notes are signed with an Ed25519 key: the file that --signing-key names, as steno
keygen writes it, or the key itself. Without one it is seal.key in the data
directory, which is made if it is missing; a note names the public key.

--out writes the capture's folder as a tar, the bundle, to be handed to somebody who
has steno verify, or only tar, zstd and sha256sum.

All that was said is in it as it was said, secrets too. On stderr seal says how many
values look like a secret (keys of well-known shapes, private keys, passwords that are
named so) in the frames and events that it has sealed, or in the whole bundle, and in
which of them each was first seen; --json has it in suspected_secrets. It is a guess:
a secret of no known shape is not found.`,
		Example: `  steno seal --all --archive /srv/archive
  steno seal fix-the-mill --archive /srv/archive --signing-key mill.key
  steno seal --all --archive s3://records/steno --object-lock 365d
  steno seal fix-the-mill --out fix-the-mill.tar
  steno verify fix-the-mill.tar`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.seal(cmd.Context(), args, &f) },
	}
	p := cmd.Flags()
	p.BoolVar(&f.all, "all", false, "seal every capture")
	f.archiveFlags.register(p, "the archive: a directory, or s3://bucket/prefix")
	p.StringVar(&f.key, "signing-key", "", "file with the private key, or the key itself (default: seal.key in the data directory)")
	p.StringVar(&f.out, "out", "", "write the capture's folder as a tar into this file")
	p.BoolVar(&f.force, "force", false, "let --out take the place of a file that is there")
	p.BoolVar(&f.json, "json", false, "print one JSON object a capture")
	a.ledgerFlag(cmd)
	return cmd
}

// sealedCapture is what seal says of a capture.
type sealedCapture struct {
	Capture string `json:"capture"`
	Last    uint64 `json:"last_frame"` // 0: there is nothing to be sealed
	Root    string `json:"root,omitempty"`
	// Suspects are counted in what was sealed now; with --out in the whole bundle.
	Suspects *secrets.Found `json:"suspected_secrets"`
}

func (f *sealFlags) check(args []string) error {
	switch {
	case f.all == (len(args) > 0):
		return usage("steno seal: want KEY, or --all")
	case f.place == "" && f.out == "":
		return usage("steno seal: where to? give --archive DIR, or --out FILE.tar")
	case f.out == "-":
		return usage("--out -: a bundle goes into a file; stdout says what was sealed")
	case f.force && f.out == "":
		return usage("--force is for --out")
	case f.out != "" && len(args) != 1:
		return usage("--out: a bundle is of one capture: give one KEY")
	}
	return nil
}

func (a *app) seal(ctx context.Context, args []string, f *sealFlags) error {
	if err := f.check(args); err != nil {
		return err
	}
	if err := mayWrite(f.out, f.force); err != nil { // and again when it is sealed
		return err
	}
	key, err := a.signingKey(f.key)
	if err != nil {
		return err
	}
	to := f.archiveFlags
	if to.place == "" { // the bundle is all that is wanted
		if to.place, err = os.MkdirTemp("", "steno-seal-"); err != nil {
			return fmt.Errorf("seal: make a folder for the bundle: %w", err)
		}
		defer os.RemoveAll(to.place) //nolint:errcheck // it is in the temporary directory
	}
	store, err := a.createArchive(ctx, &to)
	if err != nil {
		return err
	}
	return a.inSession(ctx, "seal", func(ctx context.Context, s *session) error {
		source, err := s.stored(ctx)
		if err != nil {
			return err
		}
		ids, err := s.toSeal(ctx, args)
		if err != nil {
			return err
		}
		seal := func(ctx context.Context, id schema.Identity) (*archive.Seal, *suspects, error) {
			from := sealing{source, s.ledger, newSuspects()}
			seal, err := archive.NewSealer(store, from, from, key).Seal(ctx, id)
			if err == nil && seal != nil && f.out != "" && (from.first != 1 || from.last != seal.Last) { // of some of the bundle
				from.suspects, err = from.whole(ctx, id, seal)
			}
			return seal, from.suspects, err
		}
		if err := a.sealAll(ctx, seal, ids, f); err != nil || f.out == "" {
			return err
		}
		return a.writeBundle(ctx, store, ids[0], f)
	})
}

// toSeal gives the captures of the transcripts that are named, or all.
func (s *session) toSeal(ctx context.Context, keys []string) (ids []schema.Identity, err error) {
	for _, key := range keys {
		t, err := find(ctx, s.ledger, []string{key})
		if err != nil {
			return nil, err
		}
		if id := t.Transcript.Identity; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	const page = 1000
	for after, more := "", len(keys) == 0; more; {
		infos, err := s.ledger.Captures(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, c := range infos {
			ids = append(ids, c.Capture.Capture)
			after = c.Capture.Capture.String()
		}
		more = len(infos) > 0
	}
	return ids, nil
}

// sealAll seals captures one after the other. One that cannot be sealed does not keep the others.
func (a *app) sealAll(
	ctx context.Context, seal func(context.Context, schema.Identity) (*archive.Seal, *suspects, error), ids []schema.Identity, f *sealFlags,
) error {
	progress := a.progress()
	defer progress.done()
	var failed error
	suspected, sealed := uint64(0), false
	for i, id := range ids {
		progress.say("sealing: %d of %d captures", i, len(ids))
		seal, suspects, err := seal(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed = errors.Join(failed, err)
			continue
		}
		progress.done()
		if err := a.saySealed(id, seal, suspects, f.json); err != nil {
			return err
		}
		suspected += suspects.Found.Secrets
		sealed = sealed || suspects.last > 0
	}
	if sealed && suspected == 0 {
		fmt.Fprintln(a.err, "no suspected secret in what was sealed")
	}
	return failed
}

func (a *app) saySealed(id schema.Identity, seal *archive.Seal, suspects *suspects, asJSON bool) error {
	if suspects.Found.Secrets > 0 {
		fmt.Fprintf(a.err, "%s: %s\n", id, suspects.count())
		suspects.sayPlaces(a.err)
	}
	said := sealedCapture{Capture: id.String(), Suspects: &suspects.Found}
	if seal != nil {
		said.Last, said.Root = seal.Last, seal.Root.String()
	}
	if asJSON {
		return a.out.json(said)
	}
	if seal == nil {
		_, err := fmt.Fprintf(a.out, "%s: nothing to be sealed yet\n", id)
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s: sealed up to frame %d, root %s\n", id, seal.Last, seal.Root)
	return err
}

// writeBundle writes a capture's folder as a tar, whole or not at all.
func (a *app) writeBundle(ctx context.Context, store archive.Store, id schema.Identity, f *sealFlags) error {
	return writeWhole(f.out, f.force, func(w io.Writer) error { return archive.WriteTar(ctx, w, store, id) })
}

// writeWhole writes a file that is put in its place when it is whole.
func writeWhole(name string, force bool, write func(io.Writer) error) error {
	out, err := newOutFile(nil, name, force)
	if err != nil {
		return err
	}
	if err := write(out); err != nil {
		return errors.Join(err, out.discard())
	}
	return out.keep()
}

// signingKey reads the key that is named, or the data directory's, which it makes.
func (a *app) signingKey(named string) (archive.Key, error) {
	if strings.HasPrefix(named, "PRIVATE+KEY+") {
		key, err := archive.NewKey(named)
		if err != nil {
			err = a.badValue(fmt.Errorf("--signing-key: %w", err), "signing-key")
		}
		return key, err
	}
	file := named
	if file == "" {
		file = filepath.Join(a.data, "seal.key")
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return a.makeKey(file)
	}
	var key archive.Key
	if err == nil {
		if key, err = archive.NewKey(string(text)); err != nil {
			err = fmt.Errorf("file %s: %w", file, err)
		}
	}
	switch {
	case err == nil:
		return key, nil
	case named == "":
		return key, &exitError{exitConfig, fmt.Errorf("read the data directory's signing key: %w", err)}
	}
	return key, a.badValue(fmt.Errorf("--signing-key: want a private key, or a file with one, as steno keygen makes it: %w", err), "signing-key")
}

// makeKey makes the directory's key. Another command may make it at the same time: then that one's is taken.
func (a *app) makeKey(file string) (archive.Key, error) {
	private, public, err := archive.Generate("steno")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = writeWhole(file, false, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, private)
			return err
		})
	}
	if errors.Is(err, fs.ErrExist) {
		return a.signingKey(file)
	}
	if err != nil {
		return archive.Key{}, fmt.Errorf("seal: make a signing key: %w", err)
	}
	fmt.Fprintf(a.err, "steno: made a signing key, %s; its public key: %s\n", file, public)
	return archive.NewKey(private)
}
