package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/internal/payment"
)

// partDigits is how long the number of a part of a table is at least.
const partDigits = 6

// errAgain is returned when the transaction was undone because of another one.
var errAgain = errors.New("run the transaction again")

// ErrGuard is returned when a guarded write touched other rows than it should.
var ErrGuard = errors.New("a guarded write missed its row")

// DomainError is an error of PostgreSQL in the domain's vocabulary, by SQLSTATE
// and the constraint's name.
func DomainError(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, errAgain), errors.Is(err, errStale), errors.Is(err, payment.ErrUnavailable):
		return err
	case errors.As(err, &refused):
		return sqlError(refused)
	case connectionLost(err):
		return unavailable(err)
	}
	return err
}

// identifiers finds the names in a message of PostgreSQL; the violated constraint's is the last, in each language.
var identifiers = regexp.MustCompile(`[a-z][a-z0-9]*_[a-z0-9_]+`)

// constraint returns the name of the violated constraint. The error of a worker of Citus has this name only in its message. On Citus
// the constraint's name of a table's part ends with the part's number.
func constraint(e *pgconn.PgError) string {
	whole := e.ConstraintName
	if found := identifiers.FindAllString(e.Message, -1); whole == "" && strings.HasPrefix(e.Code, "23") && len(found) > 0 {
		whole = found[len(found)-1]
	}
	name := strings.TrimRight(whole, "0123456789")
	if len(whole)-len(name) >= partDigits && strings.HasSuffix(name, "_") {
		return strings.TrimSuffix(name, "_")
	}
	return whole
}

func sqlError(e *pgconn.PgError) error {
	name := constraint(e)
	switch {
	case e.Code == "54000": // a value that is too long for one index is too long the next time, too
		return e
	case stale(e):
		return fmt.Errorf("%w: %w", errStale, e)
	case e.Code == "40001", e.Code == "40P01",
		name == "events_one_per_id", name == "references_one_attempt", name == "keys_as_read",
		name == "attempts_one_live_per_order", name == "attempts_one_per_request", name == "movements_once",
		name == "disputes_one_per_provider_id", name == "dispute_moves_one_per_number", name == "saved_methods_once",
		name == "operations_as_read": // the worker has closed an operation that trailed its attempt
		return fmt.Errorf("%w: %w", errAgain, e)
	case e.Code == "23514" && (e.TableName == "event_bytes_other" || name == "event_bytes_other"): // its partition has just been made
		return fmt.Errorf("%w: %w", errAgain, e)
	case name == "attempts_as_read":
		return fmt.Errorf("%w: %w", ErrGuard, e)
	case name == "refunds_one_per_provider_id":
		return fmt.Errorf("%w: %w", payment.ErrPaymentTaken, e)
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "53"), strings.HasPrefix(e.Code, "57"),
		strings.HasPrefix(e.Code, "58"), e.Code == "55P03", e.Code == "25P03", e.Code == "25006",
		e.Code == "42501": // a right is missing, for any data
		return unavailable(e)
	}
	return e
}

func connectionLost(err error) bool {
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, pgx.ErrTxCommitRollback) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.ErrUnexpectedEOF)
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", payment.ErrUnavailable, err) }

// Missing returns meaning for the error that there is no row, and err for any other.
func Missing(err, meaning error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return meaning
	}
	return err
}

// Touched returns err, or missed if no row was touched. what names the action in the error.
func Touched(n int64, err, missed error, what string) error {
	if err == nil && n == 0 {
		err = missed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
