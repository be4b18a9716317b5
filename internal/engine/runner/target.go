package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// target is the object of a call: a payment of the attempt with its container, or a container alone.
type target struct {
	Payment, Container string
	// Key is the provider's idempotency key of a cancel.
	Key string
	// capture is the provider's id of the capture to refund; empty if none was named.
	capture string
	// held is the amount that the payment holds, taken the amount that it has captured, in minor units.
	held, taken int64
}

// acting is the target of a call about the attempt's acting payment.
func acting(a *payment.Attempt) target {
	p := a.Acting()
	if p != nil && p.ID != a.ProviderPaymentID && a.Knows(a.ProviderPaymentID) {
		p = nil // it is over, and another one may be made in the container
	}
	return targetOf(a, p)
}

// targetOf returns a payment as the target of a call. If the payment is nil, the target is the container in which a payment
// will be made. An attempt without either is addressed by its name.
func targetOf(a *payment.Attempt, p *payment.Payment) target {
	switch {
	case p != nil:
		return target{Payment: p.ID, Container: p.Container, held: p.Held(), taken: p.Captured}
	case len(a.Containers) > 0:
		return target{Container: a.Containers[len(a.Containers)-1].ID}
	}
	return target{Payment: a.ProviderPaymentID, held: a.Held(), taken: a.AmountCaptured()}
}

// toCapture is the payment that holds the money.
func toCapture(a *payment.Attempt) target {
	if p := a.ToCapture(); p != nil {
		return targetOf(a, p)
	}
	return acting(a)
}

// toRefund is the payment that a refund is of.
func toRefund(a *payment.Attempt, r *payment.Refund) target {
	of := targetOf(a, payment.RefundedPayment(a, r.ProviderPaymentID, r.Money.Minor))
	if m, named := a.CaptureNamed(r.ProviderPaymentID); named {
		of.capture = m.ProviderID
	}
	return of
}

// lookedUpAtOnce bounds how many payments of one attempt are looked up at a time.
const lookedUpAtOnce = 10

// standing looks up the payments of an attempt that are live or hold money; without such payments the acting one. It
// returns at least one outcome or an error. An error comes with the outcomes before it.
func standing(ctx context.Context, p gateway.Provider, a *payment.Attempt) (outs []gateway.Outcome, err error) {
	var missing error
	for _, id := range toLookUp(a) {
		out, err := lookup(ctx, p, a, id)
		out = named(a, out, id)
		switch {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			missing = err
		case err != nil:
			return outs, err
		default:
			outs = append(outs, out)
		}
	}
	if len(outs) == 0 {
		return nil, missing
	}
	return outs, nil
}

// lookup looks up a payment or a container. If the provider does not show the container, the payment is looked up by our
// reference. Before the first payment, the container that our own call made waits for its customer. A container that was
// made elsewhere may have payments under another reference.
func lookup(ctx context.Context, p gateway.Provider, a *payment.Attempt, id string) (gateway.Outcome, error) {
	out, err := p.Lookup(ctx, id)
	if !errors.Is(err, gateway.ErrByReference) {
		return out, err
	}
	out, missing := p.Find(ctx, a.ID)
	switch {
	case !errors.Is(missing, gateway.ErrNoSuchPayment):
		return out, missing
	case a.Origin == payment.OriginExternal:
		return gateway.Outcome{}, err
	}
	return gateway.Outcome{Event: fsm.EventActionRequired, Container: id}, nil
}

// named is the outcome of a call that was made by the id of a payment, or of a container: where it names neither, it is
// about that one.
func named(a *payment.Attempt, out gateway.Outcome, id string) gateway.Outcome {
	if out.ProviderPaymentID == "" && out.Container == "" && id != "" {
		if a.Payment(id) != nil {
			out.ProviderPaymentID = id
		} else if a.Knows(id) {
			out.Container = id
		}
	}
	return out
}

// toLookUp returns the ids of the attempt's payments that may have moved on, the acting payment first, and of its open
// containers without such a payment.
func toLookUp(a *payment.Attempt) []string {
	ids := []string{a.ProviderPaymentID}
	add := func(id string) {
		if id != "" && len(ids) < lookedUpAtOnce && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	inside := map[string]bool{}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.State.Live() || p.Held() > 0 || p.OnHold() > 0 {
			add(p.ID)
			inside[p.Container] = true
		}
	}
	for _, c := range a.Containers {
		if !c.Ended && !inside[c.ID] {
			add(c.ID)
		}
	}
	return ids
}

// toCancel returns the targets of a cancel: all payments that may take or hold money, and the containers in which a payment
// may begin. Each has a key of its own, the same at every send.
func toCancel(a *payment.Attempt, op *payment.Operation) (all []target) {
	inside := map[string]bool{}
	for i := range a.Payments {
		p := &a.Payments[i]
		stops := p.State.Live() || p.State == fsm.PaymentFailed && p.OnHold() > 0
		if !stops || op.Payment != "" && p.ID != op.Payment {
			continue
		}
		of := targetOf(a, p)
		if of.Key = op.Key(); i > 0 && op.Payment == "" {
			of.Key = fmt.Sprintf("%s.%d", op.Key(), i)
		}
		inside[p.Container] = true
		all = append(all, of)
	}
	if op.Payment != "" {
		return all
	}
	for i, c := range a.Containers {
		if !c.Ended && !inside[c.ID] {
			of := target{Container: c.ID, Key: op.Key()}
			if i > 0 || len(a.Payments) > 0 {
				of.Key = fmt.Sprintf("%s.c%d", op.Key(), i)
			}
			all = append(all, of)
		}
	}
	return all
}
