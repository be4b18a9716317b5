package paypal

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/paypal"
)

var errNameless = errors.New("the answer names no object")

// outcome maps an order by its most advanced payment. An order without a payment is mapped by its own status
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get).
func outcome(o order) (gateway.Outcome, error) {
	if o.Status == "" && len(o.made()) == 0 || o.ID == "" && o.Status != "" {
		return gateway.Outcome{}, errNameless
	}
	var furthest gateway.Outcome
	for _, p := range o.made() {
		one, err := o.outcomeOf(p)
		if err != nil {
			return gateway.Outcome{}, err
		}
		furthest = kit.Further(furthest, one)
	}
	if furthest.ProviderPaymentID != "" {
		return furthest, nil
	}
	out := gateway.Outcome{Container: o.ID, Payee: o.payee(), Event: fsm.EventProcessing, References: o.references(made{mark: o.mark()})}
	o.waiting(&out)
	return out, nil
}

// outcomeNamed returns the outcome of the payment with this id in the order, or of the order.
func outcomeNamed(o order, id string) (gateway.Outcome, error) {
	p, ok := o.named(id)
	if !ok {
		return outcome(o)
	}
	return o.outcomeOf(p)
}

// outcomeOf maps a payment by its parts. Captures decide before the authorization. An unrecognized status is processing.
func (o order) outcomeOf(p made) (gateway.Outcome, error) {
	if p.id == "" {
		return gateway.Outcome{}, errNameless
	}
	out := gateway.Outcome{ProviderPaymentID: p.id, Container: o.ID, Payee: p.payee, Event: fsm.EventProcessing, References: o.references(p)}
	var err error
	if len(p.captures) > 0 {
		err = p.captured(&out)
	} else {
		err = p.held.authorized(&out)
	}
	out.Review = p.review(out.Event)
	if out.Event == fsm.EventSucceeded || out.Event == fsm.EventAuthorized {
		out.Saved = o.Source.saved()
	}
	if err == nil && out.Event == fsm.EventSucceeded {
		out.Refunds, err = p.refunded()
	}
	return out, err
}

// review returns PayPal's own review of a payment, which leaves it pending (https://developer.paypal.com/docs/api/orders/v2/, reason
// PENDING_REVIEW). Its end has no other sign than the end of the waiting.
func (p made) review(by fsm.Event) *payment.ReviewReport {
	waits := func(m movement) bool { return m.Status == "PENDING" && m.StatusDetails.Reason == "PENDING_REVIEW" }
	switch {
	case by == fsm.EventSucceeded, by == fsm.EventAuthorized:
		return &payment.ReviewReport{Status: payment.ReviewApproved, Implied: true}
	case by == fsm.EventFailed:
		return &payment.ReviewReport{Status: payment.ReviewDeclined, Implied: true}
	case p.held != nil && waits(*p.held), slices.ContainsFunc(p.captures, waits):
		return &payment.ReviewReport{Status: payment.ReviewOpen}
	}
	return nil
}

