package postgres

import (
	"context"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// txn is the transaction of all rooms.
type txn struct {
	*pipeline.Tx

	q    *dbsqlc.Queries
	keys *envelope.Keys
	// promised is that of the store.
	promised func() error
	// moved are attempts that have a new version if the transaction commits.
	moved []stream.ID
	// wrote names a row of the transaction by which its commit is found again; nil if there is none.
	wrote *watermark.Commit
}

// InTx implements runner.Store.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx runner.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// InEventTx implements intake.Store. If necessary, it reads the key of providers' data before the transaction, since the
// transaction may have the last connection.
func (s *Store) InEventTx(ctx context.Context, fn func(ctx context.Context, tx intake.Tx) error) error {
	if s.keys != nil {
		if _, err := s.keys.Sealing(ctx); err != nil {
			return err
		}
	}
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// InCommandTx implements commands.Store.
func (s *Store) InCommandTx(ctx context.Context, fn func(ctx context.Context, tx commands.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, tx *txn) error { return fn(ctx, tx) })
}

// inTx remembers the commit of a transaction and announces its changes. All transactions that move money, or promise something,
// pass here.
func (s *Store) inTx(ctx context.Context, fn func(ctx context.Context, tx *txn) error) error {
	var t *txn
	err := s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		t = &txn{Tx: tx, q: s.q, keys: s.keys, promised: s.promised}
		return fn(ctx, t)
	})
	if err != nil {
		return err
	}
	if t.wrote != nil && s.acknowledged != nil {
		s.acknowledged(*t.wrote)
	}
	t.announce(s.changed)
	return nil
}

// witness sets the row by which the commit is found again, if there is none yet.
func (t *txn) witness(c watermark.Commit) {
	if t.wrote == nil {
		t.wrote = &c
	}
}

// move records attempts whose version rises.
func (t *txn) move(changes []changeset.AttemptWrite) {
	for i := range changes {
		if changes[i].Attempt.Version != changes[i].Was {
			t.moved = append(t.moved, stream.ID(changes[i].Attempt.ID))
		}
	}
}

// announce is called after the commit.
func (t *txn) announce(changed func([]stream.ID)) {
	if changed != nil && len(t.moved) > 0 {
		changed(t.moved)
	}
}
