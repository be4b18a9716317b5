package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Covered reports whether the captured money pays the order. It does if it is the whole amount or more, or exactly the
// amount of a capture operation of ours. Money that one payment captured and lost since counts as well: the loss may be
// reported first.
func (a *Attempt) Covered() bool {
	if a.covers(a.Captured) {
		return true
	}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.State == fsm.PaymentCaptured && a.covers(a.captures(a.PaymentKey(p))) {
			return true
		}
	}
	return false
}

func (a *Attempt) covers(amount int64) bool {
	return amount > 0 && (amount >= a.Money.Minor || a.askedToCapture(amount))
}

// askedToCapture reports whether a capture operation of ours is, or was, for an amount; with several captures of a hold,
// whether the amount is the sum of the first ones.
func (a *Attempt) askedToCapture(amount int64) bool {
	var sum int64
	return slices.ContainsFunc(a.Operations, func(o Operation) bool {
		if o.Kind != OperationCapture || !o.Open() && o.State != fsm.OperationDone {
			return false
		}
		sum += o.Amount
		return amount == o.Amount && a.Capture != CaptureSeveral || amount == sum && a.Capture == CaptureSeveral
	})
}

// Stands is how a pending attempt stands at a time by its payments.
func (a *Attempt) Stands(at time.Time) fsm.State { return a.derived(at) }

// derived is the state of a pending attempt by its payments: the first of these that holds.
func (a *Attempt) derived(now time.Time) fsm.State {
	var authorized, processing, open, named, odd bool
	for i := range a.Payments {
		p := &a.Payments[i]
		switch p.State {
		case fsm.PaymentAuthorized:
			fits := p.Authorized >= a.Money.Minor || a.Authorized >= a.Money.Minor
			authorized, odd = authorized || fits, odd || !fits
		case fsm.PaymentProcessing:
			processing = true
		case fsm.PaymentOpen:
			open = true
		case fsm.PaymentNamed:
			named = true
		case fsm.PaymentCaptured:
			odd = true // it does not cover the amount
		case fsm.PaymentFailed:
		}
	}
	switch {
	case a.Covered():
		return fsm.Succeeded
	case authorized:
		return fsm.Authorized
	case processing:
		return fsm.Processing
	case open, a.OpenContainer() != "", a.waitsForCustomer(now):
		return fsm.AwaitingCustomer
	case odd:
		return fsm.Processing // the amount on hold or captured is not the expected amount: a person decides
	case named, len(a.Payments)+len(a.Containers) == 0:
		return a.State
	}
	return fsm.Failed
}

// waitsForCustomer reports whether the attempt waits for a customer who may begin another payment. It does if it is
// external and has not expired, or if the provider's page is open after a declined try. A cancel ends the wait.
func (a *Attempt) waitsForCustomer(now time.Time) bool {
	if a.CancelWanted() {
		return false
	}
	elsewhere := a.Origin == OriginExternal && (a.ExpiresAt == nil || now.Before(*a.ExpiresAt))
	return elsewhere || a.PageOpen
}

// leads is the event that takes the attempt from its state to a derived one.
func (a *Attempt) leads(to fsm.State) fsm.Event {
	switch to {
	case fsm.Succeeded:
		return fsm.EventSucceeded
	case fsm.Failed:
		return fsm.EventFailed
	case fsm.Authorized:
		return fsm.EventAuthorized
	case fsm.Processing:
		if a.State == fsm.AwaitingCustomer || a.State == fsm.Authorized {
			return fsm.EventProcessingAgain
		}
		return fsm.EventProcessing
	case fsm.AwaitingCustomer:
		if a.State == fsm.Authorized {
			return fsm.EventReopened
		}
		return fsm.EventActionRequired
	case fsm.Requested, fsm.OutcomeUnknown:
	}
	return fsm.EventMoney
}
