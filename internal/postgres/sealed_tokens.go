package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/mapping"
)

// SealedToken implements runner.Tx.
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

// keepTokens keeps what the resend of new charges needs.
func (t *txn) keepTokens(ctx context.Context, writes []changeset.AttemptWrite) error {
	p := mapping.SealedTokensInsertParams(writes)
	if len(p.AttemptIds) == 0 {
		return nil
	}
	if err := t.q.SealedTokensInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("keep %d tokens: %w", len(p.AttemptIds), err)
	}
	return nil
}

// eraseTokens erases those of charges that are not sent again any more.
func (t *txn) eraseTokens(ctx context.Context, writes []changeset.AttemptWrite) error {
	var ids []uuid.UUID
	for i := range writes {
		for j := range writes[i].Moved {
			w := &writes[i].Moved[j]
			if w.Operation.Kind == payment.OperationCharge && fsm.OperationState(w.WasState).Unanswered() && !w.Operation.State.Unanswered() {
				ids = append(ids, uuid.UUID(w.Operation.AttemptID))
			}
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
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SealedTokensPurge(ctx, c, &dbsqlc.SealedTokensPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
