package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// origins says where the value of each flag that is set came from.
type origins map[string]string

const commandLine = "the command line"

// fillFlags gives flags that the command line does not set their value from STENO_<FLAG>, else from
// the config file: the command's table first, then the top.
func (a *app) fillFlags(cmd *cobra.Command) error {
	a.from = origins{}
	var failed error
	set := func(f *pflag.Flag, from string, values ...string) {
		a.from[f.Name] = from
		for _, value := range values {
			if err := cmd.Flags().Set(f.Name, value); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", from, err))
			}
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "STENO_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if f.Changed {
			a.from[f.Name] = commandLine
		} else if value, ok := os.LookupEnv(name); ok {
			set(f, name, value)
		}
	})
	if failed != nil {
		return failed
	}
	var file map[string]any
	if _, err := toml.DecodeFile(a.config, &file); err != nil {
		if errors.Is(err, fs.ErrNotExist) && a.from["config"] == "" {
			return nil
		}
		return fmt.Errorf("read config file %s: %w", a.config, err)
	}
	if err := checkConfig(cmd.Root(), file); err != nil {
		return fmt.Errorf("config file %s: %w", a.config, err)
	}
	table, _ := file[topCommand(cmd).Name()].(map[string]any)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		for _, source := range []map[string]any{table, file} {
			value, ok := source[f.Name]
			if _, isTable := value.(map[string]any); !ok || isTable || f.Changed {
				continue
			}
			from := fmt.Sprintf("config file %s: %s", a.config, f.Name)
			values, err := flagValues(f, value)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", from, err))
				continue
			}
			set(f, from, values...)
		}
	})
	return failed
}

// flagValues are the values that a TOML value sets a flag to: a list sets it once for each element.
func flagValues(f *pflag.Flag, value any) ([]string, error) {
	list, isList := value.([]any)
	if !isList {
		return []string{fmt.Sprint(value)}, nil
	}
	if _, many := f.Value.(pflag.SliceValue); !many {
		return nil, errors.New("want one value, not a list")
	}
	values := make([]string, len(list))
	for i, v := range list {
		values[i] = fmt.Sprint(v)
	}
	return values, nil
}

// checkConfig refuses keys and tables that set nothing: a mistyped one would pass in silence.
func checkConfig(root *cobra.Command, file map[string]any) error {
	tables, all := map[string]map[string]bool{}, map[string]bool{}
	for _, c := range root.Commands() {
		tables[c.Name()] = flagsOf(c)
		maps.Copy(all, tables[c.Name()])
	}
	var failed error
	for _, key := range slices.Sorted(maps.Keys(file)) {
		table, isTable := file[key].(map[string]any)
		switch {
		case !isTable && !all[key]:
			failed = errors.Join(failed, fmt.Errorf("key %s: no command has that flag", key))
		case isTable && tables[key] == nil:
			failed = errors.Join(failed, fmt.Errorf("table [%s]: there is no such command", key))
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			_, nested := table[name].(map[string]any)
			if known := tables[key]; known != nil && (nested || !known[name]) {
				failed = errors.Join(failed, fmt.Errorf("key %s.%s: steno %s has no such flag", key, name, key))
			}
		}
	}
	return failed
}

// flagsOf are the flags that a command or one under it takes from a config file.
func flagsOf(c *cobra.Command) map[string]bool {
	names := map[string]bool{}
	add := func(f *pflag.Flag) { names[f.Name] = f.Name != "config" && f.Name != "help" }
	c.InheritedFlags().VisitAll(add)
	c.LocalFlags().VisitAll(add)
	for _, sub := range c.Commands() {
		maps.Copy(names, flagsOf(sub))
	}
	return names
}

// topCommand is the command right under the root.
func topCommand(cmd *cobra.Command) *cobra.Command {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd
}

// badValue is the error of flags whose value a command cannot use: the command line's fault, or that
// of the environment or the config file.
func (a *app) badValue(err error, flags ...string) error {
	for _, name := range flags {
		if from := a.from[name]; from != "" && from != commandLine {
			return &exitError{exitConfig, fmt.Errorf("%s: %w", from, err)}
		}
	}
	return &exitError{exitUsage, err}
}
