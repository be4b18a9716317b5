package payment

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/fsm"
)

// decision is a resolution that is being carried out on what the transaction holds locked.
type decision struct {
	*batch
	*affected

	discrepancy *Discrepancy
	cmd         Resolve
	says        witness
	actor       Actor
}

// affected is what a discrepancy is about: an attempt of an order, and the refund that is
// asked about. All of them are nil for an event that names none.
type affected struct {
	of      Order
	attempt *Attempt
	refund  *Refund
}

// lockAffected locks the order that a discrepancy is of, its attempts and the refunds of
// the discrepancy's own.
func (b *batch) lockAffected(ctx context.Context, d Discrepancy) (*affected, error) {
	on := &affected{}
	if d.AttemptID == nil {
		return on, nil
	}
	var err error
	if on.of, err = b.tx.OrderLock(ctx, d.OrderID); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(on.of.Attempts, func(a Attempt) bool { return a.ID == *d.AttemptID })
	if i < 0 {
		return nil, ErrAttemptNotFound
	}
	on.attempt = &on.of.Attempts[i]
	of := []AttemptID{on.attempt.ID}
	id, asked := d.Refund()
	if asked {
		of = of[:0]
		for _, a := range on.of.Attempts {
			of = append(of, a.ID)
		}
	}
	if err := b.loadRefunds(ctx, of...); err != nil {
		return nil, err
	}
	if asked {
		on.refund = b.findRefund(on.attempt.ID, func(r *Refund) bool { return r.ID == id })
	}
	return on, nil
}

func (d *decision) circumstances() Circumstances {
	var c Circumstances
	if d.attempt == nil {
		return c
	}
	c.State, c.Held = d.attempt.State, d.attempt.Held()
	c.Foreign, c.MayHold = d.attempt.holdsForeign(), d.attempt.HoldToldAt != nil
	c.Refunding = d.findRefund(d.attempt.ID, func(r *Refund) bool { return r.State == fsm.RefundPending }) != nil
	c.Beside = slices.ContainsFunc(d.of.Attempts, func(a Attempt) bool { return a.ID != d.attempt.ID && a.HoldsMoney() })
	if d.refund != nil {
		c.Refund = d.refund.State
	}
	return c
}

// free returns ErrBusy while a runner asks the provider, and ErrPaymentTaken if what was
// found is another's.
func (d *decision) free(ctx context.Context) error {
	busy := d.attempt.leased(d.now())
	if d.refund != nil {
		busy = d.refund.leased(d.now())
	}
	switch {
	case busy:
		return ErrBusy
	case d.cmd.Resolution != ResolvedPaid:
		return nil
	case d.refund != nil:
		return d.refundFree()
	}
	owners, err := d.tx.ReferencesFind(ctx, d.references())
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if owner != d.attempt.ID {
			return ErrPaymentTaken
		}
	}
	return nil
}

// references are the names of the payment that was found.
func (d *decision) references() []Reference {
	var refs []Reference
	for _, name := range append([]string{d.cmd.ProviderPaymentID, d.says.paid.ProviderPaymentID}, d.says.paid.References...) {
		if name != "" {
			refs = append(refs, Reference{d.attempt.Account, name})
		}
	}
	return sorted(refs)
}

// refundFree is free of a refund. One that is taken for made in the dashboard may have
// been this one, if this one has no name; see advanceRefund.
func (d *decision) refundFree() error {
	for id := range d.refunds {
		other := d.findRefund(id, func(r *Refund) bool { return r.ID != d.refund.ID && r.ProviderRefundID == d.cmd.ProviderPaymentID })
		if other != nil && (other.AttemptID != d.attempt.ID || other.Origin != RefundByProvider || d.refund.ProviderRefundID != "") {
			return ErrPaymentTaken
		}
	}
	return nil
}

// move carries out what the resolution does to what the discrepancy is about. It returns
// what is only proposed.
func (d *decision) move(ctx context.Context, decides bool) (*Proposed, error) {
	if !decides {
		if d.attempt == nil || !d.discrepancy.settlesHeld() {
			return nil, nil
		}
		settleHeld(&d.change(*d.attempt).Attempt, *d.discrepancy)
		return nil, d.save(ctx)
	}
	if err := d.free(ctx); err != nil {
		return nil, err
	}
	if proposed, err := d.cmd.proposes(*d.discrepancy, d); proposed != nil || err != nil {
		return proposed, err
	}
	return nil, d.decide(ctx)
}

