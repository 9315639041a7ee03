package tables_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
	"github.com/steno-io/steno/sink"
	"github.com/steno-io/steno/sink/search"
	"github.com/steno-io/steno/sink/tables"
)

// TestTimesThatNanosecondsDoNotReach are as near as can be, and not somewhere else.
func TestTimesThatNanosecondsDoNotReach(t *testing.T) {
	for year, want := range map[int]int64{1: math.MinInt64, 1600: math.MinInt64, 1970: 0, 2500: math.MaxInt64, 9999: math.MaxInt64} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		e := schema.Event{EmittedAt: at, Kind: &schema.Message{Text: "words"}}
		var m search.Memory
		w, err := tables.ReadWords(&m, 1, 1, e.AppendJSON(nil))
		require.NoError(t, err, "%d", year)
		require.Equal(t, want, w.At, "%d", year)
		if year == 1 {
			continue // no time at all
		}
		where := tables.Where{Dialect: tables.Dialect{Mark: "?"}}
		h := tables.Hits{Filter: sink.Filter{Since: at, Until: at}}
		h.Where(&where, "at", "transcript", "seq", "")
		require.Equal(t, []any{want, want}, where.Args[len(where.Args)-2:], "%d", year)
	}
}
