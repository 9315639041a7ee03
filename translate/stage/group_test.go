package stage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// frames makes groups of one frame each, with so many events of so many bytes.
func frames(n, events, bytes int) []group {
	var out []group
	ordinal := uint64(0)
	for f := 1; f <= n; f++ {
		g := group{frame: uint64(f), chain: fmt.Sprint("chain", f), open: map[uint32]uint64{1: uint64(f)}}
		for part := range events {
			ordinal++
			g.events = append(g.events, event{origin: schema.Origin{Frame: g.frame, Part: uint32(part)}, session: 1,
				ordinal: ordinal, line: []byte(strings.Repeat("x", bytes))})
			g.bytes += bytes
		}
		out = append(out, g)
	}
	return out
}

func TestCutKeepsTheBounds(t *testing.T) {
	for name, c := range map[string]struct{ n, events, bytes, want int }{
		"few":              {3, 2, 10, 3},
		"many events":      {5000, 1, 10, maxRecordEvents},
		"many bytes":       {1000, 1, 10_239, 51},
		"one large frame":  {3, 1, maxRecordBytes + 1, 1},
		"one frame of all": {2, maxRecordEvents + 1, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			groups := frames(c.n, c.events, c.bytes)
			rec := cut(groups, "words/1")
			require.Equal(t, schema.Origin{Frame: uint64(c.want), Part: uint32(c.events - 1)}, rec.Last)
			require.Len(t, rec.Events, c.want*c.events)
			require.Equal(t, fmt.Sprint("chain", c.want), rec.Chain)
			require.Equal(t, map[uint32]uint64{1: uint64(c.want)}, rec.Open)
			require.Equal(t, map[uint32]uint64{1: 1}, rec.First)

			rest, bytes := dropUpTo(groups, rec.Last)
			require.Equal(t, c.want*c.events*c.bytes, bytes)
			require.Len(t, rest, c.n-c.want)
			if len(rest) > 0 {
				require.EqualValues(t, c.want*c.events+1, cut(rest, "words/1").First[1])
			}
		})
	}
}

func TestDropInsideAFrame(t *testing.T) {
	rest, bytes := dropUpTo(frames(3, 4, 10), schema.Origin{Frame: 2, Part: 1})
	require.Equal(t, 60, bytes)
	require.Len(t, rest, 2)
	require.Len(t, rest[0].events, 2)
	require.Equal(t, 20, rest[0].bytes)
	rest, bytes = dropUpTo(rest, schema.Origin{Frame: 9})
	require.Equal(t, 60, bytes)
	require.Nil(t, rest)
}
