package account

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// part is one of several captures of a hold.
type part struct {
	capture string
	minor   int64
}

// enable is the advice where an account does not capture a hold in parts.
const enable = "the account and the payment method must allow several captures of one hold: see the provider's page in the manual"

// captureParts captures two parts of a hold, and releases the rest.
func captureParts(ctx context.Context, r *run) (string, error) {
	if r.can.Captures < payment.CapturesSeveral {
		return "", notOfferedError("the adapter captures a hold once")
	}
	m, err := r.hold(ctx, payment.CaptureSeveral)
	if err != nil {
		return "", err
	}
	each := payment.Money{Minor: r.Money.Minor / parts, Currency: r.Money.Currency}
	sum := each
	for i := range 2 {
		sum.Minor = each.Minor * int64(i+1)
		if err := r.part(ctx, m, i, each, sum); err != nil {
			return "", err
		}
	}
	o, err := r.cancel(ctx, m)
	switch {
	case err != nil:
		return "", err
	case r.can.Blind():
		return "", errByWebhook
	case o.Refused:
		return "", fail(FaultHoldLeft, enable, "the cancel of the rest returned %s", state(o))
	}
	if err := r.until(ctx, func() error {
		o, err := r.look(ctx, m)
		switch {
		case err != nil:
			return err
		case o.Event != fsm.EventSucceeded || o.Money == nil || *o.Money != sum:
			return fail(FaultCaptureAmount, toLook, "%s were captured, and after the cancel of the rest the payment is %s", sum, state(o))
		}
		for _, moved := range o.Movements {
			if moved.Kind == payment.MovementRelease && moved.Money.Minor == r.Money.Minor-sum.Minor {
				return nil
			}
		}
		return notYetError{fail(FaultHoldLeft, toLook, "the cancel of the rest was accepted, and the payment does not show that it was released")}
	}); err != nil {
		return "", unseen(err)
	}
	return fmt.Sprintf("%s of %s in two parts, %s", sum, r.Money, m.id()), nil
}

// part captures a part of a hold. Sum is what is captured then.
func (r *run) part(ctx context.Context, m *made, number int, each, sum payment.Money) error {
	c := gateway.Capture{
		Attempt: m.charge.Attempt, ProviderPaymentID: m.out.ProviderPaymentID, Container: m.out.Container, Money: each, Several: true,
		IdempotencyKey: key(uuid.UUID(m.charge.Attempt), "capture-"+strconv.Itoa(number)), Permit: r.permit(),
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Capture(ctx, c) })
	if err = r.mode(o, err); err != nil {
		return err
	}
	m.take(o)
	if o.Refused || o.Event == fsm.EventFailed {
		return fail(FaultUnexpected, enable, "capture %d of %s returned %s", number+1, each, state(o))
	}
	if r.can.Refunds == payment.RefundsOfCaptures && o.ProviderRef != "" {
		m.parts = append(m.parts, part{o.ProviderRef, each.Minor})
	}
	if r.can.Blind() {
		return nil
	}
	return unseen(r.until(ctx, func() error {
		now, err := r.look(ctx, m)
		switch {
		case err != nil:
			return err
		case now.Event != fsm.EventSucceeded || now.Money == nil || now.Money.Minor < sum.Minor:
			return notYetError{fail(FaultUnexpected, toLook, "after capture %d the payment is %s", number+1, state(now))}
		case *now.Money != sum:
			return fail(FaultCaptureAmount, "the provider must capture the requested amount", "captures of %s were requested, and %s were captured", sum, now.Money)
		}
		return nil
	}))
}
