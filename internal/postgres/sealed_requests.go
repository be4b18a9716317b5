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
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// SealedRequest implements runner.Tx.
func (t *txn) SealedRequest(ctx context.Context, name payment.OperationName) ([]byte, error) {
	sealed, err := t.q.SealedRequestRead(ctx, t, &dbsqlc.SealedRequestReadParams{
		AttemptID: uuid.UUID(name.AttemptID), Kind: string(name.Kind), Number: int32(name.Number), //nolint:gosec // counts within an attempt
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read what %s %d of attempt %s carries: %w", name.Kind, name.Number, name.AttemptID, err)
	}
	return sealed, nil
}

// keepRequests stores the data for a resend of new operations.
func (t *txn) keepRequests(ctx context.Context, writes []changeset.AttemptWrite) error {
	p := sealedRequestsInsertParams(writes)
	if len(p.AttemptIds) == 0 {
		return nil
	}
	if err := t.q.SealedRequestsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("keep %d requests: %w", len(p.AttemptIds), err)
	}
	return nil
}

// eraseRequests erases the requests of operations that are not sent again any more.
func (t *txn) eraseRequests(ctx context.Context, writes []changeset.AttemptWrite) error {
	p := &dbsqlc.SealedRequestsEraseParams{}
	for i := range writes {
		for j := range writes[i].Moved {
			w := &writes[i].Moved[j]
			if w.Operation.Carries() && fsm.OperationState(w.WasState).Unanswered() && !w.Operation.State.Unanswered() {
				p.AttemptIds = append(p.AttemptIds, uuid.UUID(w.Operation.AttemptID))
				p.Kinds = append(p.Kinds, string(w.Operation.Kind))
				p.Numbers = append(p.Numbers, int32(w.Operation.Number)) //nolint:gosec // counts within an attempt
			}
		}
	}
	if len(p.AttemptIds) == 0 {
		return nil
	}
	if err := t.q.SealedRequestsErase(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("erase %d requests: %w", len(p.AttemptIds), err)
	}
	return nil
}

// PurgeRequests erases at most limit requests that are older than keep, and returns how many
// there were.
func (s *Store) PurgeRequests(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.SealedRequestsPurge(ctx, c, &dbsqlc.SealedRequestsPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}
