package pgxstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/pgxstore/internal/dbsqlc"
)

var _ idempotency.Tx = Tx{}

// lockNotAvailable is the SQLSTATE of a lock_timeout.
const lockNotAvailable = "55P03"

// KeyClaim implements idempotency.Tx. [Options.ClaimTimeout] bounds only the claim: later locks of
// the command wait as long as the database's settings allow.
func (t Tx) KeyClaim(ctx context.Context, c idempotency.Claim) (idempotency.Record, bool, error) {
	now, row, claimed, err := t.claim(ctx, c)
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Code == lockNotAvailable {
		return idempotency.Record{}, false, idempotency.ErrInProgress
	}
	if err != nil {
		return idempotency.Record{}, false, fmt.Errorf("claim a key: %w", err)
	}
	rec := idempotency.Record{
		Hash: idempotency.HashOf(row.RequestHash), Fence: row.Fence,
		TakenOver: claimed && row.CreatedAt.Before(now),
	}
	if row.Answered {
		rec.Response, err = idempotency.DecodeResponse(int(row.Status), row.Headers, row.Body, row.Subject)
	}
	return rec, claimed, err
}

// claim claims the key or reads it as it is, within the timeout, and returns the transaction's time.
func (t Tx) claim(ctx context.Context, c idempotency.Claim) (now time.Time, row *dbsqlc.IdempotencyKeys, claimed bool, err error) {
	var timeout string
	if err = t.QueryRow(ctx, `WITH old AS MATERIALIZED (SELECT current_setting('lock_timeout') AS timeout)
		SELECT now(), old.timeout, set_config('lock_timeout', $1, true) FROM old`,
		strconv.FormatInt(t.store.options.ClaimTimeout.Milliseconds(), 10)).Scan(&now, &timeout, new(string)); err != nil {
		return now, nil, false, err //nolint:wrapcheck // KeyClaim says what it was
	}
	row, err = t.store.q.KeyClaim(ctx, t, &dbsqlc.KeyClaimParams{
		UserID: c.User, Endpoint: c.Endpoint, Key: string(c.Key), RequestHash: c.Hash[:], Lease: c.Lease.Seconds(), Keep: c.Keep.Seconds(),
	})
	claimed = err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		row, err = t.store.q.KeyRead(ctx, t, &dbsqlc.KeyReadParams{UserID: c.User, Endpoint: c.Endpoint, Key: string(c.Key)})
	}
	if err != nil {
		return now, nil, false, err
	}
	_, err = t.Exec(ctx, `SELECT set_config('lock_timeout', $1, true)`, timeout)
	return now, row, claimed, err //nolint:wrapcheck // KeyClaim says what it was
}

// KeyRespond implements idempotency.Tx.
func (t Tx) KeyRespond(ctx context.Context, r idempotency.Request, fence int64, response idempotency.Response, keep time.Duration) error {
	headers, body, err := response.Encode()
	if err != nil {
		return err
	}
	rows, err := t.store.q.KeyRespond(ctx, t, &dbsqlc.KeyRespondParams{
		UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence,
		Status: int32(response.Status), Headers: headers, Body: body, Subject: response.Subject, Keep: keep.Seconds(), //nolint:gosec // an HTTP status
	})
	return fenced("store a response", rows, err)
}
