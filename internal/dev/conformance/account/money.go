package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// hold begins a payment that holds money until its capture.
func (r *run) hold(ctx context.Context, mode payment.CaptureMode) (*made, error) {
	m, err := r.begin(ctx, r.Tokens.Success, mode)
	if err != nil {
		return nil, err
	}
	if err := r.settle(ctx, m, fsm.EventAuthorized, fsm.EventSucceeded); err != nil {
		return nil, err
	}
	if m.out.Event != fsm.EventAuthorized {
		return nil, fail(FaultUnexpected, "the payment method must allow holds: give another --token-success", "the payment holds no money: %s", state(*m.out))
	}
	return m, nil
}

// parts divides by this: a part is a quarter of the amount.
const parts = 4

// capture captures a part of a hold, or the whole hold if the provider captures no parts.
func capture(ctx context.Context, r *run) (string, error) {
	if r.can.Captures == payment.CapturesNone {
		return "", notOfferedError("the adapter holds no money for a later capture")
	}
	m, err := r.hold(ctx, payment.CaptureManual)
	if err != nil {
		return "", err
	}
	money, whole := r.Money, r.can.Captures < payment.CapturesOnce
	if !whole {
		money.Minor -= money.Minor / parts
	}
	c := gateway.Capture{
		Attempt: m.charge.Attempt, ProviderPaymentID: m.out.ProviderPaymentID, Container: m.out.Container, Money: money, Whole: whole,
		IdempotencyKey: key(uuid.UUID(m.charge.Attempt), "capture-0"), Permit: r.permit(),
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Capture(ctx, c) })
	if err = r.mode(o, err); err != nil {
		return "", err
	}
	m.take(o)
	if o.Refused || o.Event == fsm.EventFailed {
		return "", fail(FaultUnexpected, toLook, "the capture of %s returned %s", money, state(o))
	}
	if r.can.Blind() {
		return "", errByWebhook
	}
	amount := func(o gateway.Outcome) error {
		if o.Event == fsm.EventSucceeded && o.Money != nil && *o.Money != money {
			return fail(FaultCaptureAmount, "the provider must capture the requested amount", "a capture of %s was requested, and %s were captured", money, o.Money)
		}
		return nil
	}
	if err := amount(o); err != nil {
		return "", err
	}
	if err := r.until(ctx, func() error {
		o, err := r.look(ctx, m)
		switch {
		case err != nil:
			return err
		case o.Event != fsm.EventSucceeded:
			return notYetError{fail(FaultUnexpected, toLook, "after the capture the payment is %s", state(o))}
		}
		return amount(o)
	}); err != nil {
		return "", unseen(err)
	}
	m.captured = money.Minor
	return fmt.Sprintf("%s of %s, %s", money, r.Money, m.id()), nil
}

// cancel releases a hold. If the adapter has no holds, it ends a payment that is not paid.
func cancel(ctx context.Context, r *run) (string, error) {
	if r.can.Cancels == payment.CancelsNone {
		return "", notOfferedError("the provider cancels nothing")
	}
	holds := r.can.Captures > payment.CapturesNone
	var m *made
	var err error
	switch {
	case holds:
		m, err = r.hold(ctx, payment.CaptureManual)
	case !r.Tokens.Page:
		return "", SkipError("the provider has no page on which a payment could wait")
	default:
		m, err = r.begin(ctx, r.Tokens.Success, payment.CaptureAutomatic)
	}
	if err != nil {
		return "", err
	}
	o, err := r.cancel(ctx, m)
	switch {
	case err != nil:
		return "", err
	case o.Refused && !holds:
		return "", SkipError("the provider can't cancel an unpaid payment; it expires automatically")
	case o.Refused || o.Event == fsm.EventSucceeded:
		return "", fail(FaultHoldLeft, toLook, "the cancel returned %s", state(o))
	case r.can.Blind():
		return "", errByWebhook
	}
	if err := r.until(ctx, func() error {
		o, err := r.look(ctx, m)
		switch {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			return nil // it is gone
		case err != nil:
			return err
		case o.Event == fsm.EventAuthorized, o.Event == fsm.EventSucceeded:
			return notYetError{fail(FaultHoldLeft, "a cancelled payment must not hold money", "the cancel was accepted, and the payment is still %s", state(o))}
		case holds && o.Event != fsm.EventFailed:
			return notYetError{fail(FaultUnexpected, toLook, "after the cancel the payment is %s", state(o))}
		}
		return nil
	}); err != nil {
		return "", err
	}
	m.over = true
	if holds {
		return "the hold is released, " + m.id(), nil
	}
	return "an unpaid payment has ended, " + m.id(), nil
}

func (r *run) cancel(ctx context.Context, m *made) (gateway.Outcome, error) {
	c := gateway.Cancel{
		Attempt: m.charge.Attempt, ProviderPaymentID: m.out.ProviderPaymentID, Container: m.out.Container,
		IdempotencyKey: key(uuid.UUID(m.charge.Attempt), "cancel-"+strconv.Itoa(len(r.results))), Permit: r.permit(),
	}
	return call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Cancel(ctx, c) })
}

const errNoRefunds = notOfferedError("the adapter makes no refunds")

func refundPart(ctx context.Context, r *run) (string, error) {
	switch {
	case r.can.Refunds == payment.RefundsNone:
		return "", errNoRefunds
	case r.can.Refunds < payment.RefundsParts:
		return "", notOfferedError("the provider refunds no parts")
	}
	m, err := r.needPaid()
	if err != nil {
		return "", err
	}
	return r.refund(ctx, m, r.Money.Minor/parts)
}

