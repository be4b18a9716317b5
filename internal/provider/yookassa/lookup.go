package yookassa

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
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

// most is how many payments Find reads of those that were created after a charge's last moment.
const most = 2000

// Find implements gateway.Provider. YooKassa has no filter by metadata. Find searches the payments of the minutes after
// the attempt's creation, in which a charge makes its payment, and then all later ones: the shop may begin a payment at any
// time (https://yookassa.ru/developers/api#get_payments_list). The attempt's id contains its creation time. If several
// payments belong to the attempt, Find returns the most advanced one. If the later list is too long to read, Find may
// return a payment that it found, but it reports neither a missing payment nor a failure.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	var best gateway.Outcome
	keep := func(o object) error {
		if o.Metadata["payment_attempt_id"] != id.String() {
			return nil
		}
		one, err := outcome(o)
		best = kit.Further(best, one)
		return err
	}
	later := url.Values{}
	if uuid.UUID(id).Version() == 7 {
		made := time.Unix(uuid.UUID(id).Time().UnixTime()).UTC()
		first, last := made.Add(-clocks).Format(time.RFC3339), made.Add(lastCharge+clocks).Format(time.RFC3339)
		later.Set("created_at.gt", last)
		window := url.Values{"created_at.gte": {first}, "created_at.lte": {last}}
		if err := each(ctx, c, "/payments", window, func(o object) (bool, error) { return true, keep(o) }); err != nil {
			return gateway.Outcome{}, err
		}
	}
	read := 0
	err := each(ctx, c, "/payments", later, func(o object) (bool, error) {
		if read++; read > most {
			return false, errLong
		}
		return true, keep(o)
	})
	switch {
	case errors.Is(err, errLong) && best.ProviderPaymentID != "" && best.Event != fsm.EventFailed:
	case err != nil:
		return gateway.Outcome{}, err
	case best.ProviderPaymentID == "":
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return best, nil
}

var errLong = fmt.Errorf("%w: YooKassa lists more than %d payments", gateway.ErrInconclusive, most)
