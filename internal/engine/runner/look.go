package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// Look looks up the payments of an attempt at its provider before a person's decision frees its money or its order. It
// applies the reports that contradict the decision: the attempt holds money, it is open or under way, and each refund.
// It returns payment.ErrBusy while a runner calls the provider. A provider that does not respond is no error: the sight
// is silent then.
func (r *Runner) Look(ctx context.Context, id payment.AttemptID, cause payment.Cause) (gateway.Sight, error) {
	ctx = context.WithoutCancel(ctx)
	a, refunds, err := r.still(ctx, id)
	if err != nil {
		return gateway.Sight{}, err
	}
	if !r.Askable(a) {
		return gateway.Sight{Silent: true, Attempt: a}, nil
	}
	can := r.capabilities(a)
	sight := gateway.Sight{ShowsRefunds: can.Shows >= payment.ShowsRefunds, Cancels: can.Cancels > payment.CancelsNone, Attempt: a}
	outs, reports, known, err := r.looked(ctx, a, can, cause)
	sight.Unfound = a.ProviderPaymentID == "" && errors.Is(err, gateway.ErrNoSuchPayment)
	if sight.Silent = !known; sight.Silent {
		return sight, nil
	}
	sight.Event = furthest(outs)
	sight.Foreign = slices.ContainsFunc(outs, func(o gateway.Outcome) bool { return o.Money != nil && o.Money.Currency != a.Money.Currency })
	if sight.Event == fsm.EventUnknown || len(outs) == 0 && a.State.Final() {
		sight.Silent = true
		return sight, nil
	}
	if sight.Event == "" || sight.Event == fsm.EventFailed {
		return sight, nil // the resolution decides
	}
	reports = append(reports, r.undone(ctx, a, refunds, outs, cause)...)
	sight.Attempt, err = r.apply(ctx, a, reports)
	return sight, err
}

// still reads an attempt with its refunds, if no runner has an operation of them. An operation that begins later does
// not take the freed money: the resolution checks the attempt again, under the lock.
func (r *Runner) still(ctx context.Context, id payment.AttemptID) (a payment.Attempt, refunds []payment.Refund, err error) {
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		if a, _, err = tx.AttemptLock(ctx, id); err != nil {
			return err
		}
		if a.LeasedOperation(tx.Now()) != nil {
			return payment.ErrBusy
		}
		refunds, err = tx.RefundsLock(ctx, []payment.AttemptID{id})
		return err
	})
	return a, refunds, err
}

// looked returns the provider's responses about the payments of an attempt, with their reports. It reports whether they
// are conclusive: an empty response proves that the payment does not exist. The error is the provider's.
func (r *Runner) looked(ctx context.Context, a payment.Attempt, can payment.Capabilities, cause payment.Cause) ([]gateway.Outcome, []payment.Report, bool, error) {
	named := a.ProviderPaymentID != ""
	if !named && (!can.Finds() || a.ReadAt.Sub(a.CreatedAt) < can.FindLag) {
		return nil, nil, false, nil
	}
	call, end := context.WithTimeout(ctx, r.ProviderTimeout)
	defer end()
	outs, reports, err := r.standings(call, r.AccountOf(a).Provider, &a, cause)
	switch {
	case err == nil:
		return outs, reports, true, nil
	case !named && errors.Is(err, gateway.ErrNoSuchPayment):
		proves := (can.Lookup == payment.LookupConsistent || a.Origin == payment.OriginExternal) && a.Unreported()
		return nil, nil, proves && r.neverArrived(Task{Attempt: a}, can), err
	}
	return nil, nil, false, err
}

// undone returns reports of the refunds that the answers do not show, because they may have been undone.
func (r *Runner) undone(ctx context.Context, a payment.Attempt, refunds []payment.Refund, outs []gateway.Outcome, cause payment.Cause) (reports []payment.Report) {
	if r.capabilities(a).RefundLookup == payment.RefundLookupNone {
		return nil
	}
	for _, one := range unshown(a, refunds, outs) {
		if out, err := r.lookupRefund(ctx, a, one); err == nil && !out.Unnamed {
			reports = append(reports, refundReport(one.ID, out, cause))
		}
	}
	return reports
}

