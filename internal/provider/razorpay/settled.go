package razorpay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// A day of settlements begins at midnight in India, Malaysia or Singapore. Razorpay does not document the time zone.
var (
	firstDay = time.FixedZone("IST", 5*3600+1800) //nolint:gochecknoglobals // a constant
	lastDay  = time.FixedZone("SGT", 8*3600)      //nolint:gochecknoglobals // a constant
)

// settled passes the settlements of the span. It requests each day that may list them
// (https://razorpay.com/docs/api/settlements/fetch-recon/).
func (c *Client) settled(ctx context.Context, in gateway.Span, unread *kit.Unread, take func(gateway.Entry) error) error {
	first, last := in.From.In(firstDay), in.To.Add(-1).In(lastDay)
	end := time.Date(last.Year(), last.Month(), last.Day(), 0, 0, 0, 0, time.UTC)
	for day := time.Date(first.Year(), first.Month(), first.Day(), 0, 0, 0, 0, time.UTC); !day.After(end); day = day.AddDate(0, 0, 1) {
		query := url.Values{
			"year": {strconv.Itoa(day.Year())}, "month": {fmt.Sprintf("%02d", day.Month())}, "day": {fmt.Sprintf("%02d", day.Day())},
		}
		err := c.list(ctx, "/settlements/recon/combined", query, func(item json.RawMessage) error {
			read := func(s settledItem) ([]gateway.Entry, error) { return s.entries(in.Seconds()) }
			return kit.Pass(unread, item, read, func(e gateway.Entry) error { return c.disputed(ctx, e, take) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settledItem is a settled payment, refund, dispute adjustment, or an item of the account. Debit and credit are the
// change of the balance, without the fee.
type settledItem struct {
	EntityID     string `json:"entity_id"`
	Type         string `json:"type"`
	Debit        int64  `json:"debit"`
	Credit       int64  `json:"credit"`
	Amount       *int64 `json:"amount"`
	Currency     string `json:"currency"`
	Fee          *int64 `json:"fee"`
	CreatedAt    int64  `json:"created_at"`
	SettledAt    int64  `json:"settled_at"`
	SettlementID string `json:"settlement_id"`
	PaymentID    string `json:"payment_id"`
	OrderID      string `json:"order_id"`
	DisputeID    string `json:"dispute_id"`
	Notes        notes  `json:"notes"`
}

func (s settledItem) entries(in gateway.Span) ([]gateway.Entry, error) {
	e := gateway.Entry{ID: s.EntityID, Payment: s.PaymentID, Payout: s.SettlementID}
	switch {
	case s.Type == "payment":
		e.Payment, e.Movement.Kind = s.EntityID, payment.MovementCapture
	case s.Type == "refund":
		e.Movement.Kind, e.Movement.ID = payment.MovementRefund, s.EntityID
	case s.Type == "adjustment" && s.DisputeID != "" && s.Debit > 0:
		e.Movement.Kind, e.Movement.Dispute = payment.MovementChargeback, s.DisputeID
	case s.Type == "adjustment" && s.DisputeID != "":
		e.Movement.Kind, e.Movement.Dispute = payment.MovementChargebackReversal, s.DisputeID
	case s.Type == "adjustment":
		e.Own = payment.EntryAdjustment
	case s.Type == "transfer":
		e.Own = payment.EntryTransfer
	default:
		return nil, nil
	}
	sum, err := money(s.Amount, s.Currency)
	if err == nil && (s.EntityID == "" || s.SettledAt == 0) {
		err = errNameless
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("settled %s: %w", s.EntityID, err)
	case !in.Has(time.Unix(s.SettledAt, 0)):
		return nil, nil
	}
	e.Movement.At = time.Unix(s.CreatedAt, 0).UTC()
	e.Net = &payment.Money{Minor: s.Credit - s.Debit, Currency: sum.Currency}
	if e.Own != "" {
		e.Payment = ""
		return []gateway.Entry{e}, nil
	}
	e.Movement.Money = *sum
	name(&e, s.Notes, s.OrderID)
	if e.Fee, err = money(s.Fee, s.Currency); err != nil {
		e.Fee = nil
	}
	return []gateway.Entry{e}, nil
}

// disputed passes an entry with its payment. If a dispute's entry names no payment, disputed looks the dispute up
// (https://razorpay.com/docs/api/disputes/fetch-with-id/).
func (c *Client) disputed(ctx context.Context, e gateway.Entry, take func(gateway.Entry) error) error {
	if e.Payment != "" || e.Own != "" {
		return take(e)
	}
	var of struct {
		PaymentID string `json:"payment_id"`
	}
	err := c.api.Get(ctx, "/disputes/"+url.PathEscape(e.Movement.Dispute), nil, &of)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return take(e)
	case err == nil && of.PaymentID == "":
		err = errNameless
	}
	if err != nil {
		return fmt.Errorf("dispute %s: %w", e.Movement.Dispute, err)
	}
	e.Payment = of.PaymentID
	return take(e)
}
