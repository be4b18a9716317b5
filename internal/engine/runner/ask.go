package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ErrNotShown is returned, with the provider's error, where the lookup of a final attempt brought no result.
var ErrNotShown = errors.New("the lookup of the payment brought no result")

// refundsLookedUp bounds how many refunds of one attempt are looked up at a time, the newest first.
const refundsLookedUp = 10

// Askable reports whether an attempt's provider has a lookup that may show it.
func (r *Runner) Askable(a payment.Attempt) bool {
	_, ok := r.Account(a)
	return ok && r.Reachable(a) && !r.capabilities(a).Blind()
}

// Ask looks up a final attempt at its provider, and applies the reports. It also looks up succeeded refunds that could
// still be undone and that the lookup does not contain. It moves no money and needs no operation, lease or permit: a
// report is true beside any other work. Pending refunds are left to their operations, which are due daily at least. A
// pending attempt is rechecked. An attempt that can't be looked up is returned unchanged.
//
// The results are applied before an error is returned. The error is ErrNotShown with the provider's error. The latter is
// gateway.ErrNoSuchPayment for a named payment that the provider does not find, and gateway.ErrThrottled for a throttled
// lookup.
func (r *Runner) Ask(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error) {
	ctx = context.WithoutCancel(ctx)
	var a payment.Attempt
	var refunds []payment.Refund
	err := r.Store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		if a, _, err = tx.AttemptLock(ctx, id); err == nil && a.State.Final() {
			refunds, err = tx.RefundsLock(ctx, []payment.AttemptID{id})
		}
		return err
	})
	switch {
	case err != nil:
		return payment.View{}, err
	case !a.State.Final():
		return r.Recheck(ctx, id, cause)
	case !r.Askable(a):
		return r.View(ctx, a)
	}
	reports, missing := r.lookups(ctx, a, refunds, cause)
	if a, err = r.apply(ctx, a, reports); err != nil {
		return payment.View{}, err
	}
	if missing != nil {
		return payment.View{}, fmt.Errorf("look up attempt %s: %w: %w", id, ErrNotShown, missing)
	}
	return r.View(ctx, a)
}

// AskOnce is Ask after Recheck, for a person and for the shop. It returns the attempt unchanged if any process has
// looked it up for them less than every ago, or if the provider does not show it.
func (r *Runner) AskOnce(ctx context.Context, id payment.AttemptID, cause payment.Cause, every time.Duration) (payment.View, error) {
	a, err := r.Store.Attempt(ctx, id)
	if err != nil || !a.State.Final() {
		return r.RecheckOnce(ctx, id, cause, every)
	}
	if every > 0 {
		if free, err := r.Store.ReserveLookup(ctx, id, every); err != nil || !free {
			return r.shown(ctx, a, err)
		}
	}
	if _, err := r.Recheck(ctx, id, cause); err != nil && !errors.Is(err, payment.ErrBusy) {
		return payment.View{}, err
	}
	v, err := r.Ask(ctx, id, cause)
	if errors.Is(err, ErrNotShown) {
		a, err = r.Store.Attempt(ctx, id)
		return r.shown(ctx, a, err)
	}
	return v, err
}

// Apply applies reports about an attempt that came by another way than a call, a lookup or a webhook: from a provider's books. It
// returns the attempt after them. The same reports again change nothing. The report of a refund before any capture is left
// out.
func (r *Runner) Apply(ctx context.Context, id payment.AttemptID, reports []payment.Report) (payment.Attempt, error) {
	a, err := r.Store.Attempt(ctx, id)
	if err != nil {
		return payment.Attempt{}, err
	}
	return r.apply(context.WithoutCancel(ctx), a, reports)
}

// apply applies reports to an attempt that was read before they were made: a report recorded meanwhile may be younger.
func (r *Runner) apply(ctx context.Context, a payment.Attempt, reports []payment.Report) (now payment.Attempt, err error) {
	if len(reports) == 0 {
		return a, nil
	}
	err = r.patiently(ctx, func(ctx context.Context, s *changeset.Changeset, _ Tx) error {
		c, err := s.Lock(ctx, a.OrderID, a.ID)
		if err != nil {
			return err
		}
		if err := load(ctx, s, c, reports, true); err != nil {
			return err
		}
		since := c.Attempt.LastMovement != a.LastMovement
		for _, report := range reports {
			if payment.RefundBeforeCapture(report, &c.Attempt) {
				continue
			}
			if since {
				report.Releases = payment.HoldsBefore
			}
			s.Apply(c, report)
		}
		err = s.Save(ctx)
		now = c.Attempt
		return err
	})
	return now, err
}

// lookups returns the reports on how a payment and its refunds stand, as far as they came, and the first error.
func (r *Runner) lookups(ctx context.Context, a payment.Attempt, refunds []payment.Refund, cause payment.Cause) ([]payment.Report, error) {
	p := r.AccountOf(a).Provider
	call, end := context.WithTimeout(ctx, r.ProviderTimeout)
	outs, reports, err := r.shows(call, p, a, cause)
	end()
	if err != nil || p.Capabilities().RefundLookup == payment.RefundLookupNone {
		return reports, err
	}
	for _, one := range unshown(a, refunds, outs) {
		out, err := r.lookupRefund(ctx, a, one)
		switch {
		case err == nil && !out.Unnamed:
			reports = append(reports, refundReport(one.ID, out, cause))
		case err != nil && !errors.Is(err, gateway.ErrNoSuchPayment) && !errors.Is(err, gateway.ErrInconclusive) && !errors.Is(err, gateway.ErrUnsupported):
			return reports, err
		}
	}
	return reports, nil
}

// shows returns the statuses of a final attempt's payments. It is no error if the provider finds no payment for an
// attempt that it has not named.
func (r *Runner) shows(ctx context.Context, p gateway.Provider, a payment.Attempt, cause payment.Cause) ([]gateway.Outcome, []payment.Report, error) {
	unnamed := a.ProviderPaymentID == ""
	if unnamed && a.ReadAt.Sub(a.CreatedAt) < p.Capabilities().FindLag {
		return nil, nil, nil
	}
	outs, reports, err := r.standings(ctx, p, &a, cause)
	if unnamed && errors.Is(err, gateway.ErrNoSuchPayment) {
		return nil, nil, nil
	}
	return outs, reports, err
}

// unshown returns the refunds that have succeeded, were not undone so far and are in no outcome.
func unshown(a payment.Attempt, refunds []payment.Refund, outs []gateway.Outcome) (left []payment.Refund) {
	for _, one := range slices.Backward(refunds) {
		shown := slices.ContainsFunc(outs, func(o gateway.Outcome) bool {
			return slices.ContainsFunc(o.Refunds, func(out gateway.RefundOutcome) bool {
				return out.ProviderRefundID == one.ProviderRefundID || out.Reference == one.ID.String()
			})
		})
		if !shown && one.State == fsm.RefundSucceeded && one.ProviderRefundID != "" && !one.Reversed(&a) && len(left) < refundsLookedUp {
			left = append(left, one)
		}
	}
	return left
}