// furthest is the status of the payments in some responses: the payment that holds the most counts.
func furthest(outs []gateway.Outcome) (says fsm.Event) {
	order := []fsm.Event{
		fsm.EventFailed, fsm.EventUnknown, fsm.EventSoftFailed, fsm.EventActionRequired, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventSucceeded,
	}
	at := -1
	for _, out := range outs {
		if i := slices.Index(order, out.Event); i > at {
			at, says = i, out.Event
		} else if i < 0 {
			return fsm.EventUnknown
		}
	}
	return says
}

// LookRefund is Look of a refund.
func (r *Runner) LookRefund(ctx context.Context, of payment.AttemptID, id payment.RefundID, cause payment.Cause) (gateway.Sight, error) {
	ctx = context.WithoutCancel(ctx)
	a, one, err := r.stillRefund(ctx, of, id)
	if err != nil {
		return gateway.Sight{}, err
	}
	can := r.capabilities(a)
	if can.RefundLookup == payment.RefundLookupNone {
		return gateway.Sight{Silent: true, Attempt: a}, nil
	}
	out, err := r.lookupRefund(ctx, a, one)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && can.RefundsConsistent && one.ProviderRefundID == "" && r.refundNeverArrived(a, id, can):
		return gateway.Sight{Attempt: a}, nil
	case err != nil, out.Unnamed, out.Event == fsm.EventUnknown, out.Event == "":
		return gateway.Sight{Silent: true, Attempt: a}, nil //nolint:nilerr // then a second person must agree
	case out.Event == fsm.EventFailed:
		return gateway.Sight{Event: fsm.EventFailed, Attempt: a}, nil
	}
	a, err = r.apply(ctx, a, []payment.Report{refundReport(one.ID, out, cause)})
	return gateway.Sight{Event: out.Event, Attempt: a}, err
}

// stillRefund is still of a refund: of others a runner may have the operation.
func (r *Runner) stillRefund(ctx context.Context, of payment.AttemptID, id payment.RefundID) (a payment.Attempt, one payment.Refund, err error) {
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		if a, _, err = tx.AttemptLock(ctx, of); err != nil {
			return err
		}
		if o := a.RefundOperation(id); o != nil && o.Leased(tx.Now()) {
			return payment.ErrBusy
		}
		all, err := tx.RefundsLock(ctx, []payment.AttemptID{of})
		i := slices.IndexFunc(all, func(f payment.Refund) bool { return f.ID == id })
		switch {
		case err != nil:
			return err
		case i < 0:
			return payment.ErrRefundNotFound
		}
		one = all[i]
		return nil
	})
	return a, one, err
}

// refundNeverArrived reports whether a refund was sent so long ago, if at all, that a consistent "not found" is final.
func (r *Runner) refundNeverArrived(a payment.Attempt, id payment.RefundID, can payment.Capabilities) bool {
	o := a.RefundOperation(id)
	return o == nil || o.Sends == 0 || o.Age(a.ReadAt) > can.Resendable()+payment.GiveUpLeases*r.Schedule.Lease
}

// lookupRefund looks up one refund, without an operation.
func (r *Runner) lookupRefund(ctx context.Context, a payment.Attempt, one payment.Refund) (gateway.RefundOutcome, error) {
	call, end := context.WithTimeout(ctx, r.ProviderTimeout)
	defer end()
	of := toRefund(&a, &one)
	return r.AccountOf(a).Provider.LookupRefund(call, gateway.RefundRef{
		Refund: one.ID, ProviderRefundID: one.ProviderRefundID, ProviderPaymentID: of.Payment, Container: of.Container, Age: a.ReadAt.Sub(one.UpdatedAt),
		Money: one.Money, Taken: payment.Money{Minor: of.taken, Currency: a.Money.Currency},
	})
}
