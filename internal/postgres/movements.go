package postgres

import (
	"context"
	"fmt"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// MovementOwners implements changeset.Tx.
func (t *txn) MovementOwners(ctx context.Context, names []payment.MovementName) (map[payment.MovementName]payment.AttemptID, error) {
	p := &dbsqlc.MovementsOwnedParams{}
	for _, n := range names {
		p.Accounts, p.Kinds, p.ProviderIds = append(p.Accounts, n.Account), append(p.Kinds, string(n.Kind)), append(p.ProviderIds, n.ID)
	}
	rows, err := t.q.MovementsOwned(ctx, t, p)
	if err != nil {
		return nil, fmt.Errorf("read the owners of %d movements: %w", len(names), err)
	}
	owners := make(map[payment.MovementName]payment.AttemptID, len(rows))
	for _, o := range rows {
		owners[payment.MovementName{Account: o.Account, Kind: payment.MovementKind(o.Kind), ID: o.ProviderID}] = payment.AttemptID(o.AttemptID)
	}
	return owners, nil
}

func (t *txn) appendMovements(ctx context.Context, changes []changeset.AttemptWrite) error {
	p := movementsInsertParams(changes)
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.MovementsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("append movements: %w", err)
	}
	return nil
}
