package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// disputePage is the maximum page size of the list.
const disputePage = 250

// dispute is a dispute in the list of disputes (https://api-reference.checkout.com/#operation/getDisputes).
type dispute struct {
	ID         string    `json:"id"`
	Status     string    `json:"status"`
	Amount     int64     `json:"amount"`
	Currency   string    `json:"currency"`
	PaymentID  string    `json:"payment_id"`
	Reference  string    `json:"payment_reference"`
	ReasonCode string    `json:"reason_code"`
	Resolved   string    `json:"resolved_reason"`
	EvidenceBy time.Time `json:"evidence_required_by"`
	ReceivedOn time.Time `json:"received_on"`
	LastUpdate time.Time `json:"last_update"`
}

// disputedIn reads the disputes that last changed after the span's begin: disputes that were received or won in the
// span, and disputes that hold the money after a later change.
func (c *Client) disputedIn(ctx context.Context, in gateway.Span, unread *kit.Unread, take func(gateway.Entry) error) error {
	query := url.Values{"from": {in.From.UTC().Format(time.RFC3339)}, "limit": {strconv.Itoa(disputePage)}}
	for skip := 0; ; {
		query.Set("skip", strconv.Itoa(skip))
		var page struct {
			Data  []json.RawMessage `json:"data"`
			Total int               `json:"total_count"`
		}
		if err := c.read(ctx, kit.Request{Method: http.MethodGet, URL: "/disputes?" + query.Encode()}, nil, &page); err != nil {
			return err
		}
		if page.Data == nil {
			return errNameless
		}
		for _, item := range page.Data {
			if err := kit.Pass(unread, item, func(d dispute) ([]gateway.Entry, error) { return d.within(in) }, take); err != nil {
				return err
			}
		}
		switch skip += len(page.Data); {
		case skip >= page.Total:
			return nil
		case len(page.Data) == 0:
			return errNameless
		}
	}
}

// within returns the dispute's chargeback and its reversal, as far as they are in the span.
func (d dispute) within(in gateway.Span) (all []gateway.Entry, err error) {
	stands, took := d.stands()
	has := took && !stands.returned && !in.Has(d.ReceivedOn) && in.Has(d.LastUpdate)
	took, won := took && in.Has(d.ReceivedOn), stands.returned && in.Has(d.LastUpdate)
	switch {
	case d.ID == "" || d.Status == "":
		return nil, errNameless
	case d.PaymentID == "" || !took && !won && !has:
		return nil, nil
	}
	money, err := digits.Money(d.Amount, d.Currency)
	if err != nil {
		return nil, fmt.Errorf("dispute %s: %w", d.ID, err)
	}
	e := gateway.Entry{
		ID: entryID(d.ID, payment.MovementChargeback), Payment: d.PaymentID,
		Movement: payment.MovementReport{Kind: payment.MovementChargeback, Dispute: d.ID, Money: *money, At: d.ReceivedOn.UTC()},
	}
	if d.Reference != "" {
		e.References = []string{d.Reference}
	}
	if has { // the dispute may have taken the money again: the entry is the dispute's
		e.Movement.At = d.LastUpdate.UTC()
	}
	if took || has {
		all = append(all, e)
	}
	back := e
	back.ID, back.Movement.Kind, back.Movement.At = entryID(d.ID, payment.MovementChargebackReversal), payment.MovementChargebackReversal, d.LastUpdate.UTC()
	back.Movement.Whole = true
	if won {
		all = append(all, back)
	}
	if in.Has(d.LastUpdate) {
		all = append(all, d.again(e, back)...)
	}
	return all, nil
}

// again returns the entries of a dispute in arbitration that had been won before: its money was returned, and is taken a second time.
// Checkout.com documents that a won arbitration credits the disputed amount, but not when the arbitration took it. The list shows only the
// last status, and not whether the dispute had been won. The sum of the dispute's entries must be the money that it holds, and an
// earlier read may have passed some entries and not others. So the return is passed again with the second chargeback.
func (d dispute) again(took, back gateway.Entry) []gateway.Entry {
	if !strings.HasPrefix(strings.ToLower(d.Status), "arbitration_") {
		return nil
	}
	took.Implied, back.Implied = true, true
	took.ID, took.Movement.At = took.ID+secondRound, d.LastUpdate.UTC()
	if stands, _ := d.stands(); !stands.returned {
		return []gateway.Entry{back, took}
	}
	back.ID += secondRound
	return []gateway.Entry{took, back}
}

// secondRound ends the ids of the entries of a dispute's second chargeback.
const secondRound = "/2"
