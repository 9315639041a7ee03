package reading

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

const patched = `diff --git /w/a.go /w/a.go
index 1..2 100644
--- /w/a.go
+++ /w/a.go
@@ -1,3 +1,3 @@ func main() {
 one
-two
--- three
+deux
+++ trois
@@ -9 +9,2 @@
-nine
\ No newline at end of file
+neuf
+dix
diff --git /w/old.go /w/old.go
deleted file mode 100644
--- /w/old.go
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git /w/b.go /w/c.go
rename from /w/b.go
rename to /w/c.go
diff --git "/w/caf\303\251.go" "/w/caf\303\251.go"
--- /dev/null
+++ "/w/caf\303\251.go"
@@ -0,0 +1 @@
+new

@@ what -x +y @@
+lost
`

func diffOf(changes, patch string) schema.JSON {
	v := schema.JSON(`[{"type":"diff","changes":[` + changes + `]`)
	if patch != "" {
		v = append(v, `,"patch":{"format":"git_patch","text":`...)
		v = append(schema.AppendString(v, patch), '}')
	}
	return append(v, "}]"...)
}

func TestChangesWithAPatch(t *testing.T) {
	edits := editsIn(Parse(diffOf(`{"operation":"modify","path":"/w/a.go"},{"operation":"delete","path":"/w/old.go"},
		{"operation":"move","oldPath":"/w/b.go","path":"/w/c.go"},{"operation":"add","path":"/w/café.go"},{"operation":"_melt","path":"/w/d.go"}`, patched)))
	require.Equal(t, []Edit{
		{Path: "/w/a.go", Did: "changed", Removed: []string{"two", "-- three", "nine"}, Added: []string{"deux", "++ trois", "neuf", "dix"}},
		{Path: "/w/old.go", Did: "deleted", Removed: []string{"gone"}},
		{Path: "/w/b.go → /w/c.go", Did: "moved"},
		{Path: "/w/café.go", Did: "added", Added: []string{"new"}},
		{Path: "/w/d.go", Did: "changed"},
	}, edits)
	require.Equal(t, "changed · −3 +4 lines", edits[0].Words())
	require.Equal(t, "moved", edits[2].Words())
	require.False(t, edits[2].Equal(Edit{Path: "/w/b.go → /w/c.go"}))
}

func TestChangesWithoutAPatch(t *testing.T) {
	const change = `{"operation":"copy","oldPath":"/w/a","path":"/w/b"}`
	want := []Edit{{Path: "/w/a → /w/b", Did: "copied"}}
	require.Equal(t, want, editsIn(Parse(diffOf(change, ""))))
	require.Equal(t, want, editsIn(Parse(diffOf(change, "no patch at all\n@@ -1 +1 @@\n+x"))))
	require.Equal(t, want, editsIn(Parse(schema.JSON(`[{"type":"diff","changes":[`+change+`],"patch":{"format":"_mine","text":"+++ /w/b"}}]`))))
	require.Equal(t, "/w/a → /w/b  copied", Readable(diffOf(change, "")))
	require.Equal(t, "/w/a → /w/b  copied\n+x", Readable(diffOf(change, "+x\n")))
	require.True(t, OnlyEdits(diffOf(change, "")))
	require.Equal(t, "−1 +0 lines", Edit{Removed: []string{"x"}}.Words())
}
