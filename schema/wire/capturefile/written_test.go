package capturefile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/steno-io/steno/schema"
)

// bothWays holds what written makes of a line, if it takes it, against what decode does. before is the number of
// the frame before, 0 if there is none.
func bothWays(t require.TestingT, line []byte, before uint64) (taken bool) {
	reader := func() *Reader {
		r := NewArchiveReader("frames", nil)
		if before > 0 {
			r.frames, r.last, r.protocol = 1, before, schema.A2A
		}
		r.line = 1
		return r
	}
	kept := bytes.Clone(line)
	var got schema.Frame
	if !reader().written(line, &got) {
		return false
	}
	want, err := reader().decode(kept)
	require.NoError(t, err, "%q", kept)
	for i := range line { // nothing of the frame stands in the line
		line[i] = 'x'
	}
	require.Equal(t, want, got, "%q", kept)
	return true
}

func TestBothReadersOfAnArchiveLineAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SampledFrom([]uint64{0, 6}).Draw(t, "before")
		f := drawFrame(t, 7, rapid.SampledFrom([]schema.Protocol{"", schema.ACP, schema.A2A}).Draw(t, "protocol"))
		if rapid.Bool().Draw(t, "blob") {
			f.Blob = strings.Repeat("b", 64)
			f.Data = f.Data[:rapid.SampledFrom([]int{0, len(f.Data)}).Draw(t, "kept")]
		}
		line, err := AppendArchiveLine(nil, &f)
		require.NoError(t, err)
		line = bytes.TrimSuffix(line, []byte("\n"))
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			// among what stands in a line rather than among all bytes: more of it is read
			c := rapid.SampledFrom(append([]byte("\"\\{}[],:u0019 aZ\x00\x7f\x80\xff"), line...)).Draw(t, "byte")
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				line[at] = c
			case 1:
				line = append(line[:at:at], line[at+1:]...)
			case 2:
				line = append(line[:at:at], append([]byte{c}, line[at:]...)...)
			case 3:
				to := rapid.IntRange(at, len(line)).Draw(t, "to")
				line = append(line[:to:to], line[at:]...)
			}
			if len(line) == 0 {
				return
			}
		}
		bothWays(t, line, before)
	})
}

// What an archive has is read the short way, all of it but what is never met, and evidence that has to be encoded.
func TestArchiveLinesAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t, 7, rapid.SampledFrom([]schema.Protocol{"", schema.A2A}).Draw(t, "protocol"))
		f.No, f.Writer.Offset = f.No%1e19, f.Writer.Offset%1e19 // of at most 19 digits
		f.Exchange = strings.NewReplacer(`"`, "", `\`, "").Replace(f.Exchange)
		line, err := AppendArchiveLine(nil, &f)
		require.NoError(t, err)
		taken := bothWays(t, bytes.TrimSuffix(line, []byte("\n")), 6)
		require.Equal(t, len(f.HTTP) == 0 || isPlain(f.HTTP), taken, "%s", line)
	})
}

func FuzzWritten(f *testing.F) {
	f.Add([]byte(`{"seq":7,"at":"2026-11-29T20:00:00.000000001Z","from":"agent","type":"data","protocol":"acp","text":"\u001b\t\"é","end":"lf","salt":"` +
		strings.Repeat("0a", 16) + `","writer":"j:9","chain":"` + strings.Repeat("c", 64) + `"}`))
	f.Add([]byte(`{"seq":7,"at":"2026-11-29T20:00:00Z","from":"client","type":"data","protocol":"a2a","b64":"/w==","end":"none","exchange":"e","no":2,` +
		`"chan":"request","http":{"status": 200,"h":{"a":["b"]}},"blob":"` + strings.Repeat("b", 64) + `"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		bothWays(t, line, 6)
	})
}
