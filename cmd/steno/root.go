package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/steno-io/steno/cmd/steno/holder"
	words "github.com/steno-io/steno/console/reading"
	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/sink/archive"
)

// stdio is a command's surroundings.
type stdio struct {
	in  *os.File
	out io.Writer
	err io.Writer
}

// app is what all commands share: the global flags and what follows from them.
type app struct {
	mayNot sync.Once // said that interventions do not get here
	stdio
	out      *output // in front of stdio's
	data     string
	nats     string
	context  string
	database string        // --ledger, of the commands that have it
	archive  string        // --archive, of those that read what was given back
	read     archive.Cache // of all that reads archives here
	sync     string
	logLevel string
	config   string
	from     origins
	patience time.Duration // with a cluster that does not get on; 0 = patience
	log      zerolog.Logger
	// unprepared is why a tap cannot record, where its agent is to run all the same.
	unprepared error
}

// run runs the command line and gives the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	a := &app{stdio: std, out: &output{to: std.out}, log: zerolog.Nop()}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(a.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	if a.out.first != nil && !errors.Is(err, a.out.first) {
		err = errors.Join(err, a.out.first)
	}
	code := exitCode(why(ctx, err))
	if err != nil && strings.TrimSpace(err.Error()) != "" && code < exitSignal {
		fmt.Fprintln(std.err, "steno:", words.Visible(strings.TrimSpace(err.Error())))
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
		Example: `  steno demo                          the whole pipeline on bundled recordings
  steno record -- my-agent --acp      tap an agent: put this in front of its command
  steno run --prompt TEXT …           ask an agent one thing, without an editor
  steno proxy --upstream URL          tap an A2A peer: clients talk to it through this
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
	group(root)
	p := root.PersistentFlags()
	p.StringVar(&a.data, "data", defaultData(), "data directory")
	p.StringVar(&a.nats, "nats", "", "NATS URL; without one the data directory's own server is used")
	p.StringVar(&a.context, "context", "", "NATS context (as of the nats command) to connect with")
	p.StringVar(&a.sync, "sync", "always", "how often the embedded server fsyncs: always, or a time such as 1s")
	p.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error")
	p.StringVar(&a.config, "config", defaultConfig(), "config file (TOML: flag = value, and a table for each command)")
	root.AddCommand(
		a.demoCommand(), a.upCommand(), a.recordCommand(), a.runCommand(), a.proxyCommand(), a.importCommand(), a.translateCommand(),
		a.lsCommand(), a.searchCommand(), a.showCommand(), a.exportCommand(), a.tailCommand(), a.watchCommand(), a.replayCommand(), a.verifyCommand(),
		a.retranslateCommand(), a.explainCommand(), a.sealCommand(), a.keygenCommand(), a.rebuildCommand(), a.closeCommand(), a.redriveCommand(),
		a.cancelCommand(), a.injectCommand(), a.pauseCommand(), a.budgetCommand(), a.approveCommand(),
		a.consoleCommand(), a.workerCommand(), a.streamsCommand(), a.doctorCommand(), a.benchCommand(), a.versionCommand(),
	)
	usageArgs(root)
	return root
}

// group makes a command that has only commands: without one it prints its help, and it says which one
// an unknown name may have meant.
func group(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		meant := cmd.SuggestionsFor(args[0])
		if len(meant) == 0 {
			return fmt.Errorf("unknown command %q for %s", args[0], cmd.CommandPath())
		}
		return fmt.Errorf("unknown command %q for %s; did you mean %s?", args[0], cmd.CommandPath(), strings.Join(meant, " or "))
	}
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

// networked are the commands that may go to a NATS of their own, and reading those that may read a
// cluster: a NATS and a ledger.
var (
	networked = []string{"record", "run", "proxy", "import", "worker", "streams"}
	reading   = []string{"ls", "search", "show", "export", "tail", "watch", "replay", "verify", "retranslate", "explain", "seal", "rebuild", "doctor", "close", "redrive", "console", "cancel", "inject", "pause", "budget", "approve"}
	// ledgerless are those of them that also work on a NATS alone.
	ledgerless = []string{"redrive", "cancel", "inject", "pause", "budget", "approve"}
)

// prepare fills in flags from the environment and the config file, and sets up the log.
func (a *app) prepare(cmd *cobra.Command) error {
	if cmd.HasSubCommands() {
		return nil // it prints its help
	}
	err := a.fillIn(cmd)
	if err != nil && cmd.Name() == "record" && cmd.Flag("when-full").Value.String() == string(journal.Pass) {
		a.unprepared, err = err, nil
	}
	return err
}

func (a *app) fillIn(cmd *cobra.Command) error {
	if err := a.fillFlags(cmd); err != nil {
		return &exitError{exitConfig, err}
	}
	if err := a.checkNetwork(topCommand(cmd).Name()); err != nil {
		return err
	}
	level, err := zerolog.ParseLevel(a.logLevel)
	if err != nil || a.logLevel == "" {
		return a.badValue(fmt.Errorf("--log-level %q: want debug, info, warn or error", a.logLevel), "log-level")
	}
	a.log = zerolog.New(logWriter(a.err, a.isTerminal(a.err))).Level(level).With().Timestamp().Logger()
	return nil
}

// logWriter writes the log as people read it, to a terminal, or else as JSON.
func logWriter(to io.Writer, terminal bool) io.Writer {
	if !terminal {
		return to
	}
	return zerolog.ConsoleWriter{Out: to, TimeFormat: time.TimeOnly, NoColor: os.Getenv("NO_COLOR") != ""}
}

// checkNetwork refuses flags that name a NATS where the command would not go there. Of a URL and a
// context the one on the command line counts.
func (a *app) checkNetwork(command string) error {
	reads := slices.Contains(reading, command)
	for _, flag := range []string{"nats", "context"} {
		if a.given(flag) && !reads && !slices.Contains(networked, command) {
			return usage("--%s: steno %s works in a data directory, or without one", flag, command)
		}
	}
	if err := checkURLs(a.nats); err != nil {
		return a.badValue(fmt.Errorf("--nats: %w", err), "nats")
	}
	if a.nats != "" && a.context != "" {
		switch {
		case a.given("nats") == a.given("context"):
			return a.badValue(errors.New("--nats and --context: want one of them"), "nats", "context")
		case a.given("nats"):
			a.context = ""
		default:
			a.nats = ""
		}
	}
	if reads {
		return a.checkCluster(command)
	}
	return nil
}

// checkCluster decides whether a command that reads works on a cluster or in the data directory. A
// directory on the command line counts more than a cluster that the environment or the config file
// names, and a NATS alone, named there, is the taps'.
func (a *app) checkCluster(command string) error {
	named := a.given("nats") || a.given("context") || a.given("ledger")
	switch {
	case a.given("data") && named:
		return usage("--data: steno %s reads a data directory, or a cluster: --nats and --ledger", command)
	case a.given("data"):
		a.database = ""
	case a.database != "" && !a.remote():
		return a.badValue(errors.New("--ledger: of which NATS? give --nats or --context, or --data for a data directory"), "ledger")
	case a.database == "" && named && !slices.Contains(ledgerless, command):
		return usage("--nats: steno %s reads a ledger too: which database? give --ledger, such as postgres://steno@127.0.0.1/steno", command)
	}
	return nil
}

// given reports whether the flag is on the command line.
func (a *app) given(flag string) bool { return a.from[flag] == commandLine }

// syncInterval reads --sync; 0 is always.
func (a *app) syncInterval() (time.Duration, error) {
	if a.sync == "always" {
		return 0, nil
	}
	d, err := time.ParseDuration(a.sync)
	if err != nil || d <= 0 {
		return 0, a.badValue(fmt.Errorf("--sync %q: want always, or a time such as 1s", a.sync), "sync")
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
	return a.isTerminal(a.stdio.out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// width is the output's width in columns; 0 if it is no terminal.
func (a *app) width() int {
	if f, ok := a.stdio.out.(*os.File); ok {
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
