package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fillFlags gives flags that the command line does not set their value from STENO_<FLAG>, else from
// the config file: the command's table first, then the top.
func (a *app) fillFlags(cmd *cobra.Command) error {
	var failed error
	set := func(f *pflag.Flag, value, from string) {
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", from, err))
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "STENO_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := os.LookupEnv(name); ok && !f.Changed {
			set(f, value, name)
		}
	})
	if failed != nil {
		return failed
	}
	var file map[string]any
	if _, err := toml.DecodeFile(a.config, &file); err != nil {
		if errors.Is(err, fs.ErrNotExist) && !cmd.Flags().Changed("config") {
			return nil
		}
		return fmt.Errorf("read config file %s: %w", a.config, err)
	}
	table, _ := file[cmd.Name()].(map[string]any)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, source := range []map[string]any{table, file} {
			value, ok := source[f.Name]
			if _, isTable := value.(map[string]any); !ok || isTable || f.Changed {
				continue
			}
			set(f, fmt.Sprint(value), fmt.Sprintf("config file %s: %s", a.config, f.Name))
		}
	})
	return failed
}
