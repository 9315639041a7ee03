package plain_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/plain"
)

const (
	top     = "../.."
	compose = top + "/docker-compose.yml"
)

// passwords gives each variable a value that could be taken for a number.
func passwords(string) string { return "0123" }

// Nobody outside the machine reaches anything, and what the file names is there.
func TestComposeFile(t *testing.T) {
	f, err := plain.Read(compose, passwords)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"nats-1", "nats-2", "nats-3", "postgres", "streams", "translate-1", "translate-2", "sink-1", "sink-2"},
		names(f))
	used := map[string]bool{}
	for name, s := range f.Services {
		for _, port := range s.Ports {
			require.Regexp(t, `^127\.0\.0\.1:\d+:\d+$`, port, name)
			require.False(t, used[port], "%s: %s is taken", name, port)
			used[port] = true
		}
		for on, c := range s.DependsOn {
			require.Contains(t, f.Services, on, name)
			require.Equal(t, c.Condition == "service_healthy", f.Services[on].Healthcheck != nil, "%s waits for %s", name, on)
		}
		if s.Build != nil {
			require.FileExists(t, filepath.Join(top, s.Build.Context, s.Build.Dockerfile))
		}
		for _, v := range s.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if strings.HasPrefix(source, "./") {
				require.FileExists(t, filepath.Join(top, source))
			} else {
				require.Contains(t, f.Volumes, source)
			}
		}
	}
}

func names(f *plain.File) (all []string) {
	for name := range f.Services {
		all = append(all, name)
	}
	return all
}

func TestComposeAsksForPasswords(t *testing.T) {
	for _, missing := range []string{"STENO_NATS_PASSWORD", "STENO_DB_PASSWORD"} {
		_, err := plain.Read(compose, func(name string) string {
			if name == missing {
				return ""
			}
			return "x"
		})
		require.ErrorContains(t, err, missing+": set it")
	}
}

// What the plain form would pass over, it refuses.
func TestComposeOfAnotherKind(t *testing.T) {
	for _, text := range []string{
		"services: {a: {image: x, network_mode: host}}", "networks: {a: }", "services: {a: {image: $X}}", "services: {a: {image: '${X:-y}'}}",
	} {
		path := filepath.Join(t.TempDir(), "compose.yml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := plain.Read(path, passwords)
		require.Error(t, err, text)
	}
}

// The configurations as the server reads them, with what the Compose file gives the members.
func TestConfigurations(t *testing.T) {
	f, err := plain.Read(compose, passwords)
	require.NoError(t, err)
	for _, file := range []string{"one.conf", "three.conf"} {
		path := "../nats/" + file
		_, err := server.ProcessConfigFile(path)
		require.ErrorContains(t, err, "STENO_NATS_NAME", "nothing has a default")
		for _, member := range []string{"nats-1", "nats-2", "nats-3"} {
			for key, value := range f.Services[member].Environment {
				t.Setenv(key, value)
			}
			t.Setenv("STENO_NATS_STORE", t.TempDir())
			o, err := server.ProcessConfigFile(path)
			require.NoError(t, err)
			require.True(t, o.JetStream)
			require.True(t, o.SyncAlways)
			require.EqualValues(t, 1<<20, o.MaxPayload)
			require.Equal(t, member, o.ServerName)
			require.Equal(t, "steno", o.Username)
			require.Equal(t, "0123", o.Password, "a password of digits stays a text")
			require.Equal(t, "127.0.0.1", o.HTTPHost, "who may connect sees no more than that it lives")
			if file == "three.conf" {
				require.Len(t, o.Routes, 3)
				require.Equal(t, "0123", o.Cluster.Password)
				require.True(t, o.Cluster.NoAdvertise)
			} else {
				require.Empty(t, o.Routes)
				require.Zero(t, o.Cluster.Port)
			}
		}
		for _, key := range []string{"NAME", "LISTEN", "MONITOR", "STORE", "PASSWORD", "CLUSTER", "ROUTES"} {
			require.NoError(t, os.Unsetenv("STENO_NATS_"+key))
		}
	}
}

// The image is built of all that the command is made of, and is not root's.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(text), "CGO_ENABLED=0 go build")
	require.Contains(t, string(text), "\nUSER 65532:65532\n")
	ignore, err := os.ReadFile("../Dockerfile.dockerignore")
	require.NoError(t, err)
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}{{end}}", "./cmd/steno")
	list.Dir = top
	out, err := list.Output()
	require.NoError(t, err)
	root, err := filepath.Abs(top)
	require.NoError(t, err)
	seen := 0
	for dir := range strings.FieldsSeq(string(out)) {
		path, err := filepath.Rel(root, dir)
		require.NoError(t, err)
		folder, _, _ := strings.Cut(path, string(filepath.Separator))
		require.Contains(t, string(ignore), "\n!"+folder+"\n", "the image's build does not see %s", path)
		seen++
	}
	require.Greater(t, seen, 10)
}
