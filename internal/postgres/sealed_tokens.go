package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// SealedToken implements payment.Tx.
func (t *txn) SealedToken(ctx context.Context, id payment.AttemptID) ([]byte, error) {
	sealed, err := t.q.SealedTokenRead(ctx, t, uuid.UUID(id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the token of attempt %s: %w", id, err)
	}
	return sealed, nil
}

func (t *txn) keepTokens(ctx context.Context, attempts []payment.Attempt) error {
	p := &dbsqlc.SealedTokensInsertParams{}
	for i := range attempts {
		if a := &attempts[i]; len(a.SealedToken) > 0 {
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Sealed = append(p.Sealed, a.SealedToken)
			p.CreatedAts = append(p.CreatedAts, a.CreatedAt)
		}
	}
	if len(p.AttemptIds) == 0 {
		return nil
	}
	if err := t.q.SealedTokensInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("keep %d tokens: %w", len(p.AttemptIds), err)
	}
	return nil
}

func (t *txn) eraseTokens(ctx context.Context, changes []payment.Change) error {
	var ids []uuid.UUID
	for i := range changes {
		if changes[i].EraseToken {
			ids = append(ids, uuid.UUID(changes[i].Attempt.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := t.q.SealedTokensErase(ctx, t.Deferred(), ids); err != nil {
		return fmt.Errorf("erase %d tokens: %w", len(ids), err)
	}
	return nil
}

// PurgeTokens erases at most limit tokens that are older than keep, and returns how many
// there were.
func (s *Store) PurgeTokens(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SealedTokensPurge(ctx, c, &dbsqlc.SealedTokensPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
