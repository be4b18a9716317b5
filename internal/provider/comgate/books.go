package comgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// transferredLater is our limit for the time between a payment and its transfer to the shop. Comgate transfers on
	// each working day (https://help.comgate.cz/docs/en/payments-and-statements), and usually after two working days
	// (https://help.comgate.cz/docs/en/frequently-asked-questions). The limit of a week allows for holidays.
	transferredLater = 7 * 24 * time.Hour
	// maxTransfer limits the answer with all lines of a transfer, in bytes. A transfer contains a shop's day in one
	// currency.
	maxTransfer = 64 << 20
)

// Entries implements gateway.Books. It reads the transfers to the shop's bank account, which Comgate lists by day
// (transferList), and the lines of each transfer (singleTransfer:
// https://www.comgate.cz/cz/api-platebni-brany-comgate-pro-stahovani-souboru). Comgate has no list of payments. So
// Entries passes all lines that were transferred between the span's begin and a week after its end. The lines of a
// transfer have no pages.
//
// Captures are totals, as in lookups, and dated by the payment. Refunds are dated by their transfer. Chargebacks have
// the same type as fees and manual movements, and no member distinguishes them. Entries omits all of these, the monthly
// fee and the sum.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	first, end := localDay(in.From), in.To.Add(transferredLater)
	if c.Now != nil && end.After(c.Now()) {
		end = c.Now()
	}
	for last, day := localDay(end.Add(-1)), first; !day.After(last); day = day.AddDate(0, 0, 1) {
		transfers, err := c.list(ctx, "transferList", url.Values{"date": {day.Format(time.DateOnly)}})
		if err != nil {
			return fmt.Errorf("list the transfers of %s: %w", day.Format(time.DateOnly), err)
		}
		for _, item := range transfers {
			if err := kit.Pass(unread, item, func(t transfer) ([]transfer, error) { return t.on(day) }, func(t transfer) error {
				return c.transferred(ctx, t, unread, take)
			}); err != nil {
				return err
			}
		}
	}
	return unread.Err()
}

// list returns the items of a method that answers with a JSON array.
func (c *Client) list(ctx context.Context, method string, form url.Values) (all []json.RawMessage, err error) {
	a, err := c.send(ctx, method, form, kit.Request{Question: true, MaxAnswer: maxTransfer})
	switch {
	case err != nil:
		return nil, err
	case a.Status == http.StatusOK && json.Unmarshal(a.Body, &all) == nil && all != nil:
		return all, nil
	}
	said, _ := url.ParseQuery(string(a.Body)) // an error is a form, as in the other methods, or JSON
	var object map[string]json.RawMessage
	if json.Unmarshal(a.Body, &object) == nil {
		said = url.Values{"code": {text(object["code"])}}
	}
	if answer(said).get("code") != "" {
		return nil, answer(said).failure()
	}
	return nil, fmt.Errorf("the response with status %d is not in Comgate's format", a.Status)
}

// transfer is a transfer to the shop's bank account. It is the payout of its lines.
type transfer struct {
	ID  json.Number `json:"transferId"`
	day time.Time
}

func (t transfer) on(day time.Time) ([]transfer, error) {
	if t.ID == "" {
		return nil, errNameless
	}
	return []transfer{{t.ID, day}}, nil
}

var errEmpty = errors.New("the transfer has no lines")

// transferred passes the lines of a transfer.
func (c *Client) transferred(ctx context.Context, t transfer, unread *kit.Unread, take func(gateway.Entry) error) error {
	lines, err := c.list(ctx, "singleTransfer", url.Values{"transferId": {t.ID.String()}})
	if err == nil && len(lines) == 0 {
		err = errEmpty
	}
	if err != nil {
		return fmt.Errorf("read transfer %s: %w", t.ID, err)
	}
	var unnamed []gateway.Entry
	for _, item := range lines {
		err := kit.Pass(unread, item, func(l map[string]json.RawMessage) ([]gateway.Entry, error) { return lineOf(l).entries(c.merchant, t) },
			func(e gateway.Entry) error {
				if e.Movement.Kind == payment.MovementCapture {
					return take(e)
				}
				return c.refunded(ctx, e, unread, &unnamed, take)
			})
		if err != nil {
			return err
		}
	}
	for _, e := range unnamed {
		if err := take(e); err != nil {
			return err
		}
	}
	return nil
}

// refunded passes a refund under its id. The client's column of a refund's line contains the refund's refId. If the
// refund was sent without a refId (comgate-node, refund.ts), as in the portal, the column contains the payment's refId.
// Only the payment's own refId distinguishes the two. refunded collects the refunds without an id by payment: in one
// transfer they are one refund.
func (c *Client) refunded(ctx context.Context, e gateway.Entry, unread *kit.Unread, unnamed *[]gateway.Entry, take func(gateway.Entry) error) error {
	of, err := c.status(ctx, e.Payment, nil)
	if errors.Is(err, gateway.ErrNoSuchPayment) || errors.Is(err, errWrong) || errors.Is(err, errNameless) {
		unread.Add(fmt.Errorf("payment %s, which is refunded: %w", e.Payment, err)) // the lists themselves were read
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up payment %s, which is refunded: %w", e.Payment, err)
	}
	ref := of.get("refId")
	if _, ours := payment.OwnAttemptID(e.Movement.ID); ours && e.Movement.ID != ref { // refunds have ids of the same form
		e.ID, e.References = e.Movement.ID, references(ref)
		return take(e)
	}
	e.ID = e.Payment + "/" + e.Payout
	e.Movement.ID, e.References = e.ID, references(ref)
	for i := range *unnamed {
		if was := &(*unnamed)[i]; was.ID == e.ID && was.Movement.Money.Currency == e.Movement.Money.Currency {
			was.Movement.Money.Minor += e.Movement.Money.Minor
			was.Net = nil
			return nil
		}
	}
	*unnamed = append(*unnamed, e)
	return nil
}

func references(ref string) []string {
	if ref == "" {
		return nil
	}
	return []string{ref}
}
