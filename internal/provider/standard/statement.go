package standard

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	errNameless = errors.New("the provider's answer names no object")
	errMoney    = errors.New("the provider's answer has an amount below 1 or a currency that is not three upper-case letters")
)

// outcome returns an error for a response without an id, or with money of another form: how the payment stands is then
// unknown. A status that the contract does not have is under way.
func outcome(c Charge) (gateway.Outcome, error) {
	if c.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{
		ProviderPaymentID: c.ID, Container: c.ContainerID, Payee: c.Payee, Live: live(c.Test), News: fsm.NewsProcessing, Saved: c.Saved,
	}
	if c.ContainerID != "" {
		o.References = []string{c.ContainerID}
	}
	var err error
	switch c.Status {
	case Pending:
		if o.NextAction = action(c.NextAction); o.NextAction != nil {
			o.News = fsm.NewsActionRequired
		}
	case Authorized:
		o.News = fsm.NewsAuthorized
		o.Money, err = money(c.Amount, c.Currency)
	case Succeeded:
		o.News = fsm.NewsSucceeded
		captured := c.Amount
		if c.AmountCaptured != nil {
			captured = *c.AmountCaptured
		}
		o.Money, err = money(captured, c.Currency)
	case Failed:
		o.News, o.Failure = fsm.NewsFailed, failure(c.FailureCode)
	case Canceled:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	}
	if err != nil {
		return gateway.Outcome{}, err
	}
	return withLater(o, c)
}

// live is nil where the provider does not state the mode.
func live(test *bool) *bool {
	if test == nil {
		return nil
	}
	return new(!*test)
}

// action is nil for one that is not of the contract: a shop's page leads its customer to whatever address is in it.
func action(n *payment.NextAction) *payment.NextAction {
	if n == nil {
		return nil
	}
	switch n.Type {
	case payment.ActionSDK, payment.ActionDisplay:
		return n
	case payment.ActionRedirect, payment.ActionPostForm:
		if to, err := url.Parse(n.URL); err == nil && to.Host != "" && (to.Scheme == "https" || to.Scheme == "http") {
			return n
		}
	}
	return nil
}

func money(minor int64, currency string) (*payment.Money, error) {
	if minor < 1 || !isCurrency(currency) {
		return nil, errMoney
	}
	return &payment.Money{Minor: minor, Currency: payment.Currency(currency)}, nil
}

func isCurrency(code string) bool {
	for _, c := range []byte(code) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return len(code) == 3
}

// withLater adds what happened after the payment: its refunds and disputes.
func withLater(o gateway.Outcome, c Charge) (gateway.Outcome, error) {
	for _, r := range c.Refunds {
		refunded, err := refundOutcome(r)
		if err != nil {
			return gateway.Outcome{}, err
		}
		refunded.Reference = r.Reference
		o.Refunds = append(o.Refunds, refunded)
	}
	for _, d := range c.Disputes {
		disputed, err := money(d.Amount, d.Currency)
		if err == nil && d.ID == "" {
			err = errNameless
		}
		if err != nil {
			return gateway.Outcome{}, err
		}
		// Of a status that is not of the contract only the movements count.
		if slices.Contains(fsm.DisputeStates(), fsm.DisputeState(d.Status)) {
			o.Disputes = append(o.Disputes, payment.DisputeTold{
				ProviderID: d.ID, Status: fsm.DisputeState(d.Status), Reason: d.Reason, Money: disputed, DueBy: d.DueBy, At: d.Updated,
			})
		}
		for _, m := range d.Movements {
			moved, err := m.movement(d)
			if err != nil {
				return gateway.Outcome{}, err
			}
			o.Movements = append(o.Movements, moved)
		}
	}
	return o, nil
}

// movement is what a dispute has moved. One without an id would be taken for the total of its kind, and a negative amount would add to it.
func (m DisputeMovement) movement(of Dispute) (payment.Told, error) {
	kind, err := movementKind(m.Kind)
	switch {
	case err != nil:
		return payment.Told{}, err
	case m.EntryID == "", kind != payment.MovementChargeback && kind != payment.MovementChargebackReversal:
		return payment.Told{}, errNameless
	}
	moved, err := money(m.Amount, of.Currency)
	if err != nil {
		return payment.Told{}, err
	}
	return payment.Told{Kind: kind, Dispute: of.ID, ID: m.EntryID, Money: *moved, At: m.At}, nil
}

func movementKind(kind string) (payment.MovementKind, error) {
	switch kind {
	case "charge":
		return payment.MovementCapture, nil
	case "refund":
		return payment.MovementRefund, nil
	case "chargeback":
		return payment.MovementChargeback, nil
	case "chargeback_reversal":
		return payment.MovementChargebackReversal, nil
	}
	return "", fmt.Errorf("a movement of money that the contract does not have: %q", kind)
}

func failure(code *string) *payment.Failure {
	if code == nil {
		return payment.NewFailure("", "")
	}
	return payment.NewFailure(*code, *code)
}

// refundOutcome is that of a refund; a status that the contract does not have is under way.
func refundOutcome(r Refund) (gateway.RefundOutcome, error) {
	if r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	refunded, err := money(r.Amount, r.Currency)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	o := gateway.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: r.ID, Money: refunded}
	switch r.Status {
	case Succeeded:
		o.News = fsm.NewsSucceeded
	case Failed:
		o.News = fsm.NewsFailed
		o.Failure = failure(r.FailureCode)
	}
	return o, nil
}
