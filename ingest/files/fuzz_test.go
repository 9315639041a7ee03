package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/wire/capturefile"
)

// FuzzOpen: whatever is read is a capture, the same on each reading; written as a capture file it is
// the same capture.
func FuzzOpen(f *testing.F) {
	for _, path := range recordings[:1] {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(ask + "\n" + reply + "\n> x\n<\n"))
	f.Add([]byte(`{"messages":[` + msg(1, toAgent) + `,` + msg(2, toEditor) + `],"a":{}}`))
	f.Add([]byte(`{"type":"open","text":"{\"protocol\":\"a2a\"}"}` + "\n" + `{"from":"agent","b64":"/w==","exchange":"e"}` + "\n" +
		`{"type":"close","text":"{\"exchange\":\"e\"}"}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "input")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		file, err := Open(path)
		if err != nil {
			require.ErrorContains(t, err, path)
			return
		}
		frames, err := collect(file)
		again, errAgain := collect(file)
		require.Equal(t, frames, again)
		require.Equal(t, err, errAgain)
		require.GreaterOrEqual(t, len(frames), 1)
		require.Equal(t, schema.TypeOpen, frames[0].Type)

		var out []byte
		for i := range frames {
			require.Equal(t, uint64(i+1), frames[i].Seq)
			require.Equal(t, file.Protocol(), frames[i].Protocol)
			out, errAgain = capturefile.AppendLine(out, &frames[i])
			require.NoError(t, errAgain)
		}
		if err != nil {
			return
		}
		require.NoError(t, os.WriteFile(path, out, 0o600))
		require.Equal(t, frames, mustRead(t, path))
	})
}
