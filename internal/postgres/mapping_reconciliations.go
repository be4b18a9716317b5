package postgres

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// lastRunFromRow is the state of an account's runs.
func lastRunFromRow(row *dbsqlc.ReconciliationsLastRow) reconcile.Last {
	return reconcile.Last{CoveredTo: unlessEpoch(row.CoveredTo), Finished: unlessEpoch(row.Finished), Tried: unlessEpoch(row.Tried), Running: row.Running}
}

func unlessEpoch(t time.Time) time.Time {
	if t.Unix() == 0 {
		return time.Time{}
	}
	return t
}

// runInsertParams is a run that begins.
func runInsertParams(r reconcile.Run) *dbsqlc.ReconciliationInsertParams {
	return &dbsqlc.ReconciliationInsertParams{
		ReconciliationID: r.ID, Account: r.Account, FromAt: r.From, ToAt: r.To, Source: string(r.Source), StartedBy: r.By, StartedAt: r.StartedAt,
		FinishedAt: r.FinishedAt, Reason: r.Reason,
	}
}

// unsettledParams returns a span, and the attempt after which a list continues.
func unsettledParams(account string, from, to time.Time, after payment.AttemptID, limit int) *dbsqlc.MovementsUnsettledParams {
	return &dbsqlc.MovementsUnsettledParams{Account: account, FromAt: from, ToAt: to, After: uuid.UUID(after), Most: int32(limit)} //nolint:gosec // a batch size
}

// settlementsSaveParams returns new settlements, and settlements with a payout that may be new.
func settlementsSaveParams(all []payment.Settlement) *dbsqlc.SettlementsSaveParams {
	p := newParams[dbsqlc.SettlementsSaveParams](len(all))
	for _, s := range all {
		fee, balance := amountText(s.Fee, "")
		net, balance := amountText(s.Net, balance)
		p.Accounts, p.EntryIds = append(p.Accounts, s.Account), append(p.EntryIds, s.EntryID)
		p.OrderIds, p.AttemptIds = append(p.OrderIds, string(s.OrderID)), append(p.AttemptIds, uuid.UUID(s.AttemptID))
		p.Kinds, p.MovementIds = append(p.Kinds, string(s.Kind)), append(p.MovementIds, s.MovementID)
		p.Payments = append(p.Payments, s.Payment)
		p.Amounts, p.Currencies = append(p.Amounts, s.Money.Minor), append(p.Currencies, string(s.Money.Currency))
		p.Fees, p.Nets, p.BalanceCurrencies = append(p.Fees, fee), append(p.Nets, net), append(p.BalanceCurrencies, balance)
		p.PayoutIds, p.Ats = append(p.PayoutIds, s.PayoutID), append(p.Ats, s.At)
		p.RecordedAt = s.RecordedAt
	}
	return p
}

// amountText returns an amount and its currency. If m is nil, the amount is empty and the currency is before.
func amountText(m *payment.Money, before string) (amount, currency string) {
	if m == nil {
		return "", before
	}
	return strconv.FormatInt(m.Minor, 10), string(m.Currency)
}

// settlementsFromRows returns the settlements of an attempt.
func settlementsFromRows(rows []*dbsqlc.Settlements) []payment.Settlement {
	all := make([]payment.Settlement, 0, len(rows))
	for _, r := range rows {
		all = append(all, settlementFromRow(r))
	}
	return all
}

func settlementFromRow(r *dbsqlc.Settlements) payment.Settlement {
	s := payment.Settlement{
		Account: r.Account, EntryID: r.EntryID, OrderID: payment.OrderID(r.OrderID), AttemptID: payment.AttemptID(r.AttemptID),
		Kind: payment.MovementKind(r.Kind), MovementID: r.MovementID, Payment: r.Payment,
		Money: payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)}, PayoutID: r.PayoutID, At: orZero(r.At), RecordedAt: r.RecordedAt,
	}
	if r.Fee != nil {
		s.Fee = &payment.Money{Minor: *r.Fee, Currency: payment.Currency(r.BalanceCurrency)}
	}
	if r.Net != nil {
		s.Net = &payment.Money{Minor: *r.Net, Currency: payment.Currency(r.BalanceCurrency)}
	}
	return s
}

// reconciliationFromRow is a run as lists show it.
func reconciliationFromRow(row *dbsqlc.ReconciliationsListRow) (lists.Reconciliation, error) {
	r := &row.Reconciliations
	out := lists.Reconciliation{
		ID: r.ReconciliationID, Account: r.Account, From: r.FromAt, To: r.ToAt, Source: r.Source, By: r.StartedBy, Reason: r.Reason,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Failure: r.Failure, Status: lists.RunFailed,
	}
	switch {
	case r.FinishedAt != nil:
		out.Status = lists.RunFinished
	case row.Running:
		out.Status = lists.RunRunning
	}
	if err := json.Unmarshal(r.Counts, &out.Counts); err != nil {
		return out, fmt.Errorf("read the counts of run %s: %w", r.ReconciliationID, err)
	}
	return out, nil
}
