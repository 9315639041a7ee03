package outside

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Ledger is what PostgreSQL holds.
type Ledger struct {
	Events    map[string][]string // in the order of their numbers, by capture/session
	Positions map[string]uint64   // sequence of the last record stored, by partition
	Claims    uint64              // how often partitions were claimed
}

// Stored is how many events PostgreSQL holds; none while it has no tables.
func Stored(ctx context.Context, db *pgx.Conn) (events int, err error) {
	var there bool
	if err := db.QueryRow(ctx, "SELECT to_regclass('steno.events') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = db.QueryRow(ctx, "SELECT count(*) FROM steno.events").Scan(&events)
	return events, err
}

// ReadLedger reads all that PostgreSQL holds. Its error names a capture that is parked, a number that
// does not follow, or a head that is not the last number.
func ReadLedger(ctx context.Context, db *pgx.Conn) (*Ledger, error) {
	l := &Ledger{Events: map[string][]string{}, Positions: map[string]uint64{}}
	for _, part := range []func(context.Context, *pgx.Conn) error{l.parked, l.events, l.positions} {
		if err := part(ctx, db); err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
	}
	return l, nil
}

func (l *Ledger) parked(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, "SELECT key || ': ' || parked_reason FROM steno.captures WHERE parked_reason <> '' ORDER BY 1")
	if err != nil {
		return err
	}
	parked, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(parked) > 0 {
		err = fmt.Errorf("%d parked captures, the first is %s", len(parked), parked[0])
	}
	return err
}

func (l *Ledger) events(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, `SELECT c.key || '/' || t.session, t.head, e.store_seq, e.event
		FROM steno.transcripts t JOIN steno.captures c ON c.id = t.capture LEFT JOIN steno.events e ON t.id = e.transcript
		ORDER BY 1, 3`)
	if err != nil {
		return err
	}
	defer rows.Close()
	heads := map[string]int{}
	for rows.Next() {
		var transcript string
		var head int
		var number *int
		var event []byte
		if err := rows.Scan(&transcript, &head, &number, &event); err != nil {
			return err
		}
		heads[transcript] = head
		if number == nil {
			continue
		}
		if want := len(l.Events[transcript]) + 1; *number != want {
			return fmt.Errorf("event %d of %s has number %d", want, transcript, *number)
		}
		l.Events[transcript] = append(l.Events[transcript], string(event))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for transcript, head := range heads {
		if n := len(l.Events[transcript]); head != n {
			return fmt.Errorf("head of %s is %d, and it has %d events", transcript, head, n)
		}
	}
	var orphans int
	err = db.QueryRow(ctx, "SELECT count(*) FROM steno.events WHERE transcript NOT IN (SELECT id FROM steno.transcripts)").Scan(&orphans)
	if err == nil && orphans > 0 {
		err = fmt.Errorf("%d events are of no transcript", orphans)
	}
	return err
}

func (l *Ledger) positions(ctx context.Context, db *pgx.Conn) error {
	rows, err := db.Query(ctx, "SELECT partition, epoch, seq FROM steno.partitions")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var partition, epoch, seq int64
		if err := rows.Scan(&partition, &epoch, &seq); err != nil {
			return err
		}
		l.Positions[strconv.FormatInt(partition, 10)] = uint64(seq)
		l.Claims += uint64(epoch)
	}
	return rows.Err()
}
