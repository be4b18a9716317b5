package razorpay

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// settlement is a transfer to the bank (https://razorpay.com/docs/api/settlements/entity/).
type settlement struct {
	ID        string `json:"id"`
	Amount    *int64 `json:"amount"`
	Status    string `json:"status"`
	CreatedAt int64  `json:"created_at"`
}

// stands are the statuses of a settlement. "failed is not final": Razorpay may try the transfer again
// (https://razorpay.com/docs/payments/payment-gateway/s2s-integration/settlements/how-to-integrate/).
var stands = map[string]payment.PayoutStatus{ //nolint:gochecknoglobals // a table
	"created": payment.PayoutPending, "failed": payment.PayoutPending, "processed": payment.PayoutPaid,
}

// Payouts implements gateway.Payouts. It lists the settlements that were created in the span
// (https://razorpay.com/docs/api/settlements/fetch-all/). Without a payment that shows their currency, a later run reads them.
func (c *Client) Payouts(ctx context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	unread, whole := &kit.Unread{}, in.Seconds()
	created := url.Values{"from": {strconv.FormatInt(whole.From.Unix(), 10)}, "to": {strconv.FormatInt(whole.To.Unix(), 10)}}
	currency, err := c.balanceCurrency(ctx, created)
	if err != nil || currency == "" {
		return err
	}
	return unread.After(c.list(ctx, "/settlements", created, func(item json.RawMessage) error {
		return kit.Pass(unread, item, func(s settlement) ([]payment.PayoutReport, error) { return s.report(currency) }, take)
	}))
}

// report returns the settlement as a payout. The bank has the money within three hours of the settlement
// (https://razorpay.com/docs/webhooks/settlements/), so it arrives on the day of the settlement.
func (s settlement) report(currency string) ([]payment.PayoutReport, error) {
	sum, err := money(s.Amount, currency)
	r := payment.PayoutReport{ProviderID: s.ID, Money: sum, Status: stands[s.Status]}
	if err == nil && (s.ID == "" || r.Status == "" || s.CreatedAt <= 0) {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("settlement %s: %w", s.ID, err)
	}
	r.ArrivesOn = time.Unix(s.CreatedAt, 0).UTC().Truncate(24 * time.Hour)
	return []payment.PayoutReport{r}, nil
}

// balanceCurrency returns the currency of the account's balance, in which Razorpay settles. A settlement does not state it. A payment in
// another currency has it as base_currency (https://razorpay.com/docs/payments/international-payments/currency-conversion/). It is empty if
// the first payments in the list show none, or several.
func (c *Client) balanceCurrency(ctx context.Context, created url.Values) (currency string, err error) {
	var got struct {
		Items []struct {
			Captured     bool   `json:"captured"`
			Currency     string `json:"currency"`
			BaseCurrency string `json:"base_currency"`
		} `json:"items"`
	}
	query := url.Values{"from": created["from"], "to": created["to"], "count": {strconv.Itoa(pageSize)}}
	if err = c.api.Get(ctx, "/payments?"+query.Encode(), nil, &got); err == nil && got.Items == nil {
		err = errNameless
	}
	if err != nil {
		return "", fmt.Errorf("list /payments: %w", err)
	}
	for _, p := range got.Items {
		switch of := cmp.Or(p.BaseCurrency, p.Currency); {
		case !p.Captured || of == currency:
		case currency != "":
			return "", nil
		default:
			currency = of
		}
	}
	return currency, nil
}
