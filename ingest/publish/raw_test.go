package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/schema/natstest"
	"github.com/steno-io/steno/schema/topology"
)

// deadline is a context that ends with the test or after a minute.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// rig is a server with what an appender needs.
type rig struct {
	*natstest.Server
	blobs *topology.Blobs
}

func newRig(t testing.TB) *rig {
	t.Helper()
	s := natstest.Start(t)
	blobs, err := topology.OpenBlobs(deadline(t), s.JS)
	require.NoError(t, err)
	return &rig{s, blobs}
}

var capture = newTape("j").head.Identity

// appender makes an appender of a journal on the capture; change may alter its options.
func (r *rig) appender(t testing.TB, journal string, change ...func(*AppenderOptions)) *Appender {
	t.Helper()
	o := AppenderOptions{JS: r.JS, Blobs: r.blobs, Identity: capture, Partitions: r.Info.Partitions, Journal: journal}
	for _, c := range change {
		c(&o)
	}
	a, err := NewAppender(o)
	require.NoError(t, err)
	return a
}

// frames makes data frames with texts 1 to n, at offsets 101 to 100+n.
func frames(n int) []schema.Frame {
	out := make([]schema.Frame, n)
	for i := range out {
		out[i] = schema.Frame{
			At: began.Add(time.Duration(i) * time.Millisecond), From: schema.FromAgent, Type: schema.TypeData, End: schema.EndLF,
			Data: fmt.Append(nil, i+1), Writer: schema.Writer{Offset: start + uint64(i) + 1},
		}
	}
	return out
}

// stored reads a capture's subject without the code under test, checks numbers and chain, and gives
// the frames.
func (r *rig) stored(t testing.TB, id schema.Identity) []schema.Frame {
	t.Helper()
	ctx := deadline(t)
	stream, err := r.JS.Stream(ctx, "STENO_RAW")
	require.NoError(t, err)
	subject := schema.RawSubject(id, r.Info.Partitions)
	var out []schema.Frame
	var chain [sha256.Size]byte
	for seq := uint64(1); ; {
		m, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
		if err != nil {
			require.ErrorIs(t, err, jetstream.ErrMsgNotFound)
			return out
		}
		seq = m.Sequence + 1
		f, _, err := r.blobs.Frame(ctx, topology.Message{Subject: m.Subject, Seq: m.Sequence, Header: m.Header, Data: m.Data})
		require.NoError(t, err)
		require.Equal(t, uint64(len(out)+1), f.Seq, "numbers have no gap")
		require.Equal(t, strconv.Itoa(len(out)+1), m.Header.Get("Steno-Seq"))
		require.Empty(t, m.Header.Get("Nats-Msg-Id"))
		chain = link(t, chain, m.Header, f.Data)
		require.Equal(t, hex.EncodeToString(chain[:]), m.Header.Get("Steno-Chain"), "chain of frame %d", f.Seq)
		out = append(out, f)
	}
}

// link is the chain as the format describes it.
func link(t testing.TB, previous [sha256.Size]byte, header map[string][]string, data []byte) [sha256.Size]byte {
	t.Helper()
	salt, err := hex.DecodeString(header["Steno-Salt"][0])
	require.NoError(t, err)
	require.Len(t, salt, 16)
	leaf := sha256.Sum256(slices.Concat(salt, data))
	var names []string
	for name := range header {
		if strings.HasPrefix(name, "Steno-") && name != "Steno-Salt" && name != "Steno-Chain" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	text := ""
	for _, name := range names {
		text += name + ":" + header[name][0] + "\n"
	}
	return sha256.Sum256(slices.Concat(previous[:], leaf[:], []byte(text)))
}

// texts writes frames as journal:data.
func texts(frames []schema.Frame) []string {
	var out []string
	for _, f := range frames {
		out = append(out, f.Writer.Journal+":"+string(f.Data))
	}
	return out
}

// numbers is what texts gives for frames 1 to n of journal j, each once and in order.
func numbers(journal string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, journal+":"+strconv.Itoa(i+1))
	}
	return out
}
