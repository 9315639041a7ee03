// Package postgres keeps the ledger in a PostgreSQL database, for any number of sinks and readers.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/steno-io/steno/sink"
)

// Options of a ledger.
type Options struct {
	// ReadOnly opens tables that are there and never writes to them; Claim and Store then fail. A
	// standby will do.
	ReadOnly bool
	// Sealed gives what was dropped, where the search's words are made anew; nil: they are without that, and what
	// is behind is counted.
	Sealed sink.Sealed
}

// Ledger is a ledger in a database. It is safe for concurrent use.
type Ledger struct {
	name     string // host, port and database
	pool     *pgxpool.Pool
	readOnly bool
	sealed   sink.Sealed // nil: no archive is to be had
	index    index
}

var (
	_ sink.Ledger   = (*Ledger)(nil)
	_ sink.Reader   = (*Ledger)(nil)
	_ sink.Auditor  = (*Ledger)(nil)
	_ sink.Searcher = (*Ledger)(nil)
	_ sink.Index    = (*Ledger)(nil)
)

// maxConnections is how many the URL gives without pool_max_conns: more partitions than these wait
// for one another, which makes their next batches larger.
const maxConnections = 8

// errReadOnly is the answer of a ledger that was opened to be read.
var errReadOnly = errors.New("it was opened read-only")

var (
	// ErrURL marks a text that names no database. What is wrong with it is said without its password.
	ErrURL = errors.New("not a PostgreSQL URL or keyword string")
	// ErrUnreachable marks a server that does not answer, or ends the connection.
	ErrUnreachable = errors.New("PostgreSQL is not reachable")
)

// Open opens the ledger in the database that a URL or keyword string names, as libpq reads them. A
// writer makes the tables (in the schema steno) or brings them up to date; a reader refuses tables
// that are not there or not up to date with sink.ErrVersion. Other errors may wrap ErrURL, ErrUnreachable
// or sink.ErrDenied.
//
// Settings may stand in the URL. synchronous_commit=off is safe: position and events go in one
// transaction, so what a crash takes is read again from STENO_EVENTS.
func Open(ctx context.Context, url string, o Options) (*Ledger, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w: %w", ErrURL, err) // says no password
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "steno"
	}
	if !strings.Contains(url, "pool_max_conns") { // a pool's setting that pgxpool has no other sign of
		config.MaxConns = maxConnections
	}
	// A server that is gone without a word is noticed within 15 seconds, not in minutes.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 5}}
	config.ConnConfig.DialFunc = dialer.DialContext
	c := config.ConnConfig
	l := &Ledger{name: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database, readOnly: o.ReadOnly, sealed: o.Sealed}
	if l.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", l.name, err)
	}
	if o.ReadOnly {
		err = denied(checkVersion(ctx, l.pool))
	} else {
		err = forbidden(migrate(ctx, l.pool))
	}
	if err != nil {
		l.pool.Close()
		return nil, fmt.Errorf("open ledger %s: %w", l.name, unreachable(err))
	}
	return l, nil
}

// Name is the host, port and database.
func (l *Ledger) Name() string { return l.name }

// Close waits for running transactions and closes the connections.
func (l *Ledger) Close() error {
	l.pool.Close()
	return nil
}
