package account

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// charge makes the payment that most of the other cases use.
func charge(ctx context.Context, r *run) (string, error) {
	m, err := r.begin(ctx, r.Tokens.Success, payment.CaptureAutomatic)
	var unfit *payment.ValidationError
	switch {
	case errors.As(err, &unfit):
		return "", CantRunError{fmt.Sprintf("the adapter refuses the charge (%s): correct it by --token-success, --currency or the account's keys", unfit)}
	case err != nil:
		return "", err
	}
	return r.paid(ctx, m)
}

// paid waits until a payment has succeeded, and compares its amount.
func (r *run) paid(ctx context.Context, m *made) (string, error) {
	if err := r.settle(ctx, m, fsm.EventSucceeded); err != nil {
		return "", err
	}
	if m.out.Event != fsm.EventSucceeded {
		return "", fail(FaultUnexpected, "give a --token-success that pays in the provider's test mode", "the payment has not succeeded: %s", state(*m.out))
	}
	if m.out.Money != nil && *m.out.Money != r.Money {
		return "", fail(FaultCaptureAmount, toLook, "a payment of %s instead of %s", m.out.Money, r.Money)
	}
	if m.captured == 0 {
		m.captured = r.Money.Minor // the provider states no amount
	}
	if r.first == nil {
		r.first = m
	}
	return fmt.Sprintf("%s, %s", m.id(), state(*m.out)), nil
}

// needPaid is the payment of the charge case.
func (r *run) needPaid() (*made, error) {
	if r.first == nil {
		return nil, SkipError("the case charge has no paid payment")
	}
	return r.first, nil
}

const errNoKeys = notOfferedError("the provider keeps no idempotency keys for a charge: paylatch sends it once")

// sameKey sends the charge of an earlier case again.
func sameKey(ctx context.Context, r *run) (string, error) {
	if r.can.KeyLife == 0 {
		return "", errNoKeys
	}
	m := r.first
	if m == nil {
		if m = r.latest(); m == nil {
			return "", SkipError("the case charge has begun no payment")
		}
	}
	again, err := r.send(ctx, m)
	if err != nil {
		return "", fmt.Errorf("the same charge again: %w", err)
	}
	if !m.is(again) {
		r.another(m, again)
		return "", fail(FaultDoubleCharge, "the same idempotency key must return the first payment", "the key of %s made %s as well", begun(*m.first), begun(again))
	}
	return "the same payment, " + begun(again), nil
}

// latest is the last payment that was begun with an answer.
func (r *run) latest() *made {
	if n := len(r.made); n > 0 && r.made[n-1].out != nil {
		return r.made[n-1]
	}
	return nil
}

// another records a second payment that a repeated charge has made, for the clean-up.
func (r *run) another(m *made, o gateway.Outcome) {
	second := &made{name: m.name, charge: m.charge, sent: true}
	second.take(o)
	r.made = append(r.made, second)
}

// begun is the id of the object that a charge itself makes: the container, or the payment without one.
func begun(o gateway.Outcome) string { return cmp.Or(o.Container, o.ProviderPaymentID) }

// lostAnswer cuts the connection of a charge after the request, and then finds the payment by our reference, by the same key, or by both.
func lostAnswer(ctx context.Context, r *run) (string, error) {
	if !r.can.Finds() && r.can.KeyLife == 0 {
		return "", notOfferedError("the provider offers neither idempotency keys nor a search by our reference: after a lost answer paylatch waits for the webhook")
	}
	m, err := r.prepare(r.Tokens.Success, payment.CaptureAutomatic)
	if err != nil {
		return "", err
	}
	r.tap.loses(m.charge.Attempt.String())
	o, err := r.send(ctx, m)
	lost := r.tap.lostAnswer()
	switch {
	case err == nil && lost == nil:
		m.take(o)
		return "", notOfferedError("the charge sends no request: the customer's browser opens a signed address")
	case err == nil:
		m.take(o)
		return "", fail(FaultUnexpected, toLook, "the adapter took a lost answer for %s", state(o))
	case lost == nil:
		return "", err
	}
	how, err := r.recover(ctx, m, lost)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the connection was cut after the request; %s: one payment, %s", how, m.id()), nil
}

