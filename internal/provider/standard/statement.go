package standard

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/standard"
)

var (
	errNameless = errors.New("the provider's answer names no object")
	errMoney    = errors.New("the provider's answer has an amount below 1 or a currency that is not three upper-case letters")
)

// outcome maps a charge. It returns an error for a response without an id or with invalid money, because the state is
// then unknown. A status outside the contract is processing.
func outcome(c Charge) (gateway.Outcome, error) {
	if c.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{
		ProviderPaymentID: c.ID, Container: c.ContainerID, Payee: c.Payee, Live: live(c.Test), Event: fsm.EventProcessing, Saved: c.Saved,
	}
	if c.ContainerID != "" {
		o.References = []string{c.ContainerID}
	}
	var err error
	switch c.Status {
	case Pending:
		if o.NextAction = action(c.NextAction); o.NextAction != nil {
			o.Event = fsm.EventActionRequired
		}
	case Authorized:
		o.Event = fsm.EventAuthorized
		o.Money, err = money(c.Amount, c.Currency)
	case Succeeded:
		o.Event = fsm.EventSucceeded
		captured := c.Amount
		if c.AmountCaptured != nil {
			captured = *c.AmountCaptured
		}
		o.Money, err = money(captured, c.Currency)
		if on := c.AmountCapturable; on != nil && *on < c.Amount-captured {
			var released *payment.Money
			released, err = money(c.Amount-captured-*on, c.Currency)
			if err == nil {
				o.Movements = append(o.Movements, payment.MovementReport{Kind: payment.MovementRelease, Money: *released})
			}
		}
	case Failed:
		o.Event, o.Failure = fsm.EventFailed, failure(c.FailureCode)
	case Canceled:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	if err != nil {
		return gateway.Outcome{}, err
	}
	return withLater(o, c)
}

// live returns nil if the provider does not state the mode.
func live(test *bool) *bool {
	if test == nil {
		return nil
	}
	return new(!*test)
}

// action returns nil for an action outside the contract, because a shop's page sends its customer to the address in the
// action.
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

// withLater adds the charge's refunds and disputes.
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
		// If the status is outside the contract, only the movements count.
		if slices.Contains(fsm.DisputeStates(), fsm.DisputeState(d.Status)) {
			o.Disputes = append(o.Disputes, payment.DisputeReport{
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

// movement returns a dispute's movement. A movement without an id would count as the total of its kind, and a negative
// amount would add to that total.
func (m DisputeMovement) movement(of Dispute) (payment.MovementReport, error) {
	kind, err := movementKind(m.Kind)
	switch {
	case err != nil:
		return payment.MovementReport{}, err
	case m.EntryID == "", kind != payment.MovementChargeback && kind != payment.MovementChargebackReversal:
		return payment.MovementReport{}, errNameless
	}
	moved, err := money(m.Amount, of.Currency)
	if err != nil {
		return payment.MovementReport{}, err
	}
	return payment.MovementReport{Kind: kind, Dispute: of.ID, ID: m.EntryID, Money: *moved, At: m.At}, nil
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
	return payment.NewFailure(hooks.FailureCode(*code))
}

// refundOutcome maps a refund. A status outside the contract is processing.
func refundOutcome(r Refund) (gateway.RefundOutcome, error) {
	if r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	refunded, err := money(r.Amount, r.Currency)
	if err != nil {
		return gateway.RefundOutcome{}, err
	}
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: r.ID, Money: refunded}
	switch r.Status {
	case Succeeded:
		o.Event = fsm.EventSucceeded
	case Failed:
		o.Event = fsm.EventFailed
		o.Failure = failure(r.FailureCode)
	}
	return o, nil
}