// refundWhole refunds all of a payment in one call: a payment of an earlier case if there is one.
func refundWhole(ctx context.Context, r *run) (string, error) {
	if r.can.Refunds == payment.RefundsNone {
		return "", errNoRefunds
	}
	if r.first == nil {
		return "", SkipError("the case charge has no paid payment")
	}
	for _, m := range r.made {
		if m.captured > 0 && m.refunded == 0 && len(m.parts) == 0 {
			return r.refund(ctx, m, m.captured)
		}
	}
	m, err := r.begin(ctx, r.Tokens.Success, payment.CaptureAutomatic)
	if err != nil {
		return "", err
	}
	if _, err := r.paid(ctx, m); err != nil {
		return "", err
	}
	return r.refund(ctx, m, m.captured)
}

// sendRefund refunds a part of a payment, or of the named capture.
func (r *run) sendRefund(ctx context.Context, m *made, minor int64, capture string) (gateway.RefundCall, gateway.RefundOutcome, error) {
	id := payment.OnlyCell.NewID()
	c := gateway.RefundCall{
		Refund: payment.RefundID(id), Attempt: m.charge.Attempt, ProviderPaymentID: m.out.ProviderPaymentID, Container: m.out.Container,
		Capture: capture, Money: payment.Money{Minor: minor, Currency: r.Money.Currency}, Left: payment.Money{Minor: m.captured - m.refunded, Currency: r.Money.Currency},
		Reason: "Conformance test", IdempotencyKey: key(id, "refund"), Permit: r.permit(),
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.RefundOutcome, error) { return r.account.Provider.Refund(ctx, c) })
	if err == nil && o.Event != fsm.EventFailed && !o.Refused {
		m.refunded += minor
		m.refunds = append(m.refunds, c)
	}
	return c, o, err
}

func (r *run) refund(ctx context.Context, m *made, minor int64) (string, error) {
	taken := payment.Money{Minor: m.captured, Currency: r.Money.Currency}
	c, o, err := r.sendRefund(ctx, m, minor, "")
	if err != nil {
		return "", err
	}
	if err := m.refundHolds(c, o); err != nil {
		return "", err
	}
	if r.can.Blind() {
		return "", errByWebhook
	}
	text := fmt.Sprintf("%s of %s, %s", c.Money, m.id(), o.Event)
	if r.can.RefundLookup > payment.RefundLookupNone && o.ProviderRefundID != "" {
		if err := r.refundFound(ctx, m, c, o, taken); err != nil {
			return "", unseen(err)
		}
		text += ", found by its id"
	}
	if r.can.Shows >= payment.ShowsRefunds {
		if err := r.refundShown(ctx, m, c, o); err != nil {
			return "", unseen(err)
		}
		text += ", shown by the payment"
	}
	return text, nil
}

// refundFound looks a refund up by its id.
func (r *run) refundFound(ctx context.Context, m *made, c gateway.RefundCall, o gateway.RefundOutcome, taken payment.Money) error {
	ref := gateway.RefundRef{
		Refund: c.Refund, ProviderRefundID: o.ProviderRefundID, ProviderPaymentID: c.ProviderPaymentID, Container: c.Container, Money: c.Money, Taken: taken,
	}
	return r.until(ctx, func() error {
		found, err := call(ctx, r, func(ctx context.Context) (gateway.RefundOutcome, error) {
			return r.account.Provider.LookupRefund(ctx, ref)
		})
		if err != nil {
			return err
		}
		return m.refundHolds(c, found)
	})
}

// refundShown looks the payment up, which shows its refunds.
func (r *run) refundShown(ctx context.Context, m *made, c gateway.RefundCall, o gateway.RefundOutcome) error {
	return r.until(ctx, func() error {
		now, err := r.look(ctx, m)
		if err != nil {
			return err
		}
		for _, shown := range now.Refunds {
			if shown.ProviderRefundID == o.ProviderRefundID || shown.Reference == c.Refund.String() {
				return m.refundHolds(c, shown)
			}
		}
		return notYetError{fail(FaultUnexpected, toLook, "the lookup of the payment does not show the refund %s", o.ProviderRefundID)}
	})
}

// refundHolds checks an answer about a refund. A refund that has failed gives nothing back, so it no longer counts.
func (m *made) refundHolds(c gateway.RefundCall, o gateway.RefundOutcome) error {
	if o.Refused || o.Event == fsm.EventFailed {
		i := slices.IndexFunc(m.refunds, func(sent gateway.RefundCall) bool { return sent.Refund == c.Refund })
		if i >= 0 {
			m.refunded -= c.Money.Minor
			m.refunds = slices.Delete(m.refunds, i, i+1)
		}
		return fail(FaultUnexpected, toLook, "the refund of %s is %s", c.Money, refundState(o))
	}
	if o.Money != nil && *o.Money != c.Money {
		return fail(FaultRefundAmount, "the provider must refund the requested amount", "a refund of %s was requested, and the provider states %s", c.Money, o.Money)
	}
	return nil
}

func refundState(o gateway.RefundOutcome) string {
	return state(gateway.Outcome{Event: o.Event, Refused: o.Refused, Failure: o.Failure, Money: o.Money})
}
