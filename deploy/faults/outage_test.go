//go:build faults

package faults

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/deploy/outside"
)

// The broker is away from the middle of an import for as long as -outage says: the import waits, and
// ends complete and in order.
func TestImportOverAnOutage(t *testing.T) {
	t.Parallel()
	r := newRig(t, built(t), 1, *seedFlag, *outage+3*time.Minute)
	r.keeping(r.slot("translate1"), "translate")

	var file bytes.Buffer
	var frames []outside.Frame
	for n := 0; len(frames) < 6000; n++ {
		text, some := linesFile(of(r.seed, "outage", n))
		file.Write(text)
		frames = append(frames, some...)
	}
	path := filepath.Join(r.dir, "long.jsonl")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	importer := r.slot("import1")
	p, err := importer.begin(r, "", r.steno("import", "--nats", importer.line.url(), "--workflow", "import", "--run", "long", path))
	require.NoError(t, err)

	stream, err := r.js.Stream(r.ctx, "STENO_RAW")
	require.NoError(t, err)
	stored := uint64(0)
	require.Eventually(t, func() bool {
		info, err := stream.Info(r.ctx)
		if err == nil {
			stored = info.State.Msgs
		}
		return stored > 100
	}, time.Minute, time.Millisecond)
	r.servers.kill(r.all[0])
	select {
	case <-p.ended:
		require.Fail(t, "the import was over before the broker was away")
	default:
	}
	r.say("the broker is away, about %d of %d frames are stored", stored, len(frames)+2)
	require.True(t, sleep(p.ended, *outage), "the import has ended without its broker: %s", lastLine(p.log))
	require.NoError(t, r.restart(r.ctx, r.js, r.all[0]))
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		require.Fail(t, "the import does not end", lastLine(p.log))
	}
	require.True(t, p.state.Success(), lastLine(p.log))

	got, err := outside.Frames(r.ctx, r.js)
	require.NoError(t, err)
	one := imported{capture: "default/import/long/0/1", frames: frames}
	require.NoError(t, one.check(got))
	want := r.fold(got)
	records, err := outside.ReadRecords(r.ctx, r.js)
	require.NoError(t, err)
	require.NoError(t, outside.Same("records", want, records.Events))
	r.say("the import ended with all %d frames, in order, once, after the broker was away for %s", len(frames)+2, *outage)
}
