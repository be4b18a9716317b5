package postgres

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// payoutNames returns the provider's ids of payouts.
func payoutNames(all []payment.Payout) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.ProviderID
	}
	return names
}

// payoutsInsertParams returns payouts that may be new.
func payoutsInsertParams(all []payment.Payout) *dbsqlc.PayoutsInsertParams {
	p := newParams[dbsqlc.PayoutsInsertParams](len(all))
	for _, one := range all {
		p.PayoutIds, p.Accounts = append(p.PayoutIds, uuid.UUID(one.ID)), append(p.Accounts, one.Account)
		p.ProviderPayoutIds, p.CreatedAts = append(p.ProviderPayoutIds, one.ProviderID), append(p.CreatedAts, one.CreatedAt)
	}
	return p
}

// payoutMoveParams is a changed payout.
func payoutMoveParams(p payment.Payout) *dbsqlc.PayoutMoveParams {
	out := &dbsqlc.PayoutMoveParams{PayoutID: uuid.UUID(p.ID), Version: int32(p.Version), UpdatedAt: p.UpdatedAt} //nolint:gosec // a version
	if p.Money != nil {
		out.Amount, out.Currency = &p.Money.Minor, new(string(p.Money.Currency))
	}
	if p.Status != "" {
		out.Status = new(string(p.Status))
	}
	if !p.ArrivesOn.IsZero() {
		out.ArrivesOn = &p.ArrivesOn
	}
	return out
}

// payoutFromRow is a payout whose settlements were not counted.
func payoutFromRow(row *dbsqlc.Payouts) payment.Payout {
	p := payment.Payout{
		ID: payment.PayoutID(row.PayoutID), Version: int(row.Version), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		PayoutReport: payment.PayoutReport{Account: row.Account, ProviderID: row.ProviderPayoutID, Status: payment.PayoutStatus(orEmpty(row.Status))},
	}
	if row.Amount != nil {
		p.Money = &payment.Money{Minor: *row.Amount, Currency: payment.Currency(orEmpty(row.Currency))}
	}
	if row.ArrivesOn != nil {
		y, m, d := row.ArrivesOn.Date()
		p.ArrivesOn = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return p
}

// countedPayout is a payout with its settlements counted.
func countedPayout(row *dbsqlc.Payouts, entries, explained int64) payment.Payout {
	p := payoutFromRow(row)
	p.Entries, p.Explained = entries, explained
	return p
}

// accountEntriesSaveParams returns entries that belong to no recorded payment.
func accountEntriesSaveParams(all []payment.AccountEntry) *dbsqlc.AccountEntriesSaveParams {
	p := newParams[dbsqlc.AccountEntriesSaveParams](len(all))
	for _, e := range all {
		fee, balance := amountText(e.Fee, "")
		net, balance := amountText(e.Net, balance)
		p.Accounts, p.EntryIds, p.Kinds = append(p.Accounts, e.Account), append(p.EntryIds, e.EntryID), append(p.Kinds, e.Kind)
		p.Payments = append(p.Payments, e.Payment)
		p.Amounts, p.Currencies = append(p.Amounts, e.Money.Minor), append(p.Currencies, string(e.Money.Currency))
		p.Fees, p.Nets, p.BalanceCurrencies = append(p.Fees, fee), append(p.Nets, net), append(p.BalanceCurrencies, balance)
		p.PayoutIds, p.Ats = append(p.PayoutIds, e.PayoutID), append(p.Ats, e.At)
		p.RecordedAt = e.RecordedAt
	}
	return p
}

func accountEntryFromRow(r *dbsqlc.AccountEntries) payment.AccountEntry {
	e := payment.AccountEntry{
		Account: r.Account, EntryID: r.EntryID, Kind: r.Kind, Payment: r.Payment, Money: payment.Money{Minor: r.Amount, Currency: payment.Currency(r.Currency)},
		PayoutID: r.PayoutID, At: orZero(r.At), RecordedAt: r.RecordedAt,
	}
	if r.Fee != nil {
		e.Fee = &payment.Money{Minor: *r.Fee, Currency: payment.Currency(r.BalanceCurrency)}
	}
	if r.Net != nil {
		e.Net = &payment.Money{Minor: *r.Net, Currency: payment.Currency(r.BalanceCurrency)}
	}
	return e
}
