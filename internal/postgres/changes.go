package postgres

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/platform/watermark"
)

// Save implements changeset.Tx. It sends a few statements at most, for any number of attempts. Only refunds, disputes,
// stored payment methods and discrepancies, which are rare, add statements.
func (t *txn) Save(ctx context.Context, w changeset.Writes) error {
	if err := t.advance(ctx, w.Attempts); err != nil {
		return err
	}
	for _, write := range []func(context.Context, []changeset.AttemptWrite) error{t.moveOperations, t.begin, t.eraseRequests, t.appendLog, t.appendMovements, t.name} {
		if err := write(ctx, w.Attempts); err != nil {
			return err
		}
	}
	if err := t.saveRefunds(ctx, w.Refunds); err != nil {
		return err
	}
	if err := t.saveDisputes(ctx, w.Disputes); err != nil {
		return err
	}
	if err := t.saveMoves(ctx, w.Moves); err != nil {
		return err
	}
	if err := t.saveMethods(ctx, w.Methods); err != nil {
		return err
	}
	if err := t.publish(ctx, w.Messages); err != nil {
		return err
	}
	return t.openAll(ctx, w.Discrepancies)
}

// advance writes the attempts that have changed.
func (t *txn) advance(ctx context.Context, writes []changeset.AttemptWrite) error {
	changed := make([]changeset.AttemptWrite, 0, len(writes))
	for _, w := range writes {
		if w.Changed {
			changed = append(changed, w)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := t.q.AttemptsAdvance(ctx, t.Deferred(), attemptsAdvanceParams(changed)); err != nil {
		return fmt.Errorf("advance %d attempts: %w", len(changed), err)
	}
	t.move(changed)
	return nil
}

func (t *txn) appendLog(ctx context.Context, changes []changeset.AttemptWrite) error {
	p, err := transitionsInsertParams(changes)
	if err != nil {
		return err
	}
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.TransitionsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	t.witness(watermark.Commit{Kind: watermark.CommitVersion, Order: p.OrderIds[0], ID: p.AttemptIds[0], Number: p.Versions[0], At: p.Ats[0]})
	return nil
}

// name gives attempts their new names.
func (t *txn) name(ctx context.Context, changes []changeset.AttemptWrite) error {
	p := referencesInsertParams(changes)
	if len(p.Refs) == 0 {
		return nil
	}
	if err := t.q.ReferencesInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("name attempts: %w", err)
	}
	return nil
}
