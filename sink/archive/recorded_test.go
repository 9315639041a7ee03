package archive_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/ingest/files"
	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/archive"
	"github.com/steno-io/steno/sink/verify"
	"github.com/steno-io/steno/translate"
	"github.com/steno-io/steno/translate/a2a"
	"github.com/steno-io/steno/translate/acp"
)

func catalogue() *translate.Catalogue {
	return translate.NewCatalogue(map[schema.Protocol]translate.Translator{schema.ACP: acp.Translator{}, schema.A2A: a2a.Translator{}})
}

// fold folds real recordings again.
func fold(id schema.Identity, version string) verify.Fold {
	capture := translate.NewCapture(id, catalogue(), version)
	capture.Quiet()
	var events []schema.Event
	return verify.Fold{
		Step: func(f *schema.Frame) (_ []schema.Event, err error) {
			events, err = capture.Step(events[:0], f)
			return events, err
		},
		Open: func() map[uint32]uint64 { return capture.Open().Frames },
	}
}

// recorded are real recordings as streams and a ledger have them, in memory.
type recorded struct {
	captures
	infos  map[schema.Identity]sink.CaptureInfo
	events map[schema.Transcript][][]byte
	of     map[schema.Identity]schema.Protocol
}

// record has a file as the capture of that run, up to a frame; 0: whole.
func (r *recorded) record(t testing.TB, file, run string, last uint64) schema.Identity {
	t.Helper()
	if r.captures == nil {
		r.captures, r.infos, r.events = captures{}, map[schema.Identity]sink.CaptureInfo{}, map[schema.Transcript][][]byte{}
		r.of = map[schema.Identity]schema.Protocol{}
	}
	id := schema.Identity{Namespace: "default", Workflow: "import", Run: run, Attempt: 1}
	opened, err := files.Open(file)
	require.NoError(t, err)
	r.of[id], r.captures[id] = opened.Protocol(), nil
	chain := ""
	for f, err := range opened.Frames() {
		require.NoError(t, err)
		f.Protocol, f.Writer = "", schema.Writer{Journal: "j", Offset: f.Seq}
		salt := sha256.Sum256(fmt.Append(nil, run, f.Seq))
		f.Salt = hex.EncodeToString(salt[:16])
		chain, err = schema.ChainHash(chain, &f)
		require.NoError(t, err)
		f.Chain = chain
		r.captures[id] = append(r.captures[id], &f)
		if f.Seq == last {
			break
		}
	}
	r.fold(t, id)
	return id
}

// fold numbers what a capture's frames give.
func (r *recorded) fold(t testing.TB, id schema.Identity) {
	t.Helper()
	capture := translate.NewCapture(id, catalogue(), "")
	info := sink.CaptureInfo{Capture: sink.Capture{Capture: id}}
	heads := map[uint32]uint64{}
	var events []schema.Event
	for _, f := range r.captures[id] {
		var err error
		events, err = capture.Step(events[:0], f)
		require.NoError(t, err)
		for i := range events {
			e := &events[i]
			if e.Ephemeral {
				continue
			}
			heads[e.Session]++
			e.StoreSeq = heads[e.Session]
			key := schema.Transcript{Identity: id, Session: e.Session}
			if e.StoreSeq == 1 {
				r.events[key] = nil
			}
			r.events[key] = append(r.events[key], e.AppendJSON(nil))
			info.Last, info.Chain, info.Translator, info.Open = e.Origin(), f.Chain, e.Source.Translator, capture.Open().Frames
		}
	}
	for session, head := range heads {
		info.Sessions = append(info.Sessions, sink.SessionInfo{Session: session, Head: head})
	}
	r.infos[id] = info
}

func (r *recorded) Capture(_ context.Context, id schema.Identity) (sink.CaptureInfo, error) {
	return r.infos[id], nil
}

func (r *recorded) Transcript(_ context.Context, key schema.Transcript) (sink.Summary, error) {
	return sink.Summary{Protocol: r.of[key.Identity]}, nil
}

func (r *recorded) Events(_ context.Context, key schema.Transcript, after uint64, _ int) iter.Seq2[sink.Event, error] {
	return func(yield func(sink.Event, error) bool) {
		for i, e := range r.events[key] {
			if n := uint64(i) + 1; n > after && !yield(sink.Event{Seq: n, Bytes: append([]byte(nil), e...)}, nil) {
				return
			}
		}
	}
}

// seal seals a capture into a directory.
func (r *recorded) seal(t testing.TB, dir string, key archive.Key, id schema.Identity) *archive.Seal {
	t.Helper()
	store, err := archive.OpenDir(dir, true)
	require.NoError(t, err)
	seal, err := archive.NewSealer(store, r, r, key).Seal(context.Background(), id)
	require.NoError(t, err)
	return seal
}

func recordingFile(name string) string { return filepath.Join("..", "..", "cmd", "steno", name) }

// newKey makes a key of that name.
func newKey(t testing.TB, name string) (key archive.Key, private string) {
	t.Helper()
	private, _, err := archive.Generate(name)
	require.NoError(t, err)
	key, err = archive.NewKey(private)
	require.NoError(t, err)
	return key, strings.TrimSpace(private)
}
