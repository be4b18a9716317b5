package paypal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// returnedCode is the event code of a "reversal of ACH withdrawal transaction", by which a withdrawal comes back from the bank.
const returnedCode = "T1101"

// withdrawalCodes are the event codes of withdrawals to a bank: general or settlement withdrawal, AutoSweep, and a withdrawal by hand
// (https://developer.paypal.com/reports/reference/t-codes). T0402, a withdrawal to Hyperwallet, pays other people.
func withdrawalCodes() []string { return []string{"T0400", "T0401", "T0403"} }

// Payouts implements gateway.Payouts. A payout is a withdrawal to the bank. Transactions that are not listed yet are read by a later run.
func (c *Client) Payouts(ctx context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	unread, returned := &kit.Unread{}, map[string]payment.PayoutReport{}
	err := c.each(ctx, in, returnedCode, func(item json.RawMessage) error {
		return kit.Pass(unread, item, detail.returned, func(r payment.PayoutReport) error {
			returned[r.ProviderID] = r
			return nil
		})
	})
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, code := range withdrawalCodes() {
		err := c.each(ctx, in, code, func(item json.RawMessage) error {
			return kit.Pass(unread, item, detail.withdrawal, func(r payment.PayoutReport) error {
				if _, back := returned[r.ProviderID]; back {
					r.Status = payment.PayoutFailed
				}
				listed[r.ProviderID] = true
				return take(r)
			})
		})
		if err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(returned)) {
		if listed[id] {
			continue
		}
		if err := take(returned[id]); err != nil { // a withdrawal of before the span
			return err
		}
	}
	return unread.Err()
}

// each passes the listed transactions of a span with an event code.
func (c *Client) each(ctx context.Context, in gateway.Span, code string, one func(json.RawMessage) error) error {
	for _, part := range in.Seconds().Split(searchable) {
		if err := c.transactions(ctx, part, code, one); err != nil && !errors.Is(err, errEarly) {
			return err
		}
	}
	return nil
}

// withdrawn maps the status of a withdrawal. One that was reversed came back.
var withdrawn = map[string]payment.PayoutStatus{ //nolint:gochecknoglobals // a table
	"P": payment.PayoutPending, "S": payment.PayoutPaid, "V": payment.PayoutFailed, "D": payment.PayoutFailed,
}

// withdrawal returns the payout of a withdrawal, which PayPal takes from the balance. PayPal states no day of arrival, but when a
// withdrawal was completed: the last change of a successful one.
func (d detail) withdrawal() ([]payment.PayoutReport, error) {
	r := payment.PayoutReport{ProviderID: d.Info.ID, Status: withdrawn[d.Info.Status]}
	taken, err := signed(d.Info.Amount)
	if err == nil && (r.ProviderID == "" || r.Status == "") {
		err = errNameless
	}
	if err == nil && r.Status == payment.PayoutPaid && d.Info.UpdatedAt != "" {
		r.ArrivesOn, err = date(d.Info.UpdatedAt)
	}
	if err != nil {
		return nil, fmt.Errorf("withdrawal %s: %w", d.Info.ID, err)
	}
	r.ArrivesOn = r.ArrivesOn.Truncate(24 * time.Hour)
	r.Money = &payment.Money{Minor: -taken.Minor, Currency: taken.Currency}
	return []payment.PayoutReport{r}, nil
}

// returned returns the payout of a withdrawal that came back.
func (d detail) returned() ([]payment.PayoutReport, error) {
	if d.Info.Status != "S" {
		return nil, nil
	}
	back, err := signed(d.Info.Amount)
	if err == nil && (d.Info.Reference == "" || d.Info.Type != "TXN") {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("returned withdrawal %s: %w", d.Info.ID, err)
	}
	return []payment.PayoutReport{{ProviderID: d.Info.Reference, Money: back, Status: payment.PayoutFailed}}, nil
}
