package cloudpayments

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// capturedLater is our limit for the time between a transaction's creation and its capture. CloudPayments documents no
// limit that holds for all banks.
const capturedLater = 31 * 24 * time.Hour

// listRequest requests a list of transactions by their creation time, in pages that are numbered from 1.
type listRequest struct {
	From       string   `json:"CreatedDateGte"`
	To         string   `json:"CreatedDateLte"`
	PageNumber int      `json:"PageNumber"`
	TimeZone   string   `json:"TimeZone"`
	Statuses   []string `json:"Statuses"`
}

// booked is a transaction with its dates, its fee and its net amount. The dates are in the request's time zone.
type booked struct {
	transaction

	Type            json.Number `json:"Type"`
	OriginalID      json.Number `json:"OriginalTransactionId"`
	CreatedDate     string      `json:"CreatedDateIso"`
	ConfirmDate     string      `json:"ConfirmDateIso"`
	PaymentCurrency string      `json:"PaymentCurrency"`
	TotalFee        json.Number `json:"TotalFee"`
	PayoutAmount    json.Number `json:"PayoutAmount"`
}

// These are types of a transaction (https://developers.cloudpayments.ru/#tipy-operatsiy). A payout to a card belongs to
// no payment.
const (
	typePayment = "0"
	typeRefund  = "1"
)

// Entries implements gateway.Books. It reads the list of transactions of a period
// (https://developers.cloudpayments.ru/#vygruzka-spiska-tranzaktsiy-za-proizvolnyy-period). The list has a filter by the
// transaction's creation. Entries also reads earlier transactions, because they may have been captured in the span. As
// in webhooks, a capture is a total of its payment, which is the transaction. A refund is a separate transaction. Its
// fee and net amount are omitted, because the list does not document their sign. A payout has a date and no id.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	r := listRequest{
		From: in.From.Add(-capturedLater).UTC().Format(time.RFC3339), To: in.To.UTC().Format(time.RFC3339),
		TimeZone: "UTC", Statuses: []string{"Completed"},
	}
	unread := &kit.Unread{}
	for {
		r.PageNumber++
		page, err := c.page(ctx, r)
		if err != nil || len(page) == 0 {
			return unread.After(err)
		}
		for _, item := range page {
			if err := kit.Pass(unread, item, func(b booked) ([]gateway.Entry, error) { return b.entries(in) }, take); err != nil {
				return err
			}
		}
	}
}

// page returns one page of the list. The page after the last one is empty.
func (c *Client) page(ctx context.Context, r listRequest) (all []json.RawMessage, err error) {
	a, err := c.question(ctx, "/v2/payments/list", r)
	switch {
	case err != nil:
		return nil, err
	case !a.Success:
		return nil, a.said()
	case json.Unmarshal(a.Model, &all) != nil || all == nil:
		return nil, errNameless
	}
	return all, nil
}

// entries returns the transaction's capture or refund, if it is in the span.
func (b booked) entries(in gateway.Span) ([]gateway.Entry, error) {
	e, err := b.named()
	if err == nil && e.ID != "" {
		// A refund has no ConfirmDate.
		e.Movement.At, err = time.Parse("2006-01-02T15:04:05", cmp.Or(b.ConfirmDate, b.CreatedDate))
	}
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", b.TransactionID, err)
	}
	if e.ID == "" || !in.Has(e.Movement.At) {
		return nil, nil
	}
	money, err := b.money()
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", b.TransactionID, err)
	}
	e.Movement.Money = *money
	return []gateway.Entry{e}, nil
}

// named returns the transaction's entry without time and money. It is empty if the transaction is no capture and no
// refund.
func (b booked) named() (gateway.Entry, error) {
	switch b.Status {
	case "":
		return gateway.Entry{}, errNameless
	case "Completed":
	default:
		return gateway.Entry{}, nil
	}
	id, data := string(b.TransactionID), b.data()
	e := gateway.Entry{ID: id, Order: payment.OrderID(data["order_id"]), Payee: b.PublicID, Live: b.live()}
	switch b.Type {
	case typePayment:
		e.Payment, e.Movement.Kind = id, payment.MovementCapture
		e.Fee, e.Net = b.kept()
	case typeRefund:
		e.Payment, e.Movement.Kind, e.Movement.ID = string(b.OriginalID), payment.MovementRefund, id
	default:
		return gateway.Entry{}, nil
	}
	if id == "" || e.Payment == "" || e.Payment == "0" {
		return gateway.Entry{}, errNameless
	}
	ours := data["payment_attempt_id"]
	if _, own := payment.OwnAttemptID(b.InvoiceID); b.InvoiceID != "" && b.InvoiceID != ours && (own || ours == "") {
		e.References = append(e.References, b.InvoiceID)
	}
	if ours != "" {
		e.References = append(e.References, ours)
	}
	return e, nil
}

// kept returns the fee and the net amount of a payment. They are nil until they are stated; the fee is 0 before that.
func (b booked) kept() (fee, net *payment.Money) {
	currency := cmp.Or(b.PaymentCurrency, b.Currency)
	if net = stated(b.PayoutAmount, currency); net == nil && b.TotalFee == "0" {
		return nil, nil
	}
	return stated(b.TotalFee, currency), net
}

// stated returns nil if the amount is missing or is not a whole number of minor units.
func stated(amount json.Number, currency string) *payment.Money {
	m, err := kit.ReadDecimal(string(amount), currency)
	if err != nil {
		return nil
	}
	return m
}
