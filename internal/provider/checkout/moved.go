package checkout

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// withMoved adds the refunds of a captured payment, if it has any, and its disputes.
func (c *Client) withMoved(ctx context.Context, o *gateway.Outcome, of paid) error {
	if of.refunded() {
		all, err := c.actions(ctx, of.ID)
		if err != nil {
			return err
		}
		for _, done := range all {
			if done.Type != "Refund" {
				continue
			}
			one, err := done.refund(of.Currency)
			if err != nil {
				return err
			}
			o.Refunds = append(o.Refunds, one)
		}
	}
	return c.withDisputes(ctx, o)
}

// withDisputes adds the payment's disputes and their money movements. The payment itself does not show them. The list
// requires the scope "disputes" or "disputes:view". A key without this scope gets the payment without disputes.
func (c *Client) withDisputes(ctx context.Context, o *gateway.Outcome) error {
	a, err := c.ask(ctx, "/disputes?"+url.Values{"payment_id": {o.ProviderPaymentID}, "limit": {"250"}}.Encode())
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return unlisted(a)
	}
	var listed struct {
		Data []dispute `json:"data"`
	}
	if err := a.Read(&listed); err != nil {
		return err
	}
	if listed.Data == nil {
		return errNameless
	}
	for _, d := range listed.Data {
		if d.PaymentID != o.ProviderPaymentID {
			continue
		}
		if err := d.add(o); err != nil {
			return err
		}
	}
	return nil
}

// unlisted returns nil if the response forbids the list.
func unlisted(a kit.Answer) error {
	refused, err := readRefusal(a)
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden, a.Status == http.StatusNotFound:
		return nil
	}
	return fmt.Errorf("list disputes: checkout.com responded with %d %s", a.Status, refused.code())
}

// standing is the meaning of a dispute's status.
type standing struct {
	state    fsm.DisputeState
	returned bool
}

// standings maps the statuses of the list to the meaning of the webhooks with the same names. A dispute takes the money
// when evidence is required, until the dispute is won or cancelled (https://www.checkout.com/docs/dashboard/disputes). A
// dispute that is "resolved" because the payment was already refunded has "no further financial implications"
// (https://www.checkout.com/docs/risk-management/disputes/disputes-api), see stands.
var standings = map[string]standing{ //nolint:gochecknoglobals // a table
	"evidence_required":        {fsm.DisputeOpen, false},
	"evidence_under_review":    {fsm.DisputeUnderReview, false},
	"arbitration_under_review": {fsm.DisputeUnderReview, false},
	"won":                      {fsm.DisputeWon, true},
	"arbitration_won":          {fsm.DisputeWon, true},
	"canceled":                 {fsm.DisputeWon, true},
	"lost":                     {fsm.DisputeLost, false},
	"arbitration_lost":         {fsm.DisputeLost, false},
	"expired":                  {fsm.DisputeLost, false},
	"accepted":                 {fsm.DisputeAccepted, false},
}

// stands returns the meaning of the dispute's status. It returns false if the dispute took no money. A dispute that
// rapid dispute resolution has resolved takes the money.
func (d dispute) stands() (standing, bool) {
	if strings.EqualFold(d.Status, "resolved") {
		if d.Resolved == "rapid_dispute_resolution" {
			return standing{state: fsm.DisputeAccepted}, true
		}
		return standing{state: fsm.DisputeWon}, false
	}
	stands, took := standings[strings.ToLower(d.Status)]
	return stands, took
}

// add adds a dispute and the money that it currently holds. Its movements have no ids, as in webhooks. The amount is the
// dispute's amount.
func (d dispute) add(o *gateway.Outcome) error {
	stands, moved := d.stands()
	if stands.state == "" {
		return nil
	}
	sum, err := digits.Money(d.Amount, d.Currency)
	if err == nil && d.ID == "" {
		err = errNameless
	}
	if err != nil {
		return err
	}
	took := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: d.ID, Money: *sum, Whole: true}
	switch {
	case stands.returned:
		back := took
		back.Kind, back.At = payment.MovementChargebackReversal, d.LastUpdate.UTC()
		o.Movements = append(o.Movements, took, back)
	case moved:
		took.At = d.LastUpdate.UTC()
		o.Movements = append(o.Movements, took)
	}
	o.Disputes = append(o.Disputes, payment.DisputeReport{
		ProviderID: d.ID, Status: stands.state, Reason: d.ReasonCode, Money: sum, DueBy: d.EvidenceBy.UTC(), At: d.LastUpdate.UTC(),
	})
	return nil
}
