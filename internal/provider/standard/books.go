package standard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var (
	errNoList = errors.New("the provider's answer has no page of a list")
	// errLacking is returned if the provider lacks a list that the account's configuration names.
	errLacking = errors.New("the provider does not have this list: the account's lists must name only those that it has")
)

// entry is the provider's own view of a movement in its books.
type entry struct {
	EntryID   string    `json:"entry_id"`
	Kind      string    `json:"kind"`
	ChargeID  string    `json:"charge_id"`
	Reference string    `json:"reference"`
	OrderID   string    `json:"order_id"`
	RefundID  string    `json:"refund_id"`
	DisputeID string    `json:"dispute_id"`
	Amount    int64     `json:"amount"`
	Fee       int64     `json:"fee"`
	Net       int64     `json:"net"`
	Currency  string    `json:"currency"`
	PayoutID  string    `json:"payout_id"`
	Payee     string    `json:"payee"`
	Test      *bool     `json:"test"`
	At        time.Time `json:"at"`
}

// Entries implements gateway.Books.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	return pages(ctx, c, "/v1/balance", in, func(e entry, _ json.RawMessage) ([]gateway.Entry, error) { return e.booked() }, take)
}

// booked returns the entry, or an error if it can't be counted.
func (e entry) booked() ([]gateway.Entry, error) {
	told, err := e.movement()
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", e.EntryID, err)
	}
	balance := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: told.Money.Currency} }
	return []gateway.Entry{{
		ID: e.EntryID, Payment: e.ChargeID, References: []string{e.Reference}, Order: payment.OrderID(e.OrderID), Movement: told,
		Fee: balance(e.Fee), Net: balance(e.Net), Payout: e.PayoutID, Payee: e.Payee, Live: live(e.Test),
	}}, nil
}

// movement names the movement as lookups and webhooks do, so that the same money counts once. They report captures as a
// total, which is at least the entry of one of several. A refund has its own id. A dispute's movement has the id of its
// entry.
func (e entry) movement() (payment.MovementReport, error) {
	kind, err := movementKind(e.Kind)
	if err != nil {
		return payment.MovementReport{}, err
	}
	moved, err := money(e.Amount, e.Currency)
	if err == nil && (e.EntryID == "" || e.ChargeID == "" || kind == payment.MovementRefund && e.RefundID == "") {
		err = errNameless
	}
	if err != nil {
		return payment.MovementReport{}, err
	}
	told := payment.MovementReport{Kind: kind, ID: e.EntryID, Money: *moved, At: e.At}
	switch e.Kind {
	case "charge":
		told.ID = ""
	case "refund":
		told.ID = e.RefundID
	default:
		told.Dispute = e.DisputeID
	}
	return told, nil
}

// Events implements gateway.EventLog.
func (c *Client) Events(ctx context.Context, in gateway.Span, take func(gateway.ListedEvent) error) error {
	return pages(ctx, c, "/v1/events", in, listed.passed, take)
}

// listed is the part of an event that contains its time.
type listed struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
}

func (e listed) passed(body json.RawMessage) ([]gateway.ListedEvent, error) {
	if e.Created.IsZero() {
		return nil, fmt.Errorf("event %s: %w", e.ID, errNameless)
	}
	return []gateway.ListedEvent{{Body: body, At: e.Created}}, nil
}

// pages reads all pages of a list.
func pages[T, E any](
	ctx context.Context, c *Client, path string, in gateway.Span, read func(T, json.RawMessage) ([]E, error), take func(E) error,
) error {
	unread := &kit.Unread{}
	query := url.Values{"from": {in.From.UTC().Format(time.RFC3339Nano)}, "to": {in.To.UTC().Format(time.RFC3339Nano)}}
	for {
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		switch err := c.api.Get(ctx, path+"?"+query.Encode(), nil, &page); {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			return errLacking
		case err != nil:
			return err
		}
		if page.Items == nil || page.Next != "" && page.Next == query.Get("cursor") {
			return errNoList
		}
		for _, item := range page.Items {
			err := kit.Pass(unread, item, func(one T) ([]E, error) { return read(one, item) }, take)
			if err != nil {
				return err
			}
		}
		if page.Next == "" {
			return unread.Err()
		}
		query.Set("cursor", page.Next)
	}
}
