package checkout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

const (
	// actedLater is how long after its request a payment may be captured or refunded and is still read.
	// No limit is documented: half a year is ours, as that of the card schemes for refunds.
	actedLater = 181 * 24 * time.Hour
	// searchPage keeps a page of payments with their actions below what a response may have.
	searchPage = 100
)

var errCircle = errors.New("a page of the list leads to itself")

// Entries implements gateway.Books by the search of payments, a beta, which has their actions
// (https://www.checkout.com/docs/payments/manage-payments/search-and-filter-payments), and by the list of
// disputes (https://api-reference.checkout.com/#operation/getDisputes). The search is by when a payment
// was requested: those of the half year before the span are read as well.
//
// Captures are totals, dated by the last one. Fees and payouts are in the report that Statement reads:
// the API has them by payment only
// (https://www.checkout.com/docs/reporting/financial-actions-api).
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &call.Unread{}
	if err := c.actedIn(ctx, in, unread, take); err != nil {
		return err
	}
	return unread.After(c.disputedIn(ctx, in, unread, take))
}

// hit is a payment that was found, with its actions.
type hit struct {
	paid

	Reference string  `json:"reference"`
	Actions   []acted `json:"actions"`
}

// acted is an action with its status, which a search has in the place of "approved".
type acted struct {
	done

	Status      string          `json:"status"`
	ProcessedOn json.RawMessage `json:"processed_on"`
}

// carriedOut reports whether the action moved what it is of.
func (a acted) carriedOut() bool {
	return a.Approved != nil && *a.Approved || strings.EqualFold(a.Status, "Approved")
}

// at is when an action was carried out. Only those that count are read: some others have no valid time.
func (a acted) at() (at time.Time, err error) {
	err = json.Unmarshal(a.ProcessedOn, &at)
	return at.UTC(), err
}

func (c *Client) actedIn(ctx context.Context, in gateway.Span, unread *call.Unread, take func(gateway.Entry) error) error {
	r := call.Request{Method: http.MethodPost, URL: "/payments/search", Question: true}
	var query any = map[string]any{
		"from": in.From.Add(-actedLater).UTC().Format(time.RFC3339), "to": in.To.Add(time.Second).UTC().Format(time.RFC3339), "limit": searchPage,
	}
	for {
		var page struct {
			Data  []json.RawMessage `json:"data"`
			Links struct {
				Next struct {
					Href string `json:"href"`
				} `json:"next"`
			} `json:"_links"`
		}
		if err := c.read(ctx, r, query, &page); err != nil {
			return err
		}
		if page.Data == nil {
			return errNameless
		}
		for _, found := range page.Data {
			if err := call.Pass(unread, found, func(h hit) ([]gateway.Entry, error) { return h.within(in) }, take); err != nil {
				return err
			}
		}
		next, err := url.Parse(page.Links.Next.Href)
		if err != nil || next.Path == "" {
			return err //nolint:wrapcheck // a link that is none
		}
		to := next.EscapedPath() + "?" + next.RawQuery
		if to == r.URL {
			return errCircle
		}
		// Only what names the page is taken from the link: the key must not be sent to another address.
		r, query = call.Request{Method: http.MethodGet, URL: to}, nil
	}
}

// read sends a question of which a refusal is an error.
func (c *Client) read(ctx context.Context, r call.Request, body, out any) error {
	refused, err := c.api.Do(ctx, r, body, out)
	if err == nil && refused != nil {
		err = refused
	}
	return err
}

// within are the entries of a payment that are in a span. The amounts of a payment that has none are not read.
func (h hit) within(in gateway.Span) ([]gateway.Entry, error) {
	if h.ID == "" {
		return nil, errNameless
	}
	moves, err := h.moves()
	if err == nil && !slices.ContainsFunc(moves, func(m move) bool { return in.Has(m.at) }) {
		return nil, nil
	}
	var entries []gateway.Entry
	if err == nil {
		entries, err = h.entries(moves)
	}
	if err != nil {
		return nil, fmt.Errorf("payment %s: %w", h.ID, err)
	}
	return slices.DeleteFunc(entries, func(e gateway.Entry) bool { return !in.Has(e.Movement.At) }), nil
}

// move is an action that moved money of a payment.
type move struct {
	acted

	kind payment.MovementKind
	at   time.Time
}

func (h hit) moves() (all []move, err error) {
	for _, a := range h.Actions {
		m := move{acted: a, kind: map[string]payment.MovementKind{
			"Capture": payment.MovementCapture, "Refund": payment.MovementRefund, "Return": payment.MovementCaptureReversal,
		}[a.Type]}
		if m.kind == "" || !a.carriedOut() {
			continue
		}
		if m.at, err = a.at(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// entries are what was captured of a payment, all in one, and its refunds and returns, by the ids of
// their actions.
func (h hit) entries(moves []move) (all []gateway.Entry, err error) {
	var captured gateway.Entry
	for _, m := range moves {
		e := h.entry(m.ID, m.kind)
		e.Movement.At = m.at
		money, err := digits.Money(m.Amount, h.Currency)
		if err != nil {
			return nil, err
		}
		e.Movement.Money = *money
		if m.kind != payment.MovementCapture {
			all = append(all, e)
			continue
		}
		if e.Movement.At.Before(captured.Movement.At) {
			e.Movement.At = captured.Movement.At
		}
		e.ID, e.Movement.ID, e.Movement.Money.Minor = h.ID, "", captured.Movement.Money.Minor+money.Minor
		captured = e
	}
	if captured.ID == "" {
		return all, nil
	}
	if h.Balances != nil {
		total, err := digits.Money(h.Balances.Captured, h.Currency)
		if err != nil {
			return nil, err
		}
		captured.Movement.Money = *total
	}
	return append(all, captured), nil
}

func (h hit) entry(id string, kind payment.MovementKind) gateway.Entry {
	var said struct {
		Attempt string `json:"payment_attempt_id"`
		Order   string `json:"order_id"`
	}
	_ = json.Unmarshal(h.Metadata, &said) // metadata of others may be of any form
	e := gateway.Entry{ID: id, Payment: h.ID, Order: payment.OrderID(said.Order), Movement: payment.Told{Kind: kind, ID: id}}
	if ours := cmp.Or(said.Attempt, h.Reference); ours != "" {
		e.References = []string{ours}
	}
	return e
}
