package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/steno-io/steno/sink/archive"
)

func (a *app) keygenCommand() *cobra.Command {
	name := "steno"
	cmd := &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key that signs seals",
		Long: `keygen writes a new private key into FILE, readable by you alone, and prints the public
key, by which steno verify --key checks what was signed. The key's name stands on each
note; it has no space and no plus sign.`,
		Example: `  steno keygen mill.key --name mill.example > mill.pub
  steno seal --all --archive /srv/archive --signing-key mill.key
  steno verify /srv/archive --key mill.pub`,
		Args: onlyOne("into which file? such as: steno keygen seal.key"),
		RunE: func(_ *cobra.Command, args []string) error {
			private, public, err := archive.Generate(name)
			if err != nil {
				return a.badValue(fmt.Errorf("--name: %w", err), "name")
			}
			f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return usage("keygen: %s is there: a key is never written over", args[0])
			}
			if err != nil {
				return fmt.Errorf("keygen: %w", err)
			}
			_, err = fmt.Fprintln(f, private)
			if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
				return fmt.Errorf("keygen: write %s: %w", args[0], err)
			}
			_, err = fmt.Fprintln(a.out, public)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", name, "of the key, such as a host's")
	return cmd
}
