package payment

import "time"

// May money be taken? Everything that takes a customer's money asks the order first, in
// the transaction that takes the lease for it: a pay, a confirm, whoever takes a call
// over, and what finishes a payment that was approved. A provider that asks by itself
// is answered by the same. withheld is the one place that knows.
//
// It is asked with the attempt locked, of an order that was read after that. Whoever makes
// its answer worse has the lock of the order's live attempt: the cancellation of the order,
// and news of money that another attempt holds (batch.beside).

// withheld returns why no money may be taken for one attempt of the order any more:
// ErrOrderCancelled, or ErrOrderPaid if another attempt holds money. It is nil if it may.
func (o Order) withheld(id AttemptID) error {
	switch {
	case o.CancelRequestedAt != nil:
		return ErrOrderCancelled
	case o.Accepted != nil:
		return ErrOrderPaid
	}
	for i := range o.Attempts {
		if o.Attempts[i].ID != id && o.Attempts[i].HoldsMoney() {
			return ErrOrderPaid
		}
	}
	return nil
}

// TakesPay returns nil if a new attempt may be made, or the reason why not:
// ErrOrderPaid, which may be a LateMoneyError, ErrOrderCancelled or an InProgressError.
func (o Order) TakesPay() error {
	live := o.Live()
	switch {
	case live != nil && live.Succeeded(), o.Accepted != nil:
		return ErrOrderPaid
	case o.CancelRequestedAt != nil:
		return ErrOrderCancelled
	case live != nil:
		return &InProgressError{Attempt: *live}
	case o.HoldsMoney():
		return o.lateMoney()
	}
	for i := range o.Attempts {
		if o.Attempts[i].HoldToldAt != nil {
			return &InProgressError{Attempt: o.Attempts[i]}
		}
	}
	return nil
}

// permit lets a runner that takes a pending attempt over take no money which the order
// withholds: it cancels instead. That it was refused before begins no new schedule.
func permit(a *Attempt, o Order, now time.Time) {
	if a.State.Final() || a.Intent.Kind == IntentCancel || o.withheld(a.ID) == nil {
		return
	}
	checks := a.Checks
	wantCancelled(a, now)
	a.Checks = checks
}
