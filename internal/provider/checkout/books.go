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
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// actedLater is our limit for the time between a payment's request and a capture or refund that the books still
	// read. Checkout.com documents no limit; half a year is the card schemes' limit for refunds.
	actedLater = 181 * 24 * time.Hour
	// searchPage keeps a page of payments with their actions below the size limit of a response.
	searchPage = 100
)

var errCircle = errors.New("a page of the list leads to itself")

// Entries implements gateway.Books. It searches for payments with their actions, which is a beta
// (https://www.checkout.com/docs/payments/manage-payments/search-and-filter-payments), and lists disputes
// (https://api-reference.checkout.com/#operation/getDisputes). The search selects payments by the time of their request,
// so Entries also reads the payments of the half year before the span.
//
// Each action is an entry, as in the report. A capture's movement is the total until then. Fees and payouts are in the report that Statement reads. The API shows
// them only payment by payment (https://www.checkout.com/docs/reporting/financial-actions-api).
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	if err := c.actedIn(ctx, in, unread, take); err != nil {
		return err
	}
	return unread.After(c.disputedIn(ctx, in, unread, take))
}

// hit is a payment in a search result, with its actions.
type hit struct {
	paid

	Reference string  `json:"reference"`
	Actions   []acted `json:"actions"`
}

// acted is an action with a status. A search returns the status in the place of "approved".
type acted struct {
	done

	Status      string          `json:"status"`
	ProcessedOn json.RawMessage `json:"processed_on"`
}

// carriedOut reports whether the action was carried out.
func (a acted) carriedOut() bool {
	return a.Approved != nil && *a.Approved || strings.EqualFold(a.Status, "Approved")
}

// at returns the time when the action was carried out. It is called only for actions that move money, because other
// actions may have an invalid time.
func (a acted) at() (at time.Time, err error) {
	err = json.Unmarshal(a.ProcessedOn, &at)
	return at.UTC(), err
}

func (c *Client) actedIn(ctx context.Context, in gateway.Span, unread *kit.Unread, take func(gateway.Entry) error) error {
	r := kit.Request{Method: http.MethodPost, URL: "/payments/search", Question: true}
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
			if err := kit.Pass(unread, found, func(h hit) ([]gateway.Entry, error) { return h.within(in) }, take); err != nil {
				return err
			}
		}
		next, err := url.Parse(page.Links.Next.Href)
		if err != nil || next.Path == "" {
			return err //nolint:wrapcheck // an invalid link
		}
		to := next.EscapedPath() + "?" + next.RawQuery
		if to == r.URL {
			return errCircle
		}
		// Only the name of the page is taken from the link. The key must not be sent to another address.
		r, query = kit.Request{Method: http.MethodGet, URL: to}, nil
	}
}

// read sends a read and returns a refusal as an error.
func (c *Client) read(ctx context.Context, r kit.Request, body, out any) error {
	refused, err := c.api.Do(ctx, r, body, out)
	if err == nil && refused != nil {
		err = refused
	}
	return err
}

// within returns the payment's entries in the span. If there are none, it does not parse the payment's amounts.
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

// move is an action that moved a payment's money.
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

// entries returns an entry for each action, in the order of time. The total of the last capture is the payment's.
func (h hit) entries(moves []move) (all []gateway.Entry, err error) {
	slices.SortStableFunc(moves, func(a, b move) int { return a.at.Compare(b.at) })
	last, total := -1, int64(0)
	for _, m := range moves {
		e := h.entry(m.ID, m.kind)
		e.Movement.At = m.at
		money, err := digits.Money(m.Amount, h.Currency)
		if err != nil {
			return nil, err
		}
		e.Movement.Money = *money
		if m.kind == payment.MovementCapture {
			total += money.Minor
			e.Part, e.Movement.ID, e.Movement.Money.Minor = money, "", total
			last = len(all)
		}
		all = append(all, e)
	}
	if last < 0 || h.Balances == nil {
		return all, nil
	}
	captured, err := digits.Money(h.Balances.Captured, h.Currency)
	if err != nil {
		return nil, err
	}
	all[last].Movement.Money = *captured
	return all, nil
}

// entryID is the id of an entry: that of the action or of the dispute, with the kind of the movement. Books and the report agree on it.
func entryID(id string, kind payment.MovementKind) string { return id + "/" + string(kind) }

func (h hit) entry(id string, kind payment.MovementKind) gateway.Entry {
	var said struct {
		Attempt string `json:"payment_attempt_id"`
		Order   string `json:"order_id"`
	}
	_ = json.Unmarshal(h.Metadata, &said) // metadata of other payments may have any form
	e := gateway.Entry{ID: entryID(id, kind), Payment: h.ID, Order: payment.OrderID(said.Order), Movement: payment.MovementReport{Kind: kind, ID: id}}
	if ours := cmp.Or(said.Attempt, h.Reference); ours != "" {
		e.References = []string{ours}
	}
	return e
}
