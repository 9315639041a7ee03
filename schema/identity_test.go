package schema_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func TestIdentityComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawIdentity(t)
		require.NoError(t, want.Validate())
		got, err := schema.ParseIdentity(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = schema.ParseIdentitySubject(want.Subject())
		require.NoError(t, err)
		require.Equal(t, want, got)

		key := schema.Transcript{Identity: want, Session: rapid.Uint32().Draw(t, "session")}
		back, err := schema.ParseTranscript(key.String())
		require.NoError(t, err)
		require.Equal(t, key, back)
	})
}

func TestIdentityHasOneSpelling(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, bad := range []string{
		"", "a/b/c/0", "a/b/c/0/1/2", "/b/c/0/1", "a//c/0/1", "a/b//0/1", "a/b/c//1", "a/b/c/0/", "a.b/b/c/0/1", "a/b c/c/0/1",
		"a/b/é/0/1", "a/b/c/00/1", "a/b/c/0/01", "a/b/c/-1/1", "a/b/c/+1/1", "a/b/c/0/4294967296", "a/b/c/18446744073709551616/1",
		long + "/b/c/0/1", "a/" + long + "/c/0/1", "a/b/" + long + "/0/1", "*/b/c/0/1", "a/>/c/0/1",
	} {
		_, err := schema.ParseIdentity(bad)
		require.Error(t, err, bad)
		require.ErrorContains(t, err, "identity", bad)
		_, err = schema.ParseIdentitySubject(strings.ReplaceAll(bad, "/", "."))
		require.Error(t, err, bad)
	}
	for _, bad := range []string{"", "a", "a/b/c/0/1", "a/b/c/0/1/", "a/b/c/0/1/00", "a/b/c/0/1/4294967296", "a/b/c/0/1/2/3"} {
		_, err := schema.ParseTranscript(bad)
		require.ErrorContains(t, err, "parse transcript key", bad)
	}
}

func TestToken(t *testing.T) {
	for name, want := range map[string]string{
		"": "_", "import": "import", "my agent.exe": "my_agent_exe", "łódź": "__d_", "\xff\xfe": "__", "a/b:c": "a_b_c",
		strings.Repeat("é", 70): strings.Repeat("_", 64), strings.Repeat("x", 65): strings.Repeat("x", 64),
	} {
		require.Equal(t, want, schema.Token(name), name)
	}
	rapid.Check(t, func(t *rapid.T) {
		token := schema.Token(rapid.String().Draw(t, "name"))
		require.True(t, schema.IsToken(token), token)
		require.Equal(t, token, schema.Token(token))
	})
}

// The numbers are those that nats-server's subject transform {{partition(n,1,2,3,4,5)}} gives.
func TestPartitionIsThatOfASubjectTransform(t *testing.T) {
	for _, c := range []struct {
		identity string
		n, want  uint32
	}{
		{"default/import/0c2e4a2e-3e26-5d7e-8b5e-000000000001/0/1", 1, 0},
		{"default/import/0c2e4a2e-3e26-5d7e-8b5e-000000000001/0/1", 7, 3},
		{"default/import/0c2e4a2e-3e26-5d7e-8b5e-000000000001/0/1", 1000, 992},
		{"ns/w/r/18446744073709551615/4294967295", 7, 4},
		{"ns/w/r/18446744073709551615/4294967295", 32, 17},
		{"a/b/c/1/2", 32, 20},
		{"a/b/c/1/2", 1000, 564},
		{"a/bc/1/2/3", 32, 5},
		{"a/bc/1/2/3", 1000, 933},
	} {
		id, err := schema.ParseIdentity(c.identity)
		require.NoError(t, err)
		require.Equal(t, c.want, id.Partition(c.n), "%s of %d", c.identity, c.n)
	}
}

func TestNamesByContent(t *testing.T) {
	run := schema.RunOf("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	require.Equal(t, "ca1164a2-acfb-53b7-98e8-bbfb2660d104", run)
	require.True(t, schema.IsToken(run))
	require.Equal(t, uuid.Version(5), uuid.MustParse(run).Version())
	require.NotEqual(t, run, schema.RunOf(""))

	a := schema.Identity{Namespace: "a", Workflow: "b", Run: "c", Activity: 1, Attempt: 2}
	b := a
	b.Activity = 2
	require.Equal(t, a.UUID("x"), a.UUID("x"))
	require.NotEqual(t, a.UUID("x"), a.UUID("y"))
	require.NotEqual(t, a.UUID("x"), b.UUID("x"))
}
