package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/journal"
	"github.com/steno-io/steno/ingest/publish"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/sqlite"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/acp"
)

// running is a holder that a test runs.
type running struct {
	stop   context.CancelFunc
	result chan result // takes the one result; end and wait put it back
}

type result struct {
	handedOver bool
	err        error
}

func options(t *testing.T, dir Dir, kind Kind) Options {
	return Options{
		Dir: dir, Kind: kind, Version: "test", SyncInterval: time.Second, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
		Catalogue: translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}}),
		Dial:      func(url string) (*nats.Conn, error) { return nats.Connect(url) },
	}
}

func start(t *testing.T, o Options) *running {
	t.Helper()
	h, err := Acquire(t.Context(), o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &running{stop, make(chan result, 1)}
	go func() {
		handedOver, err := h.Run(ctx)
		r.result <- result{handedOver, err}
	}()
	t.Cleanup(func() { r.end(t) })
	return r
}

func (r *running) end(t *testing.T) result {
	t.Helper()
	r.stop()
	return r.wait(t)
}

func (r *running) wait(t *testing.T) result {
	t.Helper()
	select {
	case got := <-r.result:
		r.result <- got
		return got
	case <-time.After(20 * time.Second):
		require.Fail(t, "the holder does not end")
		return result{}
	}
}

func connect(t *testing.T, dir Dir) *Client {
	t.Helper()
	c, err := dir.Connect(t.Context(), "test")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// drain drains journals that all come through.
func drain(t *testing.T, c *Client, msg ...any) {
	t.Helper()
	unstored, err := c.Drain(within(t))
	require.NoError(t, err, msg...)
	require.Empty(t, unstored, msg...)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestOneProcessHoldsADirectory(t *testing.T) {
	dir := Dir(t.TempDir())
	first := start(t, options(t, dir, Up))
	_, err := Acquire(t.Context(), options(t, dir, Command))
	require.ErrorIs(t, err, ErrHeld)
	address, err := dir.ReadAddress()
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), address.PID)
	require.Equal(t, Up, address.Kind)

	require.Equal(t, result{}, first.end(t))
	_, err = dir.ReadAddress()
	require.ErrorIs(t, err, fs.ErrNotExist, "the address goes with its holder")
	require.Equal(t, result{}, start(t, options(t, dir, Command)).end(t), "the lock goes, too")
	require.True(t, dir.Left(), "a command leaves word")
	start(t, options(t, dir, Up)).end(t)
	require.False(t, dir.Left(), "and an up does not")
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "data"))
	start(t, options(t, dir, Up)).end(t)
	require.NoError(t, filepath.WalkDir(string(dir), func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is %v", path, info.Mode())
		return nil
	}))
}

func TestTheTokenIsAsked(t *testing.T) {
	dir := Dir(t.TempDir())
	start(t, options(t, dir, Up))
	address, err := dir.ReadAddress()
	require.NoError(t, err)
	_, err = nats.Connect("nats://" + address.Server)
	require.ErrorIs(t, err, nats.ErrAuthorization)
}

func TestACommandHandsOverAndItsClientsGoOn(t *testing.T) {
	dir := Dir(t.TempDir())
	command := start(t, options(t, dir, Command))
	client := connect(t, dir)
	drain(t, client)

	require.NoError(t, connect(t, dir).HandOver(within(t)))
	require.Equal(t, result{handedOver: true}, command.wait(t))
	up := start(t, options(t, dir, Up))
	drain(t, client, "the same connection reaches the next holder")

	err := client.HandOver(within(t))
	require.ErrorContains(t, err, "does not hand over")
	require.Equal(t, result{}, up.end(t))
}

// record writes a journal as a tap does; closed says whether the tap came to its end.
func record(t *testing.T, dir Dir, destination string, closed bool, lines ...string) journal.Head {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir.Journals(), 0o700))
	run, err := uuid.NewV7()
	require.NoError(t, err)
	w, err := journal.Create(journal.Options{Dir: dir.Journals(), Head: journal.Head{
		Identity:    schema.Identity{Namespace: "default", Workflow: "w", Run: run.String(), Attempt: 1},
		Destination: destination, Open: schema.OpenInfo{Protocol: schema.ACP, Tap: "record"},
	}})
	require.NoError(t, err)
	for _, line := range lines {
		require.NoError(t, w.Append(t.Context(), schema.FromAgent, time.Now(), []byte(line+"\n")))
	}
	if closed {
		require.NoError(t, w.Control(t.Context(), schema.TypeClose, time.Now(), schema.CloseInfo{Reason: schema.ReasonEOF}))
	}
	require.NoError(t, w.Close())
	return w.Head()
}

