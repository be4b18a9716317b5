package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// MarkStore keeps the mark of the database, and the accounts that are held.

var _ watermark.Store = (*MarkStore)(nil)

// gap is the time without a rise of the mark that counts as a gap: the mark rises every few seconds.
const gap = 6 * watermark.Every

// undefinedTable is the SQLSTATE of a schema that has no mark yet.
const undefinedTable = "42P01"

// MarkStore is safe for concurrent use.
type MarkStore struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
}

// NewMarkStore returns a store on the connections of p.
func NewMarkStore(p *pool.Pool) *MarkStore { return &MarkStore{pool: p, q: dbsqlc.New()} }

// Watch makes the guard check each new connection. It skips a database without migrations. It must be called before the
// store is used.
func (s *MarkStore) Watch(g *watermark.Guard) {
	s.pool.OnConnect(func(ctx context.Context, c *pgx.Conn) error {
		err := g.Look(func() (watermark.Mark, []string, error) { return s.read(ctx, c) })
		if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && missing.Code == undefinedTable {
			return nil
		}
		return err
	})
}

func (s *MarkStore) read(ctx context.Context, db dbsqlc.DBTX) (watermark.Mark, []string, error) {
	row, err := s.q.MarkRead(ctx, db)
	if err != nil {
		return watermark.Mark{}, nil, fmt.Errorf("read the mark: %w", err)
	}
	m := watermark.Mark{Database: row.DatabaseID, Server: row.Server, Count: row.Mark, At: row.MarkedAt}
	if row.GapFrom != nil && row.GapTo != nil {
		m.GapFrom, m.GapTo = *row.GapFrom, *row.GapTo
	}
	if row.Noticed.Unix() > 0 {
		m.Noticed = row.Noticed
	}
	return m, row.Held, nil
}

// ReadMark implements watermark.Store.
func (s *MarkStore) ReadMark(ctx context.Context) (m watermark.Mark, held []string, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		m, held, err = s.read(ctx, c)
		return err
	})
	return m, held, err
}

// RaiseMark implements watermark.Store.
func (s *MarkStore) RaiseMark(ctx context.Context, above int64) (m watermark.Mark, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.MarkRaise(ctx, c, &dbsqlc.MarkRaiseParams{Above: above, Gap: gap.Seconds()})
		if err != nil {
			return fmt.Errorf("raise the mark: %w", err)
		}
		m = watermark.Mark{Database: row.DatabaseID, Count: row.Mark, At: row.MarkedAt}
		return nil
	})
	return m, err
}

// HoldPays implements watermark.Store.
func (s *MarkStore) HoldPays(ctx context.Context, accounts []string, since time.Time, reason watermark.Reason) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := s.q.PayHold(ctx, c, &dbsqlc.PayHoldParams{Accounts: accounts, Since: since, Reason: string(reason)}); err != nil {
			return fmt.Errorf("hold pays: %w", err)
		}
		return nil
	})
}

// Holds lists the open holds, by account.
func (s *MarkStore) Holds(ctx context.Context) (list []watermark.Hold, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.PayHolds(ctx, c)
		if err != nil {
			return fmt.Errorf("read the holds of pays: %w", err)
		}
		list = nil
		for _, r := range rows {
			list = append(list, watermark.Hold{Account: r.Account, Since: r.Since, HeldAt: r.HeldAt, Reason: watermark.Reason(r.Reason)})
		}
		return nil
	})
	return list, err
}

// Release releases the hold of an account if it was made no later than heldUntil, and reports whether a hold existed.
func (s *MarkStore) Release(ctx context.Context, account, by string, heldUntil time.Time) (released bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		n, err := s.q.PayRelease(ctx, c, &dbsqlc.PayReleaseParams{ReleasedBy: by, Account: account, HeldUntil: heldUntil})
		if err != nil {
			return fmt.Errorf("release the pays of %s: %w", account, err)
		}
		released = n > 0
		return nil
	})
	return released, err
}
