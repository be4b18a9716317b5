package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// MovementsRead implements payment.Tx.
func (t *txn) MovementsRead(ctx context.Context, ids []payment.AttemptID, names []payment.MovementName) (map[payment.AttemptID][]payment.Movement, map[payment.MovementName]payment.AttemptID, error) {
	var rows []*dbsqlc.MoneyMovements
	var owned []*dbsqlc.MovementsOwnedRow
	p := &dbsqlc.MovementsOwnedParams{}
	for _, n := range names {
		p.Accounts, p.Kinds, p.ProviderIds = append(p.Accounts, n.Account), append(p.Kinds, string(n.Kind)), append(p.ProviderIds, n.ID)
	}
	err := t.Pipeline(ctx, func(db pipeline.DB) (err error) {
		rows, err = t.q.MovementsOfAttempts(ctx, db, uuids(ids))
		return err
	}, func(db pipeline.DB) (err error) {
		owned, err = t.q.MovementsOwned(ctx, db, p)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the movements of %d attempts: %w", len(ids), err)
	}
	owners := make(map[payment.MovementName]payment.AttemptID, len(owned))
	for _, o := range owned {
		owners[payment.MovementName{Account: o.Account, Kind: payment.MovementKind(o.Kind), ID: o.ProviderID}] = payment.AttemptID(o.AttemptID)
	}
	return movementsFromRows(rows), owners, nil
}

func movementsFromRows(rows []*dbsqlc.MoneyMovements) map[payment.AttemptID][]payment.Movement {
	all := map[payment.AttemptID][]payment.Movement{}
	for _, r := range rows {
		id := payment.AttemptID(r.AttemptID)
		all[id] = append(all[id], payment.Movement{
			Number: int(r.Number), Kind: payment.MovementKind(r.Kind), Source: payment.MovementSource(r.Source), ProviderID: r.ProviderID,
			Money: payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)},
			Cause: payment.Cause{Kind: payment.CauseKind(r.Cause), ID: r.CauseID}, At: orZero(r.At), RecordedAt: r.RecordedAt,
		})
	}
	return all
}

func (t *txn) appendMovements(ctx context.Context, changes []payment.Change) error {
	p := params[dbsqlc.MovementsInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, m := range changes[i].Movements {
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Numbers = append(p.Numbers, int32(m.Number)) //nolint:gosec // a count of movements
			p.Accounts = append(p.Accounts, a.Account)
			p.Kinds = append(p.Kinds, string(m.Kind))
			p.Sources = append(p.Sources, string(m.Source))
			p.ProviderIds = append(p.ProviderIds, m.ProviderID)
			p.Amounts = append(p.Amounts, m.Money.Minor)
			p.Currencies = append(p.Currencies, string(m.Money.Currency))
			p.Causes = append(p.Causes, string(m.Cause.Kind))
			p.CauseIds = append(p.CauseIds, m.Cause.ID)
			p.Ats = append(p.Ats, m.At)
			p.RecordedAts = append(p.RecordedAts, m.RecordedAt)
		}
	}
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.MovementsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("append movements: %w", err)
	}
	return nil
}
