package render

import (
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// Settlement renders a settlement.
func Settlement(s payment.Settlement) gen.Settlement {
	out := gen.Settlement{
		SettlementID: s.ID().String(), Account: s.Account, PaymentAttemptID: s.AttemptID.String(), ProviderPaymentID: orNull(s.Payment),
		Kind: gen.SettlementKind(s.Kind), Amount: s.Money.Minor, Currency: string(s.Money.Currency), BalanceCurrency: orNull(string(s.BalanceCurrency())),
		BookedAt: gen.Micros(s.BookedAt()),
	}
	if s.Fee != nil {
		out.Fee = &s.Fee.Minor
	}
	if s.Net != nil {
		out.Net = &s.Net.Minor
	}
	if s.Payout != (payment.PayoutID{}) {
		out.PayoutID = new(s.Payout.String())
	}
	return out
}

// Payout renders a payout.
func Payout(p payment.Payout) gen.Payout {
	out := gen.Payout{
		PayoutID: p.ID.String(), Account: p.Account, ProviderPayoutID: p.ProviderID, Entries: p.Entries, Unexplained: p.Unexplained(),
	}
	if p.Money != nil {
		out.Amount, out.Currency = &p.Money.Minor, orNull(string(p.Money.Currency))
	}
	if p.Status != "" {
		out.Status = new(gen.PayoutStatus(p.Status))
	}
	if !p.ArrivesOn.IsZero() {
		out.ArrivesOn = new(p.ArrivesOn.Format(time.DateOnly))
	}
	return out
}

// Reconciliation renders a reconciliation.
func Reconciliation(r lists.Reconciliation) gen.Reconciliation {
	out := gen.Reconciliation{
		ReconciliationID: r.ID.String(), Account: r.Account, From: gen.Micros(r.From), To: gen.Micros(r.To), Source: gen.ReconciliationSource(r.Source),
		StartedBy: r.By, Status: gen.ReconciliationStatus(r.Status), StartedAt: gen.Micros(r.StartedAt), FinishedAt: (*gen.Micros)(r.FinishedAt),
		Differences: r.Differences(), Counts: r.Counts, Failure: orNull(r.Failure), Reason: orNull(r.Reason),
	}
	if out.Counts == nil {
		out.Counts = map[string]int{}
	}
	return out
}
