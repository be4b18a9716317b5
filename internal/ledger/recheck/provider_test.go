package recheck_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const price = 1999

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

// dashboard is a provider whose payments a person changes in its dashboard; it sends no webhooks. Its lookups show
// refunds and chargebacks. With apart set, only a lookup of its own shows each refund.
type dashboard struct {
	gateway.Provider

	mu       sync.Mutex
	payments map[string]*gateway.Outcome
	refunds  map[string]*gateway.RefundOutcome
	// charge is how the next charge stands; declined by default without one.
	charge fsm.Event
	apart  bool
	blind  bool
	// fail is returned by the lookups of a payment; hook is called before each is answered.
	fail map[string]error
	hook func(id string)
	// lookups lists the calls in their order.
	lookups []string
}

func newDashboard() *dashboard {
	return &dashboard{
		payments: map[string]*gateway.Outcome{}, refunds: map[string]*gateway.RefundOutcome{}, fail: map[string]error{}, charge: fsm.EventSucceeded,
	}
}

func (d *dashboard) Capabilities() payment.Capabilities {
	can := payment.Capabilities{
		Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn, Captures: payment.CapturesOnce, CapturesSeen: true,
		Cancels: payment.CancelsByID, Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment,
	}
	if d.blind {
		can.Lookup = payment.LookupNone
	}
	return can
}

func (d *dashboard) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (*dashboard) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (d *dashboard) Accepts(gateway.Charge) error { return nil }

func (d *dashboard) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := &gateway.Outcome{Event: d.charge, ProviderPaymentID: "pay_" + c.Attempt.String()}
	if d.charge == fsm.EventSucceeded {
		out.Money = &c.Money
	}
	d.payments[out.ProviderPaymentID] = out
	return *out, nil
}

func (d *dashboard) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	d.mu.Lock()
	d.lookups = append(d.lookups, id)
	out, known := d.payments[id]
	err := d.fail[id]
	if !known && err == nil {
		err = gateway.ErrNoSuchPayment
	}
	var shown gateway.Outcome
	if err == nil {
		shown = *out
		shown.Movements = slices.Clone(out.Movements)
		shown.Refunds = slices.Clone(out.Refunds)
		if d.apart {
			shown.Refunds = nil
		}
	}
	hook := d.hook
	d.mu.Unlock()
	if hook != nil {
		hook(id)
	}
	return shown, err
}

func (d *dashboard) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	return d.Lookup(ctx, "pay_"+id.String())
}

func (d *dashboard) Refund(_ context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	return d.refund(r.ProviderPaymentID, "re_"+r.Refund.String(), r.Refund.String(), r.Money.Minor), nil
}

func (d *dashboard) LookupRefund(_ context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookups = append(d.lookups, r.ProviderRefundID)
	if out, known := d.refunds[r.ProviderRefundID]; known {
		return *out, nil
	}
	return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
}

// refund makes a refund of a payment.
func (d *dashboard) refund(id, refund, reference string, minor int64) gateway.RefundOutcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	money := euro(minor)
	made := gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: refund, Reference: reference, Money: &money}
	d.refunds[refund] = &made
	d.payments[id].Refunds = append(d.payments[id].Refunds, made)
	return made
}

// undo makes a refund fail after its success.
func (d *dashboard) undo(refund string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refunds[refund].Event, d.refunds[refund].Failure = fsm.EventFailed, payment.NewRefundFailure("provider_rejected")
}

// chargeBack takes some of a payment's money.
func (d *dashboard) chargeBack(id string, minor int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.payments[id]
	out.Movements = append(out.Movements, payment.MovementReport{
		Kind: payment.MovementChargeback, ID: fmt.Sprintf("cb_%s_%d", id, len(out.Movements)), Money: euro(minor),
	})
}

// succeed has a payment succeed after its failure.
func (d *dashboard) succeed(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	money := euro(price)
	d.payments[id].Event, d.payments[id].Money = fsm.EventSucceeded, &money
}

// asked returns the number of lookups, and resets it.
func (d *dashboard) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.lookups)
	d.lookups = nil
	return n
}

// failing makes the lookups of a payment return err, nil for no error.
func (d *dashboard) failing(id string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail[id] = err
}