// recover finds the payment of a lost answer, by each way that the provider offers.
func (r *run) recover(ctx context.Context, m *made, lost []byte) (how string, err error) {
	if r.can.Finds() {
		how = "our reference finds it"
		if err := r.until(ctx, func() error {
			o, err := r.find(ctx, m)
			if err == nil {
				m.take(o)
			}
			return err
		}); err != nil {
			return "", unseen(err)
		}
	}
	if r.can.KeyLife > 0 && (r.can.Resend != payment.ResendUnfound || m.out == nil) {
		again, err := r.send(ctx, m)
		if err != nil {
			return "", fmt.Errorf("the same charge after the lost answer: %w", err)
		}
		known := m.out == nil || m.is(again)
		if !known || !bytes.Contains(lost, []byte(begun(again))) {
			r.another(m, again)
			return "", fail(FaultForgotKey, "the key must return the payment that the first request made, also if its answer was lost",
				"after the lost answer the same key made another payment, %s", begun(again))
		}
		m.take(again)
		if how != "" {
			how += ", and "
		}
		how += "the same key returns it"
	}
	if r.can.Finds() && !bytes.Contains(lost, []byte(begun(*m.first))) {
		return "", fail(FaultDoubleCharge, toLook, "the lost answer named another payment than %s, which our reference finds", begun(*m.first))
	}
	return how, nil
}

func (r *run) find(ctx context.Context, m *made) (gateway.Outcome, error) {
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) {
		return r.account.Provider.Find(ctx, m.charge.Attempt)
	})
	return o, r.mode(o, err)
}

func decline(ctx context.Context, r *run) (string, error) {
	if r.Tokens.Decline == "" {
		return "", SkipError("no payment method is known that is declined: give --token-decline")
	}
	m, err := r.begin(ctx, r.Tokens.Decline, payment.CaptureAutomatic)
	if err != nil {
		return "", err
	}
	if err := r.settle(ctx, m, fsm.EventSoftFailed, fsm.EventSucceeded, fsm.EventAuthorized); err != nil {
		return "", err
	}
	if m.out.Event != fsm.EventFailed && m.out.Event != fsm.EventSoftFailed {
		return "", fail(FaultDeclineSucceeded, "a declined payment must not be reported as paid; or give another --token-decline", "the declined payment is %s", state(*m.out))
	}
	if m.out.Refused {
		return "", fail(FaultUnexpected, "give a --token-decline that the provider accepts and declines", "the provider refused the request instead of declining the payment: %s", state(*m.out))
	}
	return state(*m.out), nil
}

func secondStep(ctx context.Context, r *run) (string, error) {
	if r.Tokens.Redirect == "" {
		if r.Tokens.Page && r.first != nil {
			return "the case charge was paid on the provider's page", nil
		}
		return "", SkipError("no payment method is known that needs a second step: give --token-redirect")
	}
	m, err := r.begin(ctx, r.Tokens.Redirect, payment.CaptureAutomatic)
	if err != nil {
		return "", err
	}
	if m.out.NextAction == nil && !m.out.Approved {
		return "", fail(FaultUnexpected, "give a --token-redirect that needs the customer", "the payment needs no step: %s", state(*m.out))
	}
	return r.paid(ctx, m)
}

// lookup looks the paid payment up by the provider's id and by our reference.
func lookup(ctx context.Context, r *run) (string, error) {
	if r.can.Blind() && !r.can.Finds() {
		return "", notOfferedError("the provider has no lookup")
	}
	m, err := r.needPaid()
	if err != nil {
		return "", err
	}
	text := ""
	if !r.can.Blind() {
		o, err := r.look(ctx, m)
		if err != nil {
			return "", unseen(err)
		}
		if o.Event != fsm.EventSucceeded || o.Money != nil && *o.Money != r.Money {
			return "", fail(FaultUnexpected, toLook, "the lookup of a paid payment of %s returned %s", r.Money, state(o))
		}
		text = "by " + m.id()
	}
	if !r.can.Finds() {
		return text, nil
	}
	err = r.until(ctx, func() error {
		o, err := r.find(ctx, m)
		if err == nil && !m.is(o) {
			return fail(FaultDoubleCharge, toLook, "our reference finds another payment, %s", begun(o))
		}
		return err
	})
	if err != nil {
		return "", unseen(err)
	}
	return text + " and by our reference", nil
}
