package yookassa

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Lookup implements gateway.Provider. The refunds of a payment with a refunded amount take another request, for their
// list.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if strings.HasPrefix(id, invoicePrefix) {
		return c.lookupInvoice(ctx, id)
	}
	o, found, err := c.standing(ctx, id)
	if err != nil || o.Event != fsm.EventSucceeded || found.Refunded == nil {
		return o, err
	}
	err = c.eachRefund(ctx, found.ID, func(r refund) (bool, error) {
		one, err := refundOutcome(r)
		o.Refunds = append(o.Refunds, one)
		return true, err
	})
	return o, err
}

// invoicePrefix is the prefix of the ids of invoices. No charge creates an invoice: the shop creates it by its own call
// or in its account.
const invoicePrefix = "in-"

// lookupInvoice looks up the payment of an invoice. An invoice without a payment waits for its customer
// (https://yookassa.ru/developers/api#get_invoice).
func (c *Client) lookupInvoice(ctx context.Context, id string) (gateway.Outcome, error) {
	var found struct {
		ID      string `json:"id"`
		Payment struct {
			ID string `json:"id"`
		} `json:"payment_details"`
	}
	err := c.api.Get(ctx, "/invoices/"+url.PathEscape(id), nil, &found)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case found.ID != id:
		return gateway.Outcome{}, errNameless
	case found.Payment.ID == "":
		return gateway.Outcome{Event: fsm.EventActionRequired, Container: id, References: []string{id}}, nil
	}
	return c.Lookup(ctx, found.Payment.ID)
}

// standing returns the state of a payment without its refunds. A command needs no more.
func (c *Client) standing(ctx context.Context, id string) (gateway.Outcome, object, error) {
	var found object
	if err := c.api.Get(ctx, paymentPath(id), nil, &found); err != nil {
		return gateway.Outcome{}, object{}, err
	}
	o, err := outcome(found)
	return o, found, err
}

const (
	// clocks bounds the difference between our clock and YooKassa's.
	clocks = 2 * time.Minute
	// lastCharge is the longest time between an attempt's creation and its payment's: the resend window and then the
	// length of a lease.
	lastCharge = 15 * time.Minute
)

// Find implements gateway.Provider. YooKassa has no filter by metadata. Find searches the payments of the minutes after
// the attempt's creation (https://yookassa.ru/developers/api#get_payments_list). The attempt's id contains its creation
// time.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	query := url.Values{}
	if uuid.UUID(id).Version() == 7 {
		made := time.Unix(uuid.UUID(id).Time().UnixTime()).UTC()
		query.Set("created_at.gte", made.Add(-clocks).Format(time.RFC3339))
		query.Set("created_at.lte", made.Add(lastCharge+clocks).Format(time.RFC3339))
	}
	found, err := search(ctx, c, "/payments", query, func(o object) bool { return o.Metadata["payment_attempt_id"] == id.String() })
	if err != nil {
		return gateway.Outcome{}, err
	}
	return outcome(*found)
}
