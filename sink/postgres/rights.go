package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/steno-io/steno/sink"
)

// What a role needs.
const (
	readerNeeds = "GRANT SELECT ON ALL TABLES IN SCHEMA steno is needed again when a new version has made tables"
	writerNeeds = "a sink makes its tables in the schema steno, and needs CREATE on the database for that; where others have made " +
		"them it needs USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and USAGE on its sequences"
)

// denied marks what a role may not do that reads, and says what it needs.
func denied(err error) error { return lacking(err, readerNeeds) }

// forbidden marks what a role may not do that stores, and says what it needs.
func forbidden(err error) error { return lacking(err, writerNeeds) }

func lacking(err error, needs string) error {
	var e *pgconn.PgError
	switch {
	case !errors.As(err, &e), errors.Is(err, sink.ErrDenied):
		return err
	case e.Code == "42501":
		return fmt.Errorf("%w: %w (%s)", sink.ErrDenied, err, needs)
	case len(e.Code) == 5 && e.Code[:2] == "28": // it is not let in
		return fmt.Errorf("%w: %w", sink.ErrDenied, err)
	}
	return err
}
