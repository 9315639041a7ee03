package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

func TestSubjects(t *testing.T) {
	id := schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Activity: 7, Attempt: 2}
	key := schema.Transcript{Identity: id, Session: 3}
	for want, got := range map[string]string{
		"steno.raw.2.default.w.r.7.2":            schema.RawSubject(id, 32),
		"steno.event.2.default.w.r.7.2":          schema.EventSubject(id, 32),
		"steno.state.2.default.w.r.7.2":          schema.StateSubject(id, 32),
		"steno.open.2.default.w.r.7.2":           schema.OpenSubject(id, 32),
		"steno.delta.default.w.r.7.2.3":          schema.DeltaSubject(key),
		"steno.stored.default.w.r.7.2.3":         schema.StoredSubject(key),
		"steno.intervene.default.w.r.7.2.miller": schema.InterveneSubject(id, "miller"),
		"steno.intervene.default.w.r.7.2.*":      schema.InterveneSubjects(id),
		"steno.raw.5.>":                          schema.RawPartition(5),
		"steno.event.5.>":                        schema.EventPartition(5),
		"steno.open.5.>":                         schema.OpenPartition(5),
	} {
		require.Equal(t, want, got)
	}
}

func TestSubjectsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := drawIdentity(t)
		n := rapid.Uint32Min(1).Draw(t, "partitions")
		for _, subject := range []string{schema.RawSubject(id, n), schema.EventSubject(id, n), schema.StateSubject(id, n), schema.OpenSubject(id, n)} {
			partition, got, err := schema.ParseSubject(subject)
			require.NoError(t, err)
			require.Equal(t, id, got)
			require.Equal(t, id.Partition(n), partition)
		}
		key := schema.Transcript{Identity: id, Session: rapid.Uint32().Draw(t, "session")}
		for _, subject := range []string{schema.DeltaSubject(key), schema.StoredSubject(key)} {
			got, err := schema.ParseTranscriptSubject(subject)
			require.NoError(t, err)
			require.Equal(t, key, got)
		}
	})
}

func TestParseSubjectSaysWhatIsWrong(t *testing.T) {
	for _, bad := range []string{
		"", "steno.raw.", "steno.raw.1", "steno.raw.1.a.b.c.0", "steno.raw.01.a.b.c.0.1", "steno.raw.x.a.b.c.0.1",
		"steno.raw.1.a.b.c.0.1.2", "steno.raw.1.a.b.c.0.*", "steno.raw.1.>", "steno.raws.1.a.b.c.0.1", "steno.delta.a.b.c.0.1.0",
		"steno.raw.4294967296.a.b.c.0.1", "steno.raw.1.a/b.c.d.0.1",
	} {
		_, _, err := schema.ParseSubject(bad)
		require.ErrorContains(t, err, "parse subject", bad)
	}
	for _, bad := range []string{"", "steno.delta.", "steno.delta.a.b.c.0.1", "steno.delta.a.b.c.0.1.x", "steno.raw.1.a.b.c.0.1", "steno.delta.a/b.c.0.1.0", "steno.stored.a/b/c/0/1/0"} {
		_, err := schema.ParseTranscriptSubject(bad)
		require.Error(t, err, bad)
		require.ErrorContains(t, err, "parse", bad)
	}
}

func TestIsInbox(t *testing.T) {
	for _, inbox := range []string{"_INBOX.Ab1", "_INBOX.Ab1.7", "_INBOX_console.x", "_R_.oJ3.x"} {
		require.True(t, schema.IsInbox(inbox), inbox)
	}
	for _, other := range []string{
		"", "x", "orders.new", "steno.raw.0.x", "$JS.API.INFO", "$KV.x.y", "_INBOX", "_INBOX.", "_R_", "_GR_.x", "orders._INBOX.x", "_INBOX.>", "_INBOX.*.x", "_INBOX_miller",
	} {
		require.False(t, schema.IsInbox(other), other)
	}
}

// FuzzParseSubject: what is accepted has exactly one spelling.
func FuzzParseSubject(f *testing.F) {
	f.Add("steno.raw.1.a.b.c.0.1")
	f.Add("steno.open.4294967295.a.b.c.18446744073709551615.4294967295")
	f.Add("steno.delta.a.b.c.0.1.2")
	f.Add("steno.delta.a/b.c.0.1.2")
	f.Fuzz(func(t *testing.T, subject string) {
		if _, id, err := schema.ParseSubject(subject); err == nil {
			require.NoError(t, id.Validate())
			require.True(t, strings.HasSuffix(subject, "."+id.Subject()), subject)
		}
		if key, err := schema.ParseTranscriptSubject(subject); err == nil {
			require.Contains(t, []string{schema.DeltaSubject(key), schema.StoredSubject(key)}, subject)
		}
	})
}
