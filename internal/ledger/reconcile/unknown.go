package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// window is how much of a span one statement reads.
	window = time.Hour
	// missingBatch is how many attempts are looked up between two writes of the progress.
	missingBatch = 200
)

// unmatched handles entries without an attempt. It keeps an entry for review if it is ours by its names or its order, or
// by the account's policy. It counts the other entries as foreign.
func (j *job) unmatched(ctx context.Context, entries []gateway.Entry) error {
	var ids []payment.OrderID
	for _, e := range entries {
		if e.Order != "" {
			ids = append(ids, e.Order)
		}
	}
	orders := map[payment.OrderID]payment.Order{}
	if len(ids) > 0 {
		var err error
		if orders, err = j.Store.Orders(ctx, ids); err != nil {
			return fmt.Errorf("read %d orders: %w", len(ids), err)
		}
	}
	for _, e := range entries {
		order, ordered := orders[e.Order]
		if !ordered && !marked(e) && !j.Accounts.Get(j.Account).Foreign.Review {
			j.run.Count.Foreign++
			continue
		}
		if !ordered && !marked(e) {
			e.Order = ""
		}
		j.review(e, order, ordered)
	}
	return nil
}

// review keeps an entry of a payment that is unknown here.
func (j *job) review(e gateway.Entry, order payment.Order, ordered bool) {
	name := cmp.Or(e.Payment, e.ID)
	u := j.unknown[name]
	if u == nil {
		u = &unknown{}
		j.unknown[name] = u
	}
	if slices.ContainsFunc(u.entries, func(was gateway.Entry) bool { return was.ID == e.ID }) {
		return
	}
	j.run.Count.Review++
	switch {
	case ordered:
		u.order = &order
	case len(u.entries) > 0 && !marked(e): // of others' payments the first is enough
		u.entries[0] = slices.MinFunc([]gateway.Entry{e, u.entries[0]}, asHappened)
		return
	}
	u.entries = append(u.entries, e)
}

// marked reports whether an entry has a mark of ours: the id of an attempt.
func marked(e gateway.Entry) bool {
	return slices.ContainsFunc(e.Names(), func(name string) bool {
		_, ours := payment.OwnAttemptID(name)
		return ours
	})
}

// reviewUnknown opens a discrepancy for each payment that is unknown here.
func (j *job) reviewUnknown(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(j.unknown)) {
		if err := j.open(ctx, unknownHere(j.Account, name, j.unknown[name])); err != nil {
			return err
		}
	}
	return nil
}

func unknownHere(account, name string, u *unknown) payment.Discrepancy {
	e := slices.MinFunc(u.entries, asHappened)
	d := payment.Discrepancy{
		Kind: payment.UnknownHere, Event: payment.EventKey{Account: account}, AboutID: payment.StorableName(name), OrderID: e.Order,
		Text: fmt.Sprintf("The provider's books have %s of the payment %s, which paylatch did not have", e.Movement.Kind, payment.StorableName(name)),
	}
	if e.Movement.Money.Currency != "" {
		d.Money = &e.Movement.Money
	}
	if e.Order != "" {
		d.Text += ", for the order " + string(e.Order)
	}
	switch {
	case u.recalled && u.order == nil:
		d.Text += ", which paylatch did not have either. paylatch has recorded both again, the order without a customer, so that the order " +
			"can't be paid twice. Find out who the customer is, and whether the goods were delivered."
	case u.recalled:
		d.Text += ". The restored database had lost the payment, and paylatch has recorded it again. The shop may have missed its events: make sure that the goods are delivered, and accept this case."
	case u.why != "":
		d.Text += ". It can't be recorded again (" + u.why + "): look up both payments in the dashboard, and refund one of them."
	default:
		d.Text += ". Look up the payment in the provider's dashboard. If the customer should get goods for it, deliver them and accept this case; otherwise refund the payment there."
	}
	return d
}

// missing looks up the attempts with money of the span that no entry has.
func (j *job) missing(ctx context.Context) error {
	end := j.Span.To
	if old := j.Now().Add(-j.Lag); end.After(old) {
		end = old
	}
	for from := j.Span.From; from.Before(end); from = from.Add(window) {
		to := from.Add(window)
		if to.After(end) {
			to = end
		}
		for after := (payment.AttemptID{}); ; {
			ids, err := j.Store.Unsettled(ctx, j.Account, from, to, after, missingBatch)
			if err != nil {
				return fmt.Errorf("look for attempts without an entry: %w", err)
			}
			if len(ids) == 0 {
				break
			}
			after = ids[len(ids)-1]
			if err := j.lookUpMissing(ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *job) lookUpMissing(ctx context.Context, ids []payment.AttemptID) error {
	count := &j.run.Count
	ids = slices.DeleteFunc(ids, func(id payment.AttemptID) bool { return j.asked[id] })
	count.Missing += len(ids)
	if p := j.Accounts.Get(j.Account).Provider; p == nil || p.Capabilities().Blind() {
		count.Unasked += len(ids)
		return j.moved(ctx)
	}
	var lost, silent []payment.AttemptID
	err := j.askAll(ctx, ids, func(id payment.AttemptID, err error) {
		switch {
		case err == nil:
			j.answered++
		case errors.Is(err, gateway.ErrNoSuchPayment):
			j.answered++
			lost = append(lost, id)
		case errors.Is(err, gateway.ErrUnsupported), errors.Is(err, gateway.ErrInconclusive):
			count.Unasked++
		case errors.Is(err, gateway.ErrThrottled), errors.Is(err, payment.ErrBusy):
			count.Unanswered++
		default:
			silent = append(silent, id)
		}
	})
	if err != nil {
		return err
	}
	count.Lost += len(lost)
	if err := j.openLost(ctx, payment.UnknownAtProvider, "", lost); err != nil {
		return err
	}
	if j.answered == 0 { // the provider is not there
		count.Unanswered += len(silent)
		return j.moved(ctx)
	}
	count.Review += len(silent)
	if err := j.openLost(ctx, payment.NeedsReview, "The provider's books do not contain this payment, and a lookup fails. Compare the payment with the provider's dashboard.", silent); err != nil {
		return err
	}
	return j.moved(ctx)
}

// openLost opens a discrepancy for each of some attempts.
func (j *job) openLost(ctx context.Context, kind payment.DiscrepancyKind, text string, ids []payment.AttemptID) error {
	if len(ids) == 0 {
		return nil
	}
	attempts, err := j.Store.Recorded(ctx, ids)
	if err != nil {
		return fmt.Errorf("read %d attempts: %w", len(ids), err)
	}
	all := make([]payment.Discrepancy, 0, len(ids))
	for _, id := range ids {
		a := attempts[id]
		money := payment.Money{Minor: a.AmountCaptured(), Currency: a.Money.Currency}
		d := payment.Discrepancy{Kind: kind, OrderID: a.OrderID, AttemptID: &id, Money: &money, Text: text}
		if text != "" {
			d.About, d.AboutID = payment.AboutBooks, payment.AboutLookup
		}
		all = append(all, d)
	}
	return j.open(ctx, all...)
}
