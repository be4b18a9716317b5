package square

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func paymentPath(id string) string { return "/v2/payments/" + url.PathEscape(id) }

// Lookup implements gateway.Provider. A payment contains the ids of its refunds, and Lookup looks up each refund. The
// list of refunds has no filter by payment
// (https://developer.squareup.com/reference/square/refunds-api/list-payment-refunds). The list of disputes has none
// either, and a payment does not show its disputes. If there is no payment with the id, Lookup looks up an order,
// because the ids look alike.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	got, err := c.get(ctx, paymentPath(id), nil)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return c.lookupOrder(ctx, id)
	case err != nil:
		return gateway.Outcome{}, err
	}
	return c.moved(ctx, got.Payment)
}

// moved returns the outcome of a payment, with its refunds if it was captured.
func (c *Client) moved(ctx context.Context, p *paid) (gateway.Outcome, error) {
	o, err := c.outcome(p)
	if err != nil || o.Event != fsm.EventSucceeded {
		return o, err
	}
	for _, id := range p.RefundIDs {
		found, err := c.refund(ctx, id)
		if err != nil {
			return gateway.Outcome{}, fmt.Errorf("one of the payment's refunds: %w", unknown(err))
		}
		one, err := refundOutcome(found)
		if err != nil {
			return gateway.Outcome{}, err
		}
		o.Refunds = append(o.Refunds, one)
	}
	return o, nil
}

const (
	// clocks bounds the difference between our clock and Square's.
	clocks = 2 * time.Minute
	// findLag is longer than the "several seconds" after which the list contains a new payment
	// (https://developer.squareup.com/reference/square/payments-api/list-payments).
	findLag = 30 * time.Second
	// pageSize is the maximum page size of the list.
	pageSize = "100"
)

// Find implements gateway.Provider. Square's list has no filter by reference. Find searches the location's payments
// since the attempt's creation, oldest first. The attempt's id contains its creation time. A payment that was begun
// elsewhere may be created much later. The search ends with a payment that holds or captured money. If it finds no such
// payment, Find returns the most advanced payment of all pages.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	query := url.Values{"sort_order": {"ASC"}, "limit": {pageSize}}
	if c.Location != "" {
		query.Set("location_id", c.Location)
	}
	if uuid.UUID(id).Version() == 7 {
		made := time.Unix(uuid.UUID(id).Time().UnixTime()).UTC()
		query.Set("begin_time", made.Add(-clocks).Format(time.RFC3339))
	}
	var found gateway.Outcome
	err := c.list(ctx, "/v2/payments", query, func(item json.RawMessage) error {
		var p paid
		if err := json.Unmarshal(item, &p); err != nil {
			return fmt.Errorf("read a payment: %w", err)
		}
		if p.ReferenceID != id.String() {
			return nil
		}
		o, err := c.moved(ctx, &p)
		if err != nil {
			return err
		}
		if found = kit.Further(found, o); found.Event == fsm.EventSucceeded || found.Event == fsm.EventAuthorized {
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, errEnough):
		return gateway.Outcome{}, unknown(err)
	case found.ProviderPaymentID == "":
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return found, nil
}

// errEnough ends a list that need not be read on.
var errEnough = errors.New("the payment is found")