func capture(t *testing.T, dir Dir, id schema.Identity) sink.CaptureInfo {
	t.Helper()
	ledger, err := sqlite.Open(dir.Ledger(), sqlite.Options{ReadOnly: true})
	require.NoError(t, err)
	defer ledger.Close()
	info, err := ledger.Capture(t.Context(), id)
	require.NoError(t, err)
	return info
}

const hello = `{"jsonrpc":"2.0","method":"_hello","params":{}}`

func TestDrainNumbersWhatTheJournalsHold(t *testing.T) {
	dir := Dir(t.TempDir())
	ended := record(t, dir, "", true, hello, hello)
	died := record(t, dir, "", false, hello)
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	drain(t, client)
	require.Equal(t, schema.StatusEnded, capture(t, dir, ended.Identity).Status)
	require.EqualValues(t, 4, capture(t, dir, ended.Identity).Accounted)
	require.Equal(t, schema.StatusAbandoned, capture(t, dir, died.Identity).Status)

	later := record(t, dir, "", true, hello)
	drain(t, client, "what came meanwhile is waited for, too")
	require.EqualValues(t, 3, capture(t, dir, later.Identity).Accounted)
}

func TestADamagedJournalHoldsUpNoOther(t *testing.T) {
	dir := Dir(t.TempDir())
	damaged := record(t, dir, "", true, hello, hello, hello)
	path := journal.Path(dir.Journals(), damaged.ID)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[len(data)-200] ^= 1 // before the last entries
	require.NoError(t, os.WriteFile(path, data, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir.Journals(), "nonsense.journal"), []byte("no journal"), 0o600))
	good := record(t, dir, "", true, hello)
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	unstored, err := client.Drain(within(t))
	require.NoError(t, err)
	require.Contains(t, strings.Join(unstored, "\n"), "nonsense.journal", "what does not come through is named")
	require.EqualValues(t, 3, capture(t, dir, good.Identity).Accounted)
	require.NotZero(t, capture(t, dir, damaged.Identity).Accounted, "what stands before the damage is stored")
}

func TestAJournalOfAnotherNATSIsPublishedThere(t *testing.T) {
	server := natstest.Start(t)
	_, js := server.Connect(t)
	dir := Dir(t.TempDir())
	head := record(t, dir, server.URL(), false, hello)
	start(t, options(t, dir, Up))
	subject := schema.RawSubject(head.Identity, server.Info.Partitions)
	require.Eventually(t, func() bool {
		m, ok, err := topology.Last(t.Context(), js, topology.Raw, subject)
		return err == nil && ok && m.Header.Get(schema.HeaderType) == string(schema.TypeClose)
	}, 20*time.Second, 20*time.Millisecond)
	drain(t, connect(t, dir), "it is not waited for here")
}

func TestSettleSaysWhatIsParked(t *testing.T) {
	dir := Dir(t.TempDir())
	start(t, options(t, dir, Up))
	client := connect(t, dir)
	js, err := jetstream.New(client.Conn)
	require.NoError(t, err)
	info, err := topology.Check(t.Context(), js)
	require.NoError(t, err)
	blobs, err := topology.OpenBlobs(t.Context(), js)
	require.NoError(t, err)
	id := schema.Identity{Namespace: "default", Workflow: "w", Run: "r", Attempt: 1}
	appender, err := publish.NewAppender(publish.AppenderOptions{JS: js, Blobs: blobs, Identity: id, Partitions: info.Partitions, Journal: "j"})
	require.NoError(t, err)
	open, err := json.Marshal(schema.OpenInfo{Protocol: "smoke-signals"})
	require.NoError(t, err)
	require.NoError(t, appender.Append(t.Context(), []schema.Frame{{
		At: time.Now().UTC(), From: schema.FromControl, Type: schema.TypeOpen, End: schema.EndNone, Data: open,
		Writer: schema.Writer{Journal: "j", Offset: 1},
	}}))
	err = client.Settle(within(t), id, 1)
	require.ErrorIs(t, err, ErrParked)
	require.ErrorContains(t, err, "smoke-signals")
}

func TestConnectWaitsForAHolder(t *testing.T) {
	dir := Dir(t.TempDir())
	connected := make(chan error, 1)
	go func() {
		c, err := dir.Connect(t.Context(), "test")
		if err == nil {
			_, err = c.Drain(t.Context())
			c.Close()
		}
		connected <- err
	}()
	time.Sleep(100 * time.Millisecond)
	start(t, options(t, dir, Up))
	select {
	case err := <-connected:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "it does not find the holder that came")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := Dir(t.TempDir()).Connect(ctx, "test")
	require.True(t, errors.Is(err, context.DeadlineExceeded), fmt.Sprint(err))
}