// decide moves the attempt, or the refund, as the person says.
func (d *decision) decide(ctx context.Context) error {
	cause := Cause{Kind: CausePerson, ID: d.actor.Subject}
	switch {
	case d.refund != nil:
		d.decideRefund(cause)
	case d.cmd.Resolution == ResolvedPaid:
		d.paid(cause)
	case d.discrepancy.Kind == NeedsReview && d.discrepancy.About == aboutHold && d.attempt.Held() == 0:
		settleHeld(&d.change(*d.attempt).Attempt, *d.discrepancy)
	case d.cmd.Resolution == ResolvedAccepted:
		return d.tx.OrderAccept(ctx, d.of.ID, d.attempt.ID)
	default:
		d.over(cause)
	}
	return d.save(ctx)
}

// paid makes the attempt succeed with what was taken: by the word of the provider, or by
// what it told before.
func (d *decision) paid(cause Cause) {
	var names []string
	for _, ref := range d.references() {
		names = append(names, ref.Name)
	}
	c, told := d.change(*d.attempt), d.told()
	// A person's word moves the attempt whatever was taken; that it is another amount than was asked for is left to look at.
	taken := News{News: fsm.NewsSucceeded, Money: told}
	kind := cmp.Or(mismatch(*d.attempt, taken), opens(d.attempt.Intent, taken, fsm.Applied))
	d.advance(c, News{News: fsm.NewsSucceeded, ProviderPaymentID: cmp.Or(d.says.paid.ProviderPaymentID, d.cmd.ProviderPaymentID), Names: names, Money: d.counted(told), Cause: cause})
	if kind != "" && d.discrepancy.Kind != kind {
		d.openFor(c, kind, told, cause)
	}
}

// told is what the provider says that it took; nil if it does not.
func (d *decision) told() *Money {
	kind := d.discrepancy.Kind
	if d.says.paid.Money == nil && (kind == AmountMismatch && d.attempt.Captured == 0 || kind == CurrencyMismatch) {
		return d.discrepancy.Money
	}
	return d.says.paid.Money
}

// counted is what of it counts in the attempt's currency.
func (d *decision) counted(told *Money) *Money {
	if told == nil || told.Currency == d.attempt.Money.Currency {
		return told
	}
	return &Money{Currency: d.attempt.Money.Currency}
}

// over ends a pending attempt, and records as refunded what it holds.
func (d *decision) over(cause Cause) {
	c, failure := d.change(*d.attempt), "not_paid"
	if d.cmd.Resolution == ResolvedRefundedElsewhere {
		failure = "refunded"
		d.returned(c, cause)
	}
	if c.Attempt.State.Final() {
		return
	}
	d.advance(c, News{News: fsm.NewsFailed, Failure: NewFailure(failure, ""), Cause: cause})
	if d.discrepancy.Kind == AmountMismatch || d.discrepancy.Kind == CurrencyMismatch {
		// What the provider holds may not be what it was asked for: it is asked, and gives it up.
		doubtFailure(&c.Attempt, d.now())
	}
}

// returned records as given back what the discrepancy is about: money in another currency
// has one of its own.
func (d *decision) returned(c *Change, cause Cause) {
	held := c.Attempt.Held()
	if held == 0 || d.discrepancy.Kind == CurrencyMismatch {
		foreignReturned(&c.Attempt, c.Attempt.Foreign)
		return
	}
	money := Money{held, c.Attempt.Money.Currency}
	r := newRefund(c.Attempt, RefundByProvider, money, d.now())
	d.advanceRefund(c, r, RefundNews{News: fsm.NewsSucceeded, Money: &money, Cause: cause})
}

// decideRefund ends a refund.
func (d *decision) decideRefund(cause Cause) {
	news := RefundNews{News: fsm.NewsFailed, Failure: refundNotMade(), Cause: cause}
	if d.cmd.Resolution == ResolvedPaid {
		news.News, news.Failure, news.ProviderRefundID, news.Money = fsm.NewsSucceeded, nil, d.cmd.ProviderPaymentID, d.says.refund.Money
	}
	d.advanceRefund(d.change(*d.attempt), d.refund, news)
}

func refundNotMade() *Failure {
	return &Failure{Code: "not_paid", Message: "The refund was not made. Nothing was paid back."}
}
