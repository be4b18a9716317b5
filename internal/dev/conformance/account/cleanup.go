package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// clear cancels what is held and refunds what was paid, also after an interrupt.
func (r *run) clear(ctx context.Context) Result {
	ctx = context.WithoutCancel(ctx)
	r.name = cleanUp
	r.tap.ids()
	begun := r.Now()
	var cancelled, refunded int
	for _, m := range r.made {
		what, err := r.undo(ctx, m)
		switch {
		case err != nil:
			r.left = append(r.left, fmt.Sprintf("%s of the case %s: %s", m.label(), m.name, err))
		case what == undoneByCancel:
			cancelled++
		case what == undoneByRefund:
			refunded++
		}
	}
	res := Result{
		Case: cleanUp, Verdict: Held, Text: fmt.Sprintf("%d cancelled, %d refunded", cancelled, refunded),
		Milliseconds: r.Now().Sub(begun).Milliseconds(), RequestIDs: r.tap.ids(),
	}
	if len(r.left) > 0 {
		res.Verdict, res.Fault = Failed, FaultCouldNotBeCleared
		res.Text += "; left: " + strings.Join(r.left, "; ")
		res.ToDo = "cancel or refund these payments in the provider's dashboard"
	}
	return res
}

func (m *made) label() string {
	if m.out == nil {
		return m.charge.Attempt.String()
	}
	return m.id()
}

// The ways to undo a payment; empty: there was nothing to undo.
const (
	undoneByCancel = "cancelled"
	undoneByRefund = "refunded"
)

var (
	errNoCancel = errors.New("it is not over, and the adapter can't cancel it")
	errNoRefund = errors.New("it is paid, and the adapter can't refund it")
)

// undo ends a payment, or refunds the rest of it.
func (r *run) undo(ctx context.Context, m *made) (string, error) {
	if m.over || !m.sent {
		return "", nil
	}
	if known, err := r.learn(ctx, m); err != nil || !known {
		return "", err
	}
	switch m.out.Event { //nolint:exhaustive // the others can't be paid
	case fsm.EventSucceeded:
		return r.giveBack(ctx, m)
	case fsm.EventFailed:
		return "", nil
	}
	held := m.out.Event == fsm.EventAuthorized
	if r.can.Cancels == payment.CancelsNone {
		if held {
			return "", errNoCancel
		}
		return "", nil // no money is on hold, and it expires
	}
	o, err := r.cancel(ctx, m)
	switch {
	case err != nil && held:
		return "", err
	case !held && (err != nil || o.Refused):
		return "", nil //nolint:nilerr // as above
	case o.Event == fsm.EventSucceeded:
		m.take(o)
		return r.giveBack(ctx, m)
	case o.Refused:
		return "", fmt.Errorf("the cancel returned %s", state(o))
	}
	return undoneByCancel, nil
}

// learn brings the state of a payment up to date. It reports false for a payment that does not exist.
func (r *run) learn(ctx context.Context, m *made) (bool, error) {
	switch {
	case m.out == nil && r.can.Finds():
		o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) {
			return r.account.Provider.Find(ctx, m.charge.Attempt)
		})
		if errors.Is(err, gateway.ErrNoSuchPayment) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		m.take(o)
	case m.out == nil && r.can.KeyLife > 0:
		c := m.charge
		c.Permit, c.Again = r.permit(), true
		o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Charge(ctx, c) })
		if err != nil {
			return false, err
		}
		m.take(o)
	case m.out == nil:
		return false, errors.New("its result is unknown")
	}
	if r.can.Blind() || m.id() == "" {
		return m.id() != "", nil
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Lookup(ctx, m.id()) })
	if err == nil {
		m.take(o)
	}
	return true, nil // with the latest known state
}

// giveBack refunds the rest of a payment.
func (r *run) giveBack(ctx context.Context, m *made) (string, error) {
	if m.captured == 0 && m.out.Money != nil {
		m.captured = m.out.Money.Minor
	}
	m.captured = cmp.Or(m.captured, r.Money.Minor)
	switch {
	case m.captured <= m.refunded:
		return "", nil
	case r.can.Refunds == payment.RefundsNone:
		return "", errNoRefund
	case m.refunded > 0 && r.can.Refunds < payment.RefundsParts:
		return "", nil
	}
	all := m.parts
	if len(all) == 0 {
		all = []part{{minor: m.captured - m.refunded}}
	}
	for _, p := range all {
		_, o, err := r.sendRefund(ctx, m, p.minor, p.capture)
		if err != nil {
			return "", err
		}
		if o.Refused || o.Event == fsm.EventFailed {
			return "", fmt.Errorf("the refund returned %s", refundState(o))
		}
	}
	return undoneByRefund, nil
}
