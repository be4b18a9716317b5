package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// A hold may be captured in several parts, if the pay said so: capture manual_multiple. The first part pays the order, and
// the attempt succeeds. The rest stays on hold until all of it is captured, a capture is the final one, or a cancel releases
// it. The parts are captured one after another: one operation of the slot take is open at a time.

// Captures is how often a provider captures one hold.
type Captures int

// The numbers of captures.
const (
	// CapturesNone providers hold no money for us.
	CapturesNone Captures = iota
	// CapturesWhole providers capture a hold once, all of it.
	CapturesWhole
	// CapturesOnce providers capture a hold once, all or a part of it, and release what is not captured.
	CapturesOnce
	// CapturesSeveral providers capture a hold in several parts.
	CapturesSeveral
)

// String names the number in reports.
func (c Captures) String() string { return [...]string{"none", "the whole", "once", "several"}[c] }

// Holds reports whether the pay only holds the money.
func (m CaptureMode) Holds() bool { return m == CaptureManual || m == CaptureSeveral }

// AtProvider is the mode as providers have it: the money is held, or taken at once.
func (m CaptureMode) AtProvider() CaptureMode {
	if m.Holds() {
		return CaptureManual
	}
	return m
}

// Rest is the amount of a captured payment that is still on hold for further captures, in minor units. Movements must be
// filled in.
func (a *Attempt) Rest() (rest int64) {
	if a.Capture != CaptureSeveral || !a.Succeeded() {
		return 0
	}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.State == fsm.PaymentCaptured {
			rest += a.restOf(a.PaymentKey(p), a.Money.Currency)
		}
	}
	return rest
}

// restOf is the amount on hold of a payment beside its captures. A capture that was reversed is no money on hold.
func (a *Attempt) restOf(key string, c Currency) int64 {
	of := func(m Movement) bool { return m.Payment == key }
	return max(0, a.authorized(c, of)-a.sum(MovementCapture, c, of))
}

// Effected reports whether the money of a capture has been captured, by the movements.
func (a *Attempt) Effected(o *Operation) bool {
	return o.Kind == OperationCapture && a.Sums(MovementCapture)-o.Before >= o.Amount
}

// CaptureBy is the capture of an idempotency key, nil without one.
func (a *Attempt) CaptureBy(key string) *Operation {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Kind == OperationCapture && o.OriginID == key {
			return o
		}
	}
	return nil
}

// endRest records the end of a hold whose final capture has an effect.
func (a *Attempt) endRest(cause Cause, now time.Time) {
	take := a.OpenTake()
	if a.Capture != CaptureSeveral || !a.Succeeded() || take == nil || !take.Final || !a.Effected(take) {
		return
	}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.State == fsm.PaymentCaptured {
			key := a.PaymentKey(p)
			t := MovementReport{Kind: MovementRelease, Money: Money{0, a.Money.Currency}}
			a.appendMovement(t, MovementTotal, key, a.restOf(key, a.Money.Currency), cause, now)
		}
	}
}
