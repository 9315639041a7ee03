package holder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
)

func TestWhatIsNoTokenIsMadeAnew(t *testing.T) {
	for name, token := range map[string]string{
		"empty": "", "cut": strings.Repeat("a", tokenLength-1), "no digits": strings.Repeat("x", tokenLength),
	} {
		t.Run(name, func(t *testing.T) {
			dir := Dir(t.TempDir())
			require.NoError(t, os.WriteFile(dir.token(), []byte(token), 0o600))
			start(t, options(t, dir, Up))
			got, err := dir.readToken()
			require.NoError(t, err)
			require.Len(t, got, tokenLength)
			drain(t, connect(t, dir))
		})
	}
}

// A free directory looks free while somebody waits for its holder.
func TestWhoWaitsForAHolderHoldsUpNone(t *testing.T) {
	dir := Dir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := dir.Connect(ctx, "test")
		waiting <- err
	}()
	for range 500 {
		l, err := dir.take()
		require.NoError(t, err)
		require.NoError(t, l.release())
	}
	cancel()
	require.ErrorIs(t, <-waiting, context.Canceled)
}

// stream opens a stream of a directory's holder.
func stream(t *testing.T, c *Client, name string) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(c.Conn)
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), name)
	require.NoError(t, err)
	return js, s
}

func TestDrainNamesAJournalThatCanNeverBeStored(t *testing.T) {
	dir := Dir(t.TempDir())
	bad, aside := record(t, dir, "", true, hello), filepath.Join(t.TempDir(), "aside")
	require.NoError(t, os.Rename(dir.Journals(), aside)) // until its subject is spoilt
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	drain(t, client)
	js, _ := stream(t, client, topology.Raw)
	info, err := topology.Check(t.Context(), js)
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), schema.RawSubject(bad.Identity, info.Partitions), []byte("no frame"))
	require.NoError(t, err)
	files, err := os.ReadDir(aside)
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Rename(filepath.Join(aside, f.Name()), filepath.Join(dir.Journals(), f.Name())))
	}
	other := record(t, dir, "", true, hello)

	for range 2 { // it is named again, not waited for again
		unstored, err := client.Drain(within(t))
		require.NoError(t, err)
		require.Len(t, unstored, 1)
		require.Contains(t, unstored[0], bad.ID)
	}
	require.EqualValues(t, 3, capture(t, dir, other.Identity).Accounted, "the others come through")
}

func TestDrainNamesAJournalThatKeepsFailingUntilItDoesNot(t *testing.T) {
	dir := Dir(t.TempDir())
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	drain(t, client)
	js, raw := stream(t, client, topology.Raw)
	config := raw.CachedInfo().Config
	full := config
	full.MaxMsgs = 1
	_, err := js.UpdateStream(t.Context(), full)
	require.NoError(t, err)
	head := record(t, dir, "", true, hello)
	unstored, err := client.Drain(within(t))
	require.NoError(t, err)
	require.Len(t, unstored, 1)
	require.Contains(t, unstored[0], head.ID)

	_, err = js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		unstored, err := client.Drain(within(t))
		return err == nil && len(unstored) == 0
	}, 60*time.Second, 50*time.Millisecond)
	require.EqualValues(t, 3, capture(t, dir, head.Identity).Accounted)
}

func TestSettleSaysWhatIsLost(t *testing.T) {
	dir := Dir(t.TempDir())
	head := record(t, dir, "", true, hello)
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	drain(t, client)
	err := client.Settle(within(t), head.Identity, 99)
	require.ErrorIs(t, err, ErrStalled)
	require.ErrorContains(t, err, "holds no frame of it after 3")

	other := head.Identity
	other.Attempt = 7
	err = client.Settle(within(t), other, 1)
	require.ErrorIs(t, err, ErrStalled)
	require.ErrorContains(t, err, "holds no frame of it")
}

func TestThePulseGivesUpOnWhatDoesNotMove(t *testing.T) { synctest.Test(t, givesUp) }

// givesUp runs by a clock of its own: on a busy machine a pause may last longer than the pulse waits.
func givesUp(t *testing.T) {
	const after = 200 * time.Millisecond
	never := func(error) bool { return false }
	blocked := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	p := newPulse(nil, after)
	require.ErrorIs(t, p.patient(t.Context(), 0, never, blocked), ErrStalled)
	require.ErrorIs(t, p.patient(t.Context(), 0, never, func(context.Context) error { return os.ErrClosed }), os.ErrClosed,
		"the last failure is told, too")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := p.patient(ctx, 0, never, blocked)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrStalled)

	id := schema.Identity{Namespace: "n", Workflow: "w", Run: "r", Attempt: 1}
	stored := p.stored(1)
	require.NoError(t, p.patient(t.Context(), 0, never, func(ctx context.Context) error {
		for range 30 {
			stored(sink.Stored{Heads: []sink.Head{{Transcript: schema.Transcript{Identity: id}, Seq: 1}}})
			if err := sleep(ctx, after/10); err != nil {
				return err
			}
		}
		return nil
	}), "what moves is waited for")
}
