package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// applyLeft applies the entries that lookups did not explain, attempt by attempt, in the order in which they happened.
func (j *job) applyLeft(ctx context.Context) error {
	for _, id := range slices.SortedFunc(maps.Keys(j.left), byID) {
		if err := j.applyTo(ctx, id, slices.SortedFunc(maps.Values(j.left[id]), asHappened)); err != nil {
			return err
		}
		if err := j.moved(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rank orders a movement after the movements that it can only follow.
func rank(kind payment.MovementKind) int {
	switch kind {
	case payment.MovementAuthorization, payment.MovementCapture:
		return 0
	case payment.MovementRefund, payment.MovementChargeback:
		return 1
	case payment.MovementRelease, payment.MovementCaptureReversal, payment.MovementRefundReversal, payment.MovementChargebackReversal:
	}
	return 2
}

func asHappened(a, b gateway.Entry) int {
	return cmp.Or(cmp.Compare(rank(a.Movement.Kind), rank(b.Movement.Kind)), a.Movement.At.Compare(b.Movement.At), cmp.Compare(a.ID, b.ID))
}

func (j *job) applyTo(ctx context.Context, id payment.AttemptID, entries []gateway.Entry) error {
	a, err := j.one(ctx, id)
	if err != nil {
		return err
	}
	var opened []payment.Discrepancy
	applied := 0
	for _, e := range entries {
		if j.standing(&a, e) == absent {
			if d := undoneBefore(&a, e); d != nil {
				opened = append(opened, *d)
			}
			if _, err = j.Payments.Apply(ctx, id, []payment.Report{j.report(&a, e)}); errors.Is(err, payment.ErrUnavailable) || ctx.Err() != nil {
				return fmt.Errorf("apply entry %s to attempt %s: %w", e.ID, id, errors.Join(err, ctx.Err()))
			}
			if err != nil {
				j.failed, j.failures = cmp.Or(j.failed, fmt.Errorf("entry %s, attempt %s: %w", e.ID, id, err)), j.failures+1
			}
			if a, err = j.one(ctx, id); err != nil {
				return err
			}
		}
		if how := j.standing(&a, e); how == recorded {
			applied++
		} else {
			opened = append(opened, contradiction(&a, e, how))
		}
	}
	j.run.Count.Applied += applied
	j.run.Count.Review += len(entries) - applied
	return j.open(ctx, opened...)
}

func (j *job) one(ctx context.Context, id payment.AttemptID) (payment.Attempt, error) {
	all, err := j.Store.Recorded(ctx, []payment.AttemptID{id})
	if err != nil {
		return payment.Attempt{}, fmt.Errorf("read attempt %s: %w", id, err)
	}
	return all[id], nil
}

// report is an entry as a report to an attempt. An entry that only a browser's mark ties to the attempt is a claim. A
// reversal of an unrecorded refund only counts: a refund that is named after its reversal would be a failed refund.
func (j *job) report(a *payment.Attempt, e gateway.Entry) payment.Report {
	r := e.Report(payment.Cause{Kind: payment.CauseCheck, ID: "books " + e.ID})
	r.BrowserMark = j.Accounts.Get(j.Account).BooksMarks == gateway.MarksByBrowser && marked(e) && !slices.ContainsFunc(e.Names(), a.Knows)
	if undoesUnknown(a, e) {
		r.Refund, r.Event, r.Movements = nil, fsm.EventMoney, []payment.MovementReport{e.Movement}
	}
	return r
}

func undoesUnknown(a *payment.Attempt, e gateway.Entry) bool {
	_, paid := a.Movement(payment.MovementRefund, e.Movement.ID)
	return e.Movement.Kind == payment.MovementRefundReversal && !paid
}

// undoneBefore is the discrepancy of a refund that is undone before it is recorded; nil for any other entry.
func undoneBefore(a *payment.Attempt, e gateway.Entry) *payment.Discrepancy {
	if !undoesUnknown(a, e) {
		return nil
	}
	d := about(a, payment.RefundReversed, e)
	return &d
}

// contradiction is the discrepancy of an entry that is not recorded so after all.
func contradiction(a *payment.Attempt, e gateway.Entry, how standing) payment.Discrepancy {
	m := e.Movement
	named := cmp.Or(m.ID, m.Dispute)
	known, _ := a.Movement(m.Kind, named)
	switch {
	case how == other && known.Money.Currency != m.Money.Currency:
		d := about(a, payment.CurrencyMismatch, e)
		d.Text = fmt.Sprintf("The provider's books have %s as the %s %s; paylatch has %s. Compare the amounts with the provider's dashboard.", m.Money, m.Kind, named, known.Money)
		return d
	case how == other:
		d := about(a, payment.AmountMismatch, e)
		d.Text = fmt.Sprintf("The provider's books have %s as the %s %s; paylatch has %s. Compare the amounts with the provider's dashboard.", m.Money, m.Kind, named, known.Money)
		return d
	}
	d := about(a, payment.NeedsReview, e)
	d.Text = fmt.Sprintf("The provider's books have a %s of %s for this payment (%s) that paylatch could not record. Compare the payment with the provider's dashboard.", m.Kind, m.Money, e.ID)
	return d
}

// about is a discrepancy of an entry, of a kind, once for the entry's movement.
func about(a *payment.Attempt, kind payment.DiscrepancyKind, e gateway.Entry) payment.Discrepancy {
	id, money := a.ID, e.Movement.Money
	return payment.Discrepancy{
		Kind: kind, OrderID: a.OrderID, AttemptID: &id, About: payment.AboutBooks, Money: &money,
		AboutID: payment.StorableName(string(e.Movement.Kind) + " " + cmp.Or(e.Movement.ID, e.Movement.Dispute, e.ID)),
	}
}
