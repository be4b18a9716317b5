package postgres

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/ledger/recheck"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// scanMost bounds how many attempts, of all accounts, are read for one batch.
const scanMost = 5000

const day = 24 * time.Hour

func days(age time.Duration) int32 { return int32(age / day) } //nolint:gosec // some months

// CursorsTake implements recheck.Store.
func (s *Store) CursorsTake(
	ctx context.Context, account string, missing []recheck.Cursor, turn time.Duration,
) (cursors []recheck.Cursor, now time.Time, err error) {
	begin := &dbsqlc.FinalCursorsBeginParams{Account: account}
	for _, c := range missing {
		begin.Horizons, begin.Afters = append(begin.Horizons, days(c.Age)), append(begin.Afters, uuid.UUID(c.After))
	}
	err = s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		if err := s.q.FinalCursorsBegin(ctx, conn, begin); err != nil {
			return fmt.Errorf("begin the cursors of %s: %w", account, err)
		}
		rows, err := s.q.FinalCursorsTake(ctx, conn, &dbsqlc.FinalCursorsTakeParams{Account: account, Turn: turn.Seconds()})
		if err != nil {
			return fmt.Errorf("take the cursors of %s: %w", account, err)
		}
		for _, r := range rows {
			now = r.TakenAt
			cursors = append(cursors, recheck.Cursor{
				Account: account, Age: time.Duration(r.HorizonDays) * day, After: payment.AttemptID(r.After), Misses: int(r.Misses),
			})
		}
		return nil
	})
	return cursors, now, err
}

// CursorMove implements recheck.Store.
func (s *Store) CursorMove(ctx context.Context, c recheck.Cursor, after payment.AttemptID) error {
	p := &dbsqlc.FinalCursorMoveParams{
		Account: c.Account, HorizonDays: days(c.Age), Was: uuid.UUID(c.After), After: uuid.UUID(after), Misses: int32(c.Misses), //nolint:gosec // a few
	}
	return s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		moved, err := s.q.FinalCursorMove(ctx, conn, p)
		switch {
		case err != nil:
			return fmt.Errorf("move a cursor of %s: %w", c.Account, err)
		case moved == 0:
			return payment.ErrBusy
		}
		return nil
	})
}

// FinalAttempts implements recheck.Store.
func (s *Store) FinalAttempts(ctx context.Context, c recheck.Cursor, until payment.AttemptID, limit int) (recheck.Batch, error) {
	p := &dbsqlc.FinalAttemptsParams{
		Account: c.Account, After: uuid.UUID(c.After), Until: uuid.UUID(until), Scan: scanMost, Most: int32(limit), //nolint:gosec // a batch size
	}
	b := recheck.Batch{Last: c.After}
	err := s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := s.q.FinalAttempts(ctx, conn, p)
		if err != nil {
			return fmt.Errorf("list final attempts of %s: %w", c.Account, err)
		}
		if len(rows) == 0 && bytes.Compare(c.After[:], until[:]) < 0 {
			b.Last = until
		}
		for _, r := range rows {
			if id := payment.AttemptID(r.AttemptID); !r.IsLast {
				b.Attempts, b.Last = append(b.Attempts, recheck.Attempt{ID: id, Version: int(r.Version)}), id
			} else if len(b.Attempts) < limit {
				b.Last = id
			}
		}
		return nil
	})
	return b, err
}

// ReserveLookup implements runner.Store.
func (s *Store) ReserveLookup(ctx context.Context, id payment.AttemptID, every time.Duration) (free bool, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		n, err := s.q.FinalLookupReserve(ctx, conn, &dbsqlc.FinalLookupReserveParams{AttemptID: uuid.UUID(id), Every: every.Seconds()})
		if err != nil {
			return fmt.Errorf("reserve a lookup of %s: %w", id, err)
		}
		free = n > 0
		return nil
	})
	return free, err
}

// FinalLookupsBehind is how late the lookups of final attempts are, by account.
func (s *Store) FinalLookupsBehind(ctx context.Context) (map[string]time.Duration, error) {
	behind := map[string]time.Duration{}
	err := s.pool.Aside(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := s.q.FinalCursorsBehind(ctx, conn)
		for _, r := range rows {
			behind[r.Account] = time.Duration(r.Seconds * float64(time.Second))
		}
		return err
	})
	return behind, err
}
