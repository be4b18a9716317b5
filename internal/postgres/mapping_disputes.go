package postgres

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// disputeFromRow is a dispute.
func disputeFromRow(row *dbsqlc.Disputes) payment.Dispute {
	d := payment.Dispute{
		ID: payment.DisputeID(row.DisputeID), OrderID: payment.OrderID(row.OrderID), AttemptID: payment.AttemptID(row.AttemptID),
		Account: row.Account, ProviderDisputeID: row.ProviderDisputeID,
		State: fsm.DisputeState(row.Status), Reason: row.Reason, DueBy: orZero(row.DueBy), StatusAt: orZero(row.StatusAt),
		Version: int(row.Version), OpenedAt: row.OpenedAt, UpdatedAt: row.UpdatedAt, ClosedAt: row.ClosedAt,
	}
	if row.Amount != nil {
		d.Money = &payment.Money{Minor: *row.Amount, Currency: payment.Currency(orEmpty(row.Currency))}
	}
	return d
}

// disputesFromRows returns disputes.
func disputesFromRows(rows []*dbsqlc.Disputes) []payment.Dispute {
	all := make([]payment.Dispute, 0, len(rows))
	for _, row := range rows {
		all = append(all, disputeFromRow(row))
	}
	return all
}

// disputeNamesParams returns names as a statement takes them.
func disputeNamesParams(names []payment.DisputeName) *dbsqlc.DisputesNamedParams {
	p := newParams[dbsqlc.DisputesNamedParams](len(names))
	for _, n := range names {
		p.Accounts, p.ProviderDisputeIds = append(p.Accounts, n.Account), append(p.ProviderDisputeIds, n.ID)
	}
	return p
}

// disputeInsertParams is a new dispute.
func disputeInsertParams(d payment.Dispute) *dbsqlc.DisputeInsertParams {
	amount, currency := nullMoney(d.Money)
	return &dbsqlc.DisputeInsertParams{
		OrderID: string(d.OrderID), DisputeID: uuid.UUID(d.ID), AttemptID: uuid.UUID(d.AttemptID),
		Account: d.Account, ProviderDisputeID: d.ProviderDisputeID, Status: string(d.State), Reason: d.Reason,
		Amount: amount, Currency: currency, DueBy: nullTime(d.DueBy), StatusAt: nullTime(d.StatusAt),
		Version: int32(d.Version), OpenedAt: d.OpenedAt, UpdatedAt: d.UpdatedAt, ClosedAt: d.ClosedAt, //nolint:gosec // a version
	}
}

// disputeAdvanceParams returns the columns of a changed dispute. Its former version is was.
func disputeAdvanceParams(d payment.Dispute, was int) *dbsqlc.DisputeAdvanceParams {
	amount, currency := nullMoney(d.Money)
	return &dbsqlc.DisputeAdvanceParams{
		OrderID: string(d.OrderID), DisputeID: uuid.UUID(d.ID), Was: int32(was), //nolint:gosec // a version
		Status: string(d.State), Reason: d.Reason, Amount: amount, Currency: currency, DueBy: nullTime(d.DueBy), StatusAt: nullTime(d.StatusAt),
		Version: int32(d.Version), UpdatedAt: d.UpdatedAt, ClosedAt: d.ClosedAt, //nolint:gosec // a version
	}
}

func nullMoney(m *payment.Money) (amount *int64, currency *string) {
	if m == nil {
		return nil, nil
	}
	minor, code := m.Minor, string(m.Currency)
	return &minor, &code
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// disputeMoveNamesParams returns names as a statement takes them.
func disputeMoveNamesParams(names []payment.DisputeName) *dbsqlc.DisputeMovesNamedParams {
	p := newParams[dbsqlc.DisputeMovesNamedParams](len(names))
	for _, n := range names {
		p.Accounts, p.Disputes = append(p.Accounts, n.Account), append(p.Disputes, n.ID)
	}
	return p
}

// disputeMovesFromRows returns the reported moves of disputes' money.
func disputeMovesFromRows(rows []*dbsqlc.DisputeMoves) []payment.DisputeMove {
	all := make([]payment.DisputeMove, 0, len(rows))
	for _, r := range rows {
		m := payment.DisputeMove{
			OrderID: payment.OrderID(r.OrderID), AttemptID: payment.AttemptID(r.AttemptID), Account: r.Account, Dispute: r.Dispute, Number: int(r.Number),
			Kind: payment.MovementKind(r.Kind), Entry: r.Entry, Whole: r.Whole, At: orZero(r.At), RecordedAt: r.RecordedAt,
		}
		if r.Amount != nil {
			m.Money = &payment.Money{Minor: *r.Amount, Currency: payment.Currency(orEmpty(r.Currency))}
		}
		all = append(all, m)
	}
	return all
}

// disputeMoveInsertParams is a reported move of a dispute's money.
func disputeMoveInsertParams(m payment.DisputeMove) *dbsqlc.DisputeMoveInsertParams {
	amount, currency := nullMoney(m.Money)
	return &dbsqlc.DisputeMoveInsertParams{
		OrderID: string(m.OrderID), AttemptID: uuid.UUID(m.AttemptID), Account: m.Account, Dispute: m.Dispute,
		Number: int32(m.Number), Kind: string(m.Kind), Entry: m.Entry, Amount: amount, Currency: currency, //nolint:gosec // a count of reports
		Whole: m.Whole, At: nullTime(m.At), RecordedAt: m.RecordedAt,
	}
}
