package paypal

import (
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/paypal"
)

var errNameless = errors.New("the answer names no object")

// outcome maps an order by its parts: captures come before authorizations, and those
// before the order's own status
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get). An unrecognized status
// is processing.
func outcome(o order) (gateway.Outcome, error) {
	if o.ID == "" || o.Status == "" && len(o.captures())+len(o.authorizations()) == 0 {
		return gateway.Outcome{}, errNameless
	}
	out := gateway.Outcome{ProviderPaymentID: o.ID, News: fsm.NewsProcessing, References: o.references()}
	var err error
	switch {
	case len(o.captures()) > 0:
		err = o.captured(&out)
	case o.authorization() != nil:
		err = o.authorization().authorized(&out)
	default:
		o.waiting(&out)
	}
	if out.News == fsm.NewsSucceeded || out.News == fsm.NewsAuthorized {
		out.Saved = o.Source.saved()
	}
	if err == nil && out.News == fsm.NewsSucceeded {
		out.Refunds, err = o.refunded()
	}
	return out, err
}

// refunded are the refunds of the order's captures, each of which the order contains
// (https://developer.paypal.com/docs/api/orders/v2/#orders_get, "payments.refunds").
func (o order) refunded() (all []gateway.RefundOutcome, err error) {
	for _, u := range o.PurchaseUnits {
		for _, r := range u.Payments.Refunds {
			one, err := refundOutcome(r)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// references returns the other ids of the order in webhooks: those of its parts, and
// our own, which finds an order with an unrecorded id.
func (o order) references() []string {
	var names []string
	add := func(name string) {
		if name != "" && name != o.ID && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range append(o.captures(), o.authorizations()...) {
		add(m.ID)
	}
	for _, u := range o.PurchaseUnits {
		add(u.CustomID)
		for _, m := range slices.Concat(u.Payments.Captures, u.Payments.Authorizations) {
			add(m.CustomID)
		}
	}
	return names
}

// captured sums up the captures, and names each: PayPal does not keep an order for as long as its captures can
// be refunded. A declined capture of an authorization can be retried:
// a soft decline. That of an order is final.
func (o order) captured(out *gateway.Outcome) error {
	for _, m := range o.taken() {
		if m.Status == "PENDING" {
			out.News, out.Money, out.Movements = fsm.NewsProcessing, nil, nil
			return nil
		}
		sum, err := m.Amount.money()
		if err != nil {
			return err
		}
		out.News = fsm.NewsSucceeded
		if sum == nil {
			continue
		}
		out.Movements = append(out.Movements, payment.Told{Kind: payment.MovementCapture, ID: m.ID, Money: *sum})
		if out.Money == nil {
			out.Money = sum
			continue
		}
		out.Money.Minor += sum.Minor
	}
	last := o.captures()[len(o.captures())-1]
	if out.News == fsm.NewsSucceeded || last.Status != "DECLINED" && last.Status != "FAILED" {
		return nil
	}
	out.News, out.Failure = fsm.NewsFailed, last.failure()
	if o.authorization() != nil {
		out.News = fsm.NewsSoftFailed
	}
	return nil
}

func (m movement) authorized(out *gateway.Outcome) error {
	var err error
	switch m.Status {
	case "CREATED":
		out.News = fsm.NewsAuthorized
		out.Money, err = m.Amount.money()
	case "DENIED":
		out.News, out.Failure = fsm.NewsFailed, m.failure()
	case "VOIDED":
		out.News, out.Failure = fsm.NewsFailed, payment.NewFailure("canceled", m.StatusDetails.Reason)
		if m.expired() {
			out.Failure = payment.NewFailure("expired", m.StatusDetails.Reason)
		}
	}
	return err
}

// expired reports whether an authorization had expired.
func (m movement) expired() bool {
	end, err := time.Parse(time.RFC3339, m.ExpirationTime)
	at, failed := time.Parse(time.RFC3339, m.UpdateTime)
	return err == nil && failed == nil && !at.Before(end)
}

// waiting maps an order without a capture or an authorization. An approved one must be
// finished within the time that its customer had to approve it: PayPal does not act on
// it.
func (o order) waiting(out *gateway.Outcome) {
	switch o.Status {
	case "APPROVED":
		out.News, out.Approved = fsm.NewsActionRequired, true
	case "CREATED", "SAVED", "PAYER_ACTION_REQUIRED":
		out.News, out.NextAction = fsm.NewsActionRequired, payment.Redirect(o.page())
	case "VOIDED":
		out.News, out.Failure = fsm.NewsFailed, payment.NewFailure("canceled", "")
	}
}

// page returns the address where the customer approves.
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

// failure prefers the code of the card processor to PayPal's.
func (m movement) failure() *payment.Failure {
	return payment.NewFailure(hooks.FailureCode(m.ProcessorResponse.ResponseCode, m.StatusDetails.Reason))
}

// refundOutcome maps a refund by its status
// (https://developer.paypal.com/docs/api/payments/v2/#refunds_get).
func refundOutcome(r refund) (gateway.RefundOutcome, error) {
	if r.ID == "" || r.Status == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: r.CustomID, News: fsm.NewsProcessing}
	switch r.Status {
	case "COMPLETED":
		o.News = fsm.NewsSucceeded
	case "FAILED", "CANCELLED":
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", r.StatusDetails.Reason)
	}
	var err error
	o.Money, err = r.Amount.money()
	return o, err
}
