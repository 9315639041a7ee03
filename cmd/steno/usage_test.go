package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUsageErrors(t *testing.T) {
	for _, tt := range []struct{ args, says string }{
		{"bogus", `unknown command "bogus" for steno`},
		{"sho", "did you mean show?"},
		{"streams bogus", `unknown command "bogus" for steno streams`},
		{"streams aply", "did you mean apply?"},
		{"streams plan --replicas 2", "--replicas 2: want 1, 3 or 5"},
		{"streams plan --max-bytes -1", "want 0 or more"},
		{"ls --bogus", "unknown flag: --bogus"},
		{"ls --nats nats://x", "steno ls reads a data directory, or a cluster: --nats and --ledger"},
		{"up --nats nats://x", "steno up works in a data directory, or without one"},
		{"demo --context x", "steno demo works in a data directory, or without one"},
		{"import --nats nats://x --context y f", "want one of them"},
		{"import --nats nats://s3cret@h:port " + recording("codex-acp-0.16.0.json"), "not a NATS URL"},
		{"record --nats nats://s3cret@h:port -- agent", "--nats: NATS at nats://h:port: not a NATS URL"},
		{"record --nats nats:// -- agent", "not a NATS URL"},
		{"up --sync never", "--sync"},
		{"record --journal-max -1 -- agent", "want 1MiB or more"},
		{"record --journal-max 10 -- agent", "want 1MiB or more"},
		{"record --journal-max lots -- agent", "such as 1000000, 512MiB or 1GB"},
		{"record", "which agent? give its command behind --"},
		{"record --label x -- agent", "want k=v"},
		{"replay --speed nan", "--speed NaN: want a number above 0"},
		{"replay --speed 0", "--speed 0"},
		{"replay --speed inf", "--speed"},
		{"replay --idle-limit -1s", "--idle-limit -1s: want 0 or more"},
		{"demo --speed nan", "--speed NaN"},
		{"export --format pdf", "--format \"pdf\": want jsonl, md or html"},
		{"export --format jsonl --frames", "--frames and --format: want one of them"},
		{"export --force", "--force is for --out"},
		{"export --force --out -", "--force is for --out FILE"},
		{"import", "which file?"},
		{"translate", "which file?"},
		{"ls --log-level loud", "--log-level"},
		{"watch", "steno watch needs a terminal; steno tail follows"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			stdout, stderr, code := steno(t, append(strings.Fields(tt.args), "--data", t.TempDir())...)
			require.Equal(t, exitUsage, code, stderr)
			require.Contains(t, stderr, tt.says)
			require.NotContains(t, stderr, "s3cret")
			require.Empty(t, stdout)
		})
	}
	stdout, _, code := steno(t)
	require.Zero(t, code)
	require.Contains(t, stdout, "steno demo")
}

func TestConfigurationErrors(t *testing.T) {
	for name, value := range map[string]string{
		"STENO_REPLICAS": "2", "STENO_PARTITIONS": "many", "STENO_SYNC": "never", "STENO_LOG_LEVEL": "loud", "STENO_MAX_BYTES": "-3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, stderr, code := steno(t, "streams", "plan", "--data", t.TempDir())
			require.Equal(t, exitConfig, code, stderr)
			require.Contains(t, stderr, name)
		})
	}
	for _, tt := range []struct{ text, says string }{
		{`bogus = 1`, "key bogus"},
		{"[bogus]\ndata = \"d\"", "table [bogus]"},
		{"[ls]\nspeed = 3", "key ls.speed"},
		{"[record.label]\na = 1", "key record.label"},
		{`config = "other"`, "key config"},
		{`sync = ["a", "b"]`, "sync: want one value, not a list"},
		{"[record]\nwhen-full = 3 4", "read config file"},
		{"[streams]\nreplicas = 2", "streams"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.toml")
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			_, stderr, code := steno(t, "streams", "plan", "--data", t.TempDir(), "--config", path)
			require.Equal(t, exitConfig, code, stderr)
			require.Contains(t, stderr, tt.says)
		})
	}
}

func TestAListSetsAFlagOnceForEachElement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(path, []byte("data = \"/top\"\n[record]\nlabel = [\"a=b\", \"c=d,e\"]\n"), 0o600))
	a := &app{out: &output{to: io.Discard}}
	root := a.root()
	cmd, _, err := root.Find([]string{"record"})
	require.NoError(t, err)
	require.NoError(t, cmd.ParseFlags([]string{"--config", path}))
	require.NoError(t, a.fillFlags(cmd))
	labels, err := cmd.Flags().GetStringArray("label")
	require.NoError(t, err)
	require.Equal(t, []string{"a=b", "c=d,e"}, labels)
	require.Equal(t, "/top", a.data)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Each command that prints ends with 1 where what it prints cannot be written.
func TestOutputThatCannotBeWritten(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("codex-acp-0.16.0.json"))
	for _, command := range []string{
		"ls", "ls --json", "search ping", "search --json ping", "show", "show --json", "verify", "verify --json", "retranslate --all --with acp/1", "doctor", "doctor --json",
		"import " + recording("gemini-cli-0.46.0.json"), "import --json " + recording("gemini-cli-0.46.0.json"),
		"streams plan", "streams plan --json", "streams check", "streams check --json", "version", "version --json",
		"translate " + recording("codex-acp-0.16.0.json"), "replay --json --speed 1000000 --idle-limit 1ms", "tail --until-end", "--help",
	} {
		t.Run(command, func(t *testing.T) {
			var errs bytes.Buffer
			args := append(strings.Fields(command), "--data", data)
			require.Equal(t, exitRuntime, run(t.Context(), args, stdio{os.Stdin, full{}, &errs}), errs.String())
			require.Equal(t, 1, strings.Count(errs.String(), syscall.ENOSPC.Error()), errs.String())
		})
	}
}

func TestWhatIsJoinedToASilentExitIsSaid(t *testing.T) {
	err := errors.Join(&exitError{code: exitChanged}, errors.New("close ledger"))
	require.Equal(t, exitChanged, exitCode(err))
	require.Equal(t, "close ledger", strings.TrimSpace(err.Error()))
}

func TestASignalEndsWithTheCodeOfAShell(t *testing.T) {
	signals := stopSignals()
	require.Subset(t, signals, []os.Signal{syscall.SIGINT, syscall.SIGTERM})
	require.Equal(t, !signal.Ignored(syscall.SIGHUP), slices.Contains(signals, os.Signal(syscall.SIGHUP)), "under nohup it is ignored")
	for _, s := range signals {
		ctx, stop := untilSignal()
		defer stop()
		require.NoError(t, syscall.Kill(os.Getpid(), s.(syscall.Signal)))
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatal("the context did not end")
		}
		require.Equal(t, 128+int(s.(syscall.Signal)), exitCode(why(ctx, ctx.Err())))
		require.ErrorIs(t, context.Cause(ctx), context.Canceled)
	}
}

func TestAStoppedCommandEndsWithTheCodeOfAShell(t *testing.T) {
	data := t.TempDir()
	ok(t, "import", "--data", data, recording("gemini-cli-0.46.0.json"))
	cmd := stenoCommand(t.Context(), "replay", "--data", data, "--json", "--speed", "0.000001")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_, err = io.Copy(io.Discard, out)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 143, cmd.ProcessState.ExitCode())
}
