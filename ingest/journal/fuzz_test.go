package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// Whatever stands in a file: what is given encodes to the very bytes that stand there, damage fills the
// places between, and the end is a torn tail; never a panic and never a guess. A second reader gives
// the same.
func FuzzReader(f *testing.F) {
	_, whole := fixture(f, 4)
	h, start, err := decodeHead(whole)
	require.NoError(f, err)
	require.NotEmpty(f, h.ID)
	body := whole[start:]
	f.Add(body)
	f.Add(body[:len(body)-1])
	f.Add(append(bytes.Repeat([]byte{0}, 100), body...))
	f.Add(append(append([]byte(nil), body[:40]...), body...))
	inLane, err := appendEntry(nil, Lane{Exchange: uuid.New(), Chan: schema.ChanStream, Served: true}, schema.FromAgent, schema.TypeData, 9e18, []byte("x"))
	require.NoError(f, err)
	f.Add(append(append([]byte(nil), body...), inLane...))
	f.Add([]byte{})
	path := f.TempDir() + "/x" + suffix
	f.Fuzz(func(t *testing.T, body []byte) {
		file := append(append([]byte(nil), whole[:start]...), body...)
		require.NoError(t, os.WriteFile(path, file, 0o600))
		r, err := Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		second, err := Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, second.Close()) }()
		var again []byte
		for {
			e, err := r.Next(t.Context())
			same, failed := second.Next(t.Context())
			require.Equal(t, e, same)
			require.Equal(t, err, failed)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				require.Equal(t, uint64(len(file)), r.End()+r.Torn())
				break
			}
			if e.Lost > 0 {
				require.Equal(t, uint64(start+len(again)), e.Offset)
				again = append(again, body[len(again):len(again)+int(e.Lost)]...)
				continue
			}
			require.Equal(t, uint64(start+len(again)), e.Start())
			again, err = appendEntry(again, e.Lane, e.From, e.Type, e.At.UnixNano(), e.Data)
			require.NoError(t, err)
		}
		require.True(t, bytes.HasPrefix(body, again))
	})
}

func FuzzHead(f *testing.F) {
	_, whole := fixture(f, 0)
	f.Add(whole)
	f.Add([]byte(magic + "\xff\xff\xff\xff0000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := decodeHead(b)
		if err != nil {
			require.True(t, errors.Is(err, errShort) || errors.Is(err, ErrDamaged))
			return
		}
		require.LessOrEqual(t, n, len(b))
		again, err := appendHead(nil, h)
		require.NoError(t, err)
		second, _, err := decodeHead(again)
		require.NoError(t, err)
		require.Equal(t, h, second)
	})
}