// refunded returns the refunds of the payment's captures. The order contains all of them
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get, "payments.refunds").
func (p made) refunded() (all []gateway.RefundOutcome, err error) {
	for _, r := range p.refunds {
		one, err := refundOutcome(r, p.id)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// references returns the payment's other ids in webhooks: the ids of its captures, our own id, and the order's id. Our
// own id finds an order whose id is not recorded.
func (o order) references(p made) []string {
	var names []string
	add := func(name string) {
		if name != "" && name != p.id && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range p.captures {
		add(m.ID)
	}
	add(p.mark)
	add(o.ID)
	return names
}

// mark returns the custom_id of the first unit that has one.
func (o order) mark() string {
	for _, u := range o.PurchaseUnits {
		if u.CustomID != "" {
			return u.CustomID
		}
	}
	return ""
}

// payee returns the merchant that the order pays. Several merchants are joined by commas.
func (o order) payee() string {
	var all []string
	for _, u := range o.PurchaseUnits {
		if id := u.Payee.id(); id != "" && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return strings.Join(all, ",")
}

// captured sums up the captures and names each of them, because PayPal deletes an order earlier than the refund period
// of its captures ends. While one of several waits, the payment does. A declined capture of an authorization can be retried, so it is a soft decline. A declined
// capture of an order is final.
func (p made) captured(out *gateway.Outcome) error {
	waits := false
	for _, m := range p.taken() {
		if m.Status == "PENDING" {
			waits = true
			continue
		}
		sum, err := m.Amount.money()
		if err != nil {
			return err
		}
		out.Event = fsm.EventSucceeded
		if sum == nil {
			continue
		}
		out.Movements = append(out.Movements, payment.MovementReport{Kind: payment.MovementCapture, ID: m.ID, Money: *sum})
		if out.Money == nil {
			out.Money = new(*sum)
			continue
		}
		out.Money.Minor += sum.Minor
	}
	if waits {
		out.Event, out.Money = fsm.EventProcessing, nil
		if !p.inParts() {
			out.Movements = nil
		}
		return nil
	}
	if err := p.released(out); err != nil {
		return err
	}
	last := p.captures[len(p.captures)-1]
	if out.Event == fsm.EventSucceeded || !last.declined() {
		return nil
	}
	out.Event, out.Failure = fsm.EventFailed, last.failure()
	if p.id != last.ID {
		out.Event = fsm.EventSoftFailed
	}
	return nil
}

// released adds what was released of a hold that was captured in several parts: by its final capture or a void.
func (p made) released(out *gateway.Outcome) error {
	if p.held == nil || out.Money == nil || !p.inParts() || p.held.Status != "CAPTURED" && p.held.Status != "VOIDED" {
		return nil
	}
	rest, err := p.held.Amount.money()
	if err != nil {
		return err
	}
	if rest.Minor -= out.Money.Minor; rest.Minor > 0 && rest.Currency == out.Money.Currency {
		out.Movements = append(out.Movements, payment.MovementReport{Kind: payment.MovementRelease, Money: *rest})
	}
	return nil
}

func (m movement) authorized(out *gateway.Outcome) error {
	var err error
	switch m.Status {
	case "CREATED":
		out.Event = fsm.EventAuthorized
		out.Money, err = m.Amount.money()
	case "DENIED":
		out.Event, out.Failure = fsm.EventFailed, m.failure()
	case "VOIDED":
		out.Event, out.Failure = fsm.EventFailed, payment.NewFailure("canceled", m.StatusDetails.Reason)
		if m.expired() {
			out.Failure = payment.NewFailure("expired", m.StatusDetails.Reason)
		}
	}
	return err
}

// expired reports whether the authorization was expired at its last update.
func (m movement) expired() bool {
	end, err := time.Parse(time.RFC3339, m.ExpirationTime)
	at, failed := time.Parse(time.RFC3339, m.UpdateTime)
	return err == nil && failed == nil && !at.Before(end)
}

// waiting maps an order without a capture or an authorization. An approved order must be finished before the approval
// expires; PayPal does not finish it by itself.
func (o order) waiting(out *gateway.Outcome) {
	switch o.Status {
	case "APPROVED":
		out.Event, out.Approved = fsm.EventActionRequired, true
		if failed := rejected(o.results()); failed != nil {
			out.Event, out.Approved, out.Failure = fsm.EventSoftFailed, false, failed.failure()
		}
	case "CREATED", "SAVED", "PAYER_ACTION_REQUIRED":
		out.Event, out.NextAction = fsm.EventActionRequired, o.action()
	case "VOIDED":
		out.Event, out.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
}

// page returns the address of the page on which the customer approves.
func (o order) page() string {
	for _, rel := range []string{"payer-action", "approve"} {
		for _, link := range o.Links {
			if link.Rel == rel {
				return link.Href
			}
		}
	}
	return ""
}

// failure prefers the card processor's code to PayPal's reason.
func (m movement) failure() *payment.Failure {
	return payment.NewFailure(hooks.FailureCode(m.ProcessorResponse.ResponseCode, m.StatusDetails.Reason))
}

// refundOutcome maps a refund of a payment by its status
// (https://developer.paypal.com/docs/api/payments/v2/#refunds_get).
func refundOutcome(r refund, of string) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.Status == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, ProviderPaymentID: of, Reference: r.CustomID, Event: fsm.EventProcessing}
	switch r.Status {
	case "COMPLETED":
		o.Event = fsm.EventSucceeded
	case "FAILED", "CANCELLED":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", r.StatusDetails.Reason)
	}
	var err error
	o.Money, err = r.Amount.money()
	return o, err
}
