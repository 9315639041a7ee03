package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/steno-io/steno/cmd/steno/holder"
)

// stdio is a command's surroundings.
type stdio struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

// app is what all commands share: the global flags and what follows from them.
type app struct {
	stdio
	data     string
	nats     string
	context  string
	sync     string
	logLevel string
	config   string
	log      zerolog.Logger
}

// run runs the command line and gives the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	a := &app{stdio: std, log: zerolog.Nop()}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	var e *exitError
	if err != nil && !(errors.As(err, &e) && e.cause == nil) && code != 130 {
		fmt.Fprintln(std.err, "steno:", err)
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "steno",
		Short: "Record what AI agents say to each other and to their users",
		Long: `steno records what AI agents say to each other and to their users: every frame
verbatim, one ordered transcript per session, live and for good, and a command
that proves the one follows from the other.`,
		Example: `  steno demo                          the whole pipeline on a bundled recording
  steno record -- my-agent --acp      tap an agent: put this in front of its command
  steno ls                            what was recorded
  steno tail                          follow the newest transcript as it is typed
  steno verify                        fold the frames again and compare`,
		SilenceUsage: true, SilenceErrors: true, Version: version,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
	}
	root.SetVersionTemplate("steno {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w (see %s --help)", err, cmd.CommandPath())
	})
	p := root.PersistentFlags()
	p.StringVar(&a.data, "data", defaultData(), "data directory")
	p.StringVar(&a.nats, "nats", "", "NATS URL; without one the data directory's own server is used")
	p.StringVar(&a.context, "context", "", "NATS context (as of the nats command) to connect with")
	p.StringVar(&a.sync, "sync", "always", "how often the embedded server fsyncs: always, or a time such as 1s")
	p.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	p.StringVar(&a.config, "config", defaultConfig(), "config file (TOML: flag = value, and a table for each command)")
	root.AddCommand(
		a.demoCommand(), a.upCommand(), a.recordCommand(), a.importCommand(), a.translateCommand(),
		a.lsCommand(), a.showCommand(), a.tailCommand(), a.replayCommand(), a.verifyCommand(),
		a.streamsCommand(), a.doctorCommand(), a.versionCommand(),
	)
	for _, c := range root.Commands() {
		usageArgs(c)
	}
	return root
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(c *cobra.Command) {
	check := c.Args
	c.Args = func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return usage("%w (see %s --help)", err, cmd.CommandPath())
		}
		return nil
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

// prepare fills in flags from the environment and the config file, and sets up the log.
func (a *app) prepare(cmd *cobra.Command) error {
	if err := a.fillFlags(cmd); err != nil {
		return &exitError{exitConfig, err}
	}
	level, err := zerolog.ParseLevel(a.logLevel)
	if err != nil {
		return usage("--log-level %q: want debug, info, warn or error", a.logLevel)
	}
	out := a.err
	if a.isTerminal(a.err) {
		out = zerolog.ConsoleWriter{Out: a.err, TimeFormat: time.TimeOnly, NoColor: os.Getenv("NO_COLOR") != ""}
	}
	a.log = zerolog.New(out).Level(level).With().Timestamp().Logger()
	return nil
}

// syncInterval reads --sync; 0 is always.
func (a *app) syncInterval() (time.Duration, error) {
	if a.sync == "always" {
		return 0, nil
	}
	d, err := time.ParseDuration(a.sync)
	if err != nil || d <= 0 {
		return 0, usage("--sync %q: want always, or a time such as 1s", a.sync)
	}
	return d, nil
}

func (a *app) dir() holder.Dir { return holder.Dir(a.data) }

func (a *app) isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colour reports whether the output takes colour.
func (a *app) colour() bool {
	return a.isTerminal(a.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// width is the output's width in columns; 0 if it is no terminal.
func (a *app) width() int {
	if f, ok := a.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return w
		}
	}
	return 0
}

func defaultData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "steno")
	}
	return filepath.Join(home(), ".local", "share", "steno")
}

func defaultConfig() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "steno", "config.toml")
	}
	return filepath.Join(home(), ".config", "steno", "config.toml")
}

// home is the user's home; without one, what would stand there goes into the working directory.
func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return "."
	}
	return dir
}
