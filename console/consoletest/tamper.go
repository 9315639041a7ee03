package consoletest

import (
	"database/sql"

	"github.com/stretchr/testify/require"

	"github.com/steno-io/steno/schema"
)

// Tamper changes a stored event behind the ledger's back, as whoever can write to its file may: what is from in the
// event's bytes becomes to.
func (p *Pipeline) Tamper(key schema.Transcript, seq uint64, from, to string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+p.file+"?_pragma=busy_timeout(60000)")
	require.NoError(p.t, err)
	defer func() { require.NoError(p.t, db.Close()) }()
	done, err := db.Exec(`UPDATE events SET event = CAST(replace(CAST(event AS TEXT), ?, ?) AS BLOB)
WHERE store_seq = ? AND instr(CAST(event AS TEXT), ?) > 0
AND transcript = (SELECT t.id FROM transcripts t JOIN captures c ON t.capture = c.id WHERE c.key = ? AND t.session = ?)`,
		from, to, seq, from, key.Identity.String(), key.Session)
	require.NoError(p.t, err)
	n, err := done.RowsAffected()
	require.NoError(p.t, err)
	require.EqualValues(p.t, 1, n, "nothing was changed")
}
