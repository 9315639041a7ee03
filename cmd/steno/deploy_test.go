package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/plain"
)

// Every steno that the Compose file starts takes its command line and its environment.
func TestComposeStartsCommandsThatExist(t *testing.T) {
	f, err := plain.Read("../../docker-compose.yml", func(string) string { return "secret" })
	require.NoError(t, err)
	seen := 0
	for name, s := range f.Services {
		if s.Build == nil {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			for key, value := range s.Environment {
				t.Setenv(key, value)
			}
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			var out bytes.Buffer
			a := &app{stdio: stdio{os.Stdin, &out, &out}, out: &output{to: &out}}
			cmd, rest, err := a.root().Find(s.Command)
			require.NoError(t, err)
			require.NoError(t, cmd.ParseFlags(rest))
			require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()))
			require.NoError(t, a.fillIn(cmd))
			require.True(t, a.remote(), "it goes to the file's NATS")
			for key := range s.Environment {
				if flag := flagOf(key); flag != "" {
					require.NotNil(t, cmd.Flag(flag), "%s sets no flag of steno %v", key, s.Command)
				}
			}
		})
	}
	require.Equal(t, 5, seen)
}

// flagOf is the flag that a variable sets; empty for one of another's.
func flagOf(variable string) string {
	name, ours := strings.CutPrefix(variable, "STENO_")
	if !ours {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}
