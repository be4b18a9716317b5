package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// movementsFromRows returns the movements of each attempt, in the order of the rows.
func movementsFromRows(rows []*dbsqlc.MoneyMovements) map[payment.AttemptID][]payment.Movement {
	all := map[payment.AttemptID][]payment.Movement{}
	for _, r := range rows {
		id := payment.AttemptID(r.AttemptID)
		all[id] = append(all[id], movementFromRow(r))
	}
	return all
}

func movementFromRow(r *dbsqlc.MoneyMovements) payment.Movement {
	return payment.Movement{
		Number: int(r.Number), Kind: payment.MovementKind(r.Kind), Source: payment.MovementSource(r.Source), Payment: r.Payment, ProviderID: r.ProviderID, Dispute: r.Dispute,
		Money: payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)},
		Cause: payment.Cause{Kind: payment.CauseKind(r.Cause), ID: r.CauseID}, At: orZero(r.At), RecordedAt: r.RecordedAt,
	}
}

// movementsInsertParams returns the new movements of attempts. The list may be empty.
func movementsInsertParams(changes []changeset.AttemptWrite) *dbsqlc.MovementsInsertParams {
	p := newParams[dbsqlc.MovementsInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, m := range changes[i].Movements {
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Numbers = append(p.Numbers, int32(m.Number)) //nolint:gosec // a count of movements
			p.Accounts = append(p.Accounts, a.Account)
			p.Kinds = append(p.Kinds, string(m.Kind))
			p.Sources = append(p.Sources, string(m.Source))
			p.Payments = append(p.Payments, m.Payment)
			p.ProviderIds = append(p.ProviderIds, m.ProviderID)
			p.Amounts = append(p.Amounts, m.Money.Minor)
			p.Currencies = append(p.Currencies, string(m.Money.Currency))
			p.Causes = append(p.Causes, string(m.Cause.Kind))
			p.CauseIds = append(p.CauseIds, m.Cause.ID)
			p.Ats = append(p.Ats, m.At)
			p.RecordedAts = append(p.RecordedAts, m.RecordedAt)
			p.Disputes = append(p.Disputes, m.Dispute)
		}
	}
	return p
}
