package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

var _ idempotency.Tx = (*txn)(nil)

// KeyClaim implements idempotency.Tx.
func (t *txn) KeyClaim(ctx context.Context, c idempotency.Claim) (idempotency.Record, bool, error) {
	row, err := t.q.KeyClaim(ctx, t, &dbsqlc.KeyClaimParams{
		UserID: c.User, Endpoint: c.Endpoint, Key: string(c.Key), RequestHash: c.Hash[:],
		Lease: c.Lease.Seconds(), Keep: c.Keep.Seconds(),
	})
	claimed := err == nil
	if errors.Is(err, pgx.ErrNoRows) {
		row, err = t.q.KeyRead(ctx, t, &dbsqlc.KeyReadParams{UserID: c.User, Endpoint: c.Endpoint, Key: string(c.Key)})
	}
	if err != nil {
		return idempotency.Record{}, false, fmt.Errorf("claim a key: %w", err)
	}
	record, err := keyFromRow(row)
	record.TakenOver = claimed && row.CreatedAt.Before(t.Now())
	return record, claimed, err
}

// KeyRespond implements idempotency.Tx.
func (t *txn) KeyRespond(ctx context.Context, r idempotency.Request, fence int64, a idempotency.Response, keep time.Duration) error {
	headers, body, err := a.Encode()
	if err != nil {
		return err
	}
	_, err = t.q.KeyRespond(ctx, t.DeferredRows(1, idempotency.ErrFenced), &dbsqlc.KeyRespondParams{
		UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence,
		Status: int32(a.Status), Headers: headers, Body: body, Subject: a.Subject, Keep: keep.Seconds(), //nolint:gosec // an HTTP status
	})
	return err
}

// InKeyTx implements idempotency.Store.
func (s *Store) InKeyTx(ctx context.Context, fn func(ctx context.Context, tx idempotency.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// KeyExtend implements idempotency.Store.
func (s *Store) KeyExtend(ctx context.Context, r idempotency.Request, fence int64, lease time.Duration) error {
	return s.fenced(ctx, func(ctx context.Context, c *pgxpool.Conn) (int64, error) {
		return s.q.KeyExtend(ctx, c, &dbsqlc.KeyExtendParams{
			UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence, Lease: lease.Seconds(),
		})
	})
}

// KeyRelease implements idempotency.Store.
func (s *Store) KeyRelease(ctx context.Context, r idempotency.Request, fence int64) error {
	return s.fenced(ctx, func(ctx context.Context, c *pgxpool.Conn) (int64, error) {
		return s.q.KeyRelease(ctx, c, &dbsqlc.KeyReleaseParams{UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key), Fence: fence})
	})
}

func (s *Store) fenced(ctx context.Context, write func(ctx context.Context, c *pgxpool.Conn) (int64, error)) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := write(ctx, c)
		if err == nil && rows == 0 {
			return idempotency.ErrFenced
		}
		return err
	})
}

// PurgeKeys deletes at most limit expired keys and returns how many there were.
func (s *Store) PurgeKeys(ctx context.Context, limit int) (int, error) {
	var n int64
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.KeysPurge(ctx, c, int32(limit)) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}

// KeysEstimate is about how many keys there are, expired ones included.
func (s *Store) KeysEstimate(ctx context.Context) (int64, error) {
	var n int64
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.KeysEstimate(ctx, c)
		return err
	})
	return n, err
}

// KeyRead implements commands.Store.
func (s *Store) KeyRead(ctx context.Context, r idempotency.Request) (idempotency.Record, bool, error) {
	var rec idempotency.Record
	found := false
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.KeyReadLive(ctx, c, &dbsqlc.KeyReadLiveParams{UserID: r.User, Endpoint: r.Endpoint, Key: string(r.Key)})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a key: %w", err)
		}
		found = true
		rec, err = keyFromRow(row)
		return err
	})
	if err == nil && found {
		err = s.promised()
	}
	return rec, found, err
}

// KeysStore implements commands.Tx.
func (t *txn) KeysStore(ctx context.Context, answers []idempotency.Stored) error {
	if len(answers) == 0 {
		return nil
	}
	p, err := keysStoreParams(answers)
	if err != nil {
		return err
	}
	if err := t.q.KeysStore(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("store %d answers: %w", len(answers), err)
	}
	return nil
}

// QuotasTake implements idempotency.QuotaStore.
func (s *Store) QuotasTake(ctx context.Context, requests []idempotency.Request, per time.Duration) ([]idempotency.Used, error) {
	p := &dbsqlc.QuotasTakeParams{Per: per.Seconds()}
	for i, r := range requests {
		p.Ords = append(p.Ords, int32(i))
		p.UserIds, p.Endpoints, p.Keys = append(p.UserIds, r.User), append(p.Endpoints, r.Endpoint), append(p.Keys, string(r.Key))
	}
	used := make([]idempotency.Used, len(requests))
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.QuotasTake(ctx, c, p)
		if err != nil {
			return fmt.Errorf("count keys: %w", err)
		}
		for _, r := range rows {
			used[r.Ord] = idempotency.Used{Nth: int(r.Nth), Left: time.Duration(r.SecondsLeft * float64(time.Second))}
		}
		return nil
	})
	return used, err
}
