package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
)

// decision is a resolution that is executed on what the transaction has locked.
type decision struct {
	*changeset.Changeset

	tx Tx
	*affected

	discrepancy *review.Discrepancy
	cmd         Resolve
	found       evidence
	actor       authz.Actor
}

// affected is what a discrepancy is about: an attempt of an order, and the refund that it
// leaves open. All of them are nil for an event that names none.
type affected struct {
	of      payment.Order
	attempt *payment.Attempt
	refund  *payment.Refund
}

// lockAffected locks the order that a discrepancy is of and its attempts, and reads their
// refunds.
func lockAffected(ctx context.Context, s *changeset.Changeset, d review.Discrepancy) (*affected, error) {
	on := &affected{}
	if d.AttemptID == nil {
		return on, nil
	}
	var err error
	if on.of, err = s.Tx().OrderLock(ctx, d.OrderID); err != nil {
		return nil, err
	}
	if on.attempt = on.of.Attempt(*d.AttemptID); on.attempt == nil {
		return nil, payment.ErrAttemptNotFound
	}
	var ids []payment.AttemptID
	for _, a := range on.of.Attempts {
		ids = append(ids, a.ID)
	}
	if err := s.LoadRefunds(ctx, ids...); err != nil {
		return nil, err
	}
	if id, of := d.Refund(); of {
		on.refund = s.Refund(on.attempt.ID, id)
	}
	return on, nil
}

func (d *decision) circumstances() review.Circumstances {
	var c review.Circumstances
	if d.attempt == nil {
		return c
	}
	c.State, c.Held = d.attempt.State, d.attempt.Held()
	c.Foreign, c.MayHold = d.attempt.ForeignMoney, d.attempt.Unreleased()
	c.Refunding = slices.ContainsFunc(d.Refunds(d.attempt.ID), func(r payment.Refund) bool { return r.State == fsm.RefundPending })
	c.Beside = slices.ContainsFunc(d.of.Attempts, func(a payment.Attempt) bool { return a.ID != d.attempt.ID && a.HoldsMoney() })
	if d.refund != nil {
		c.Refund = d.refund.State
	}
	return c
}

// free returns payment.ErrBusy while a runner calls the provider, and
// payment.ErrPaymentTaken if what was found is another's.
func (d *decision) free(ctx context.Context) error {
	busy := d.attempt.LeasedOperation(d.Now()) != nil
	if d.refund != nil {
		op := d.attempt.RefundOperation(d.refund.ID)
		busy = op != nil && op.Leased(d.Now())
	}
	switch {
	case busy:
		return payment.ErrBusy
	case d.cmd.Resolution != review.ResolvedPaid:
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
			return payment.ErrPaymentTaken
		}
	}
	return nil
}

// references are the names of the payment that was found.
func (d *decision) references() []payment.Reference {
	var refs []payment.Reference
	for _, name := range append([]string{d.cmd.ProviderPaymentID, d.found.paid.ProviderPaymentID}, d.found.paid.References...) {
		if name != "" {
			refs = append(refs, payment.Reference{Account: d.attempt.Account, Name: name})
		}
	}
	return changeset.Sorted(refs)
}

// refundFree is free of a refund.
func (d *decision) refundFree() error {
	for _, a := range d.of.Attempts {
		for _, other := range d.Refunds(a.ID) {
			if other.ID != d.refund.ID && other.ProviderRefundID == d.cmd.ProviderPaymentID {
				return payment.ErrPaymentTaken
			}
		}
	}
	return nil
}

// move carries out what the resolution does to what the discrepancy is about. It returns
// what is only proposed.
func (d *decision) move(ctx context.Context, decides bool) (*review.Proposed, error) {
	if !decides {
		if d.attempt == nil || !d.discrepancy.SettlesHeld() {
			return nil, nil
		}
		d.settleHeld()
		return nil, d.Save(ctx)
	}
	if err := d.free(ctx); err != nil {
		return nil, err
	}
	if proposed, err := d.cmd.proposes(*d.discrepancy, d); proposed != nil || err != nil {
		return proposed, err
	}
	return nil, d.decide(ctx)
}

func (d *decision) cause() payment.Cause {
	return payment.Cause{Kind: payment.CausePerson, ID: d.actor.Subject}
}

// decide moves the attempt, or the refund, as the person decides.
func (d *decision) decide(ctx context.Context) error {
	switch {
	case d.refund != nil:
		d.decideRefund()
	case d.cmd.Resolution == review.ResolvedPaid:
		d.paid()
	case d.discrepancy.About == payment.AboutHoldNotReleased && d.attempt.Held() == 0:
		d.settleHeld()
	case d.cmd.Resolution == review.ResolvedAccepted:
		return d.tx.OrderAccept(ctx, d.of.ID, d.attempt.ID, outbox.Order(outbox.OrderPaid, d.of, d.attempt.ID, d.Now()))
	default:
		d.over()
	}
	return d.Save(ctx)
}

// settleHeld records that what a discrepancy is about is settled: a hold was released, or money in
// another currency was refunded.
func (d *decision) settleHeld() {
	c := d.Change(*d.attempt)
	if c.Attempt.Failed() && c.Attempt.Unreleased() {
		d.Apply(c, payment.Report{Says: fsm.NewsFailed, Ends: payment.HoldsAll, Cause: d.cause()})
	}
	if foreign := c.Attempt.Foreign(); d.discrepancy.Kind == payment.CurrencyMismatch && foreign.Minor > 0 {
		d.record(c, payment.MovementRefund, foreign)
	}
}

// record records that money was released or refunded, as a person states: a total of what is held,
// so that a report of the same money adds nothing.
func (d *decision) record(c *changeset.Change, kind payment.MovementKind, held payment.Money) {
	held.Minor += c.Attempt.SumIn(kind, held.Currency)
	d.Apply(c, payment.Report{
		Says: fsm.NewsMoney, Cause: d.cause(),
		Movements: []payment.Told{{Kind: kind, ID: d.discrepancy.ID.String(), Money: held, Person: true}},
	})
}

// paid makes the attempt succeed with what was captured: by the lookup, or by what was reported
// before.
func (d *decision) paid() {
	var names []string
	for _, ref := range d.references() {
		names = append(names, ref.Name)
	}
	c, captured := d.Change(*d.attempt), d.captured()
	told := payment.Told{Kind: payment.MovementCapture}
	if captured != nil {
		told.Money = *captured
	}
	report := payment.Report{
		Payment: cmp.Or(d.found.paid.ProviderPaymentID, d.cmd.ProviderPaymentID), References: names, Says: fsm.NewsSucceeded,
		Movements: []payment.Told{told}, Cause: d.cause(),
	}
	finding := c.Attempt.Mismatch(captured)
	d.Apply(c, report)
	if finding != nil && d.discrepancy.Kind != finding.Kind {
		// A person's word moves the attempt whatever was captured; another amount is left to look at.
		d.Find(c, *finding)
	}
}

// captured is what the provider reports as captured; nil if it does not.
func (d *decision) captured() *payment.Money {
	kind := d.discrepancy.Kind
	if d.found.paid.Money == nil && (kind == payment.AmountMismatch && d.attempt.Captured == 0 || kind == payment.CurrencyMismatch) {
		return d.discrepancy.Money
	}
	return d.found.paid.Money
}

// over ends a pending attempt, and records as refunded what it holds.
func (d *decision) over() {
	c, failure := d.Change(*d.attempt), "not_paid"
	if d.cmd.Resolution == review.ResolvedRefundedElsewhere {
		failure = "refunded"
		switch held := c.Attempt.Held(); {
		case held > 0 && d.discrepancy.Kind != payment.CurrencyMismatch:
			d.record(c, payment.MovementRefund, payment.Money{Minor: held, Currency: c.Attempt.Money.Currency})
		case c.Attempt.Foreign().Minor > 0:
			d.record(c, payment.MovementRefund, c.Attempt.Foreign())
		}
	}
	if !c.Attempt.State.Final() {
		d.Apply(c, payment.Report{Says: fsm.NewsFailed, Failure: payment.NewFailure(failure, ""), Ends: payment.HoldsAll, Cause: d.cause()})
	}
}

// decideRefund ends a refund.
func (d *decision) decideRefund() {
	told := payment.RefundTold{Says: fsm.NewsFailed, Failure: payment.RefundFailure("not_paid")}
	if d.cmd.Resolution == review.ResolvedPaid {
		told = payment.RefundTold{Says: fsm.NewsSucceeded, ProviderID: d.cmd.ProviderPaymentID, Money: d.found.refund.Money}
	}
	d.AdvanceRefund(d.Change(*d.attempt), d.refund, told, d.cause())
}

// evidence is the response about the payment, or the refund, that a person has found at the
// provider. Silent is set if a lookup was not possible, or leaves it open.
type evidence struct {
	silent bool
	paid   gateway.Outcome
	refund gateway.RefundOutcome
}

// lookUpPaid looks up what a person calls paid. It returns a review.ResolutionError if the provider
// reports that it was not. Of what is final nothing is left to decide.
func (c *Commands) lookUpPaid(ctx context.Context, d review.Discrepancy, name string) (evidence, error) {
	if d.AttemptID == nil {
		return evidence{}, nil
	}
	a, err := c.Store.Attempt(ctx, *d.AttemptID)
	if err != nil {
		return evidence{}, err
	}
	account, ok := c.Runner.Account(a.Account)
	if !ok {
		return evidence{silent: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Runner.ProviderTimeout)
	defer cancel()
	if id, of := d.Refund(); of {
		return c.lookUpRefund(ctx, account.Provider, a, id, name)
	}
	if a.State.Final() || account.Provider.Capabilities().Blind {
		return evidence{silent: true}, nil
	}
	// A payment of another attempt is refused for that, whatever it is.
	if owner, err := c.owner(ctx, payment.Reference{Account: a.Account, Name: name}); err != nil || owner != (payment.AttemptID{}) && owner != a.ID {
		return evidence{silent: true}, err
	}
	out, err := account.Provider.Lookup(ctx, name)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return evidence{}, contradicted("it has no payment " + name)
	case err != nil, out.News == fsm.NewsUnknown, out.News == "":
		return evidence{silent: true}, nil
	case out.News != fsm.NewsSucceeded:
		return evidence{}, contradicted("the payment " + name + " is " + string(out.News))
	}
	return evidence{paid: out}, nil
}

// owner is the attempt that has a name; zero without one.
func (c *Commands) owner(ctx context.Context, ref payment.Reference) (owner payment.AttemptID, err error) {
	err = c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
		owners, err := tx.ReferencesFind(ctx, []payment.Reference{ref})
		owner = owners[ref]
		return err
	})
	return owner, err
}

// lookUpRefund is lookUpPaid of a refund. One that is under way may well be paid, and a list
// that trails need not have it yet.
func (c *Commands) lookUpRefund(ctx context.Context, p gateway.Provider, a payment.Attempt, id payment.RefundID, name string) (evidence, error) {
	r, err := c.Store.Refund(ctx, id)
	if err != nil {
		return evidence{}, err
	}
	if r.State.Final() || !p.Capabilities().LookupRefund {
		return evidence{silent: true}, nil
	}
	out, err := p.LookupRefund(ctx, gateway.RefundRef{
		Refund: r.ID, ProviderRefundID: cmp.Or(name, r.ProviderRefundID), ProviderPaymentID: a.ProviderPaymentID,
		Age: r.ReadAt.Sub(r.CreatedAt), Money: r.Money, Taken: payment.Money{Minor: a.AmountCaptured(), Currency: a.Money.Currency},
	})
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && p.Capabilities().RefundsConsistent:
		return evidence{}, contradicted("it has no refund " + name)
	case err != nil:
		return evidence{silent: true}, nil //nolint:nilerr // then a second person must confirm
	case out.Unnamed, out.News != fsm.NewsSucceeded && out.News != fsm.NewsFailed:
		return evidence{silent: true}, nil
	case out.News == fsm.NewsFailed:
		return evidence{}, contradicted("the refund " + name + " is failed")
	}
	return evidence{refund: out}, nil
}

func contradicted(answer string) error {
	return &review.ResolutionError{Reason: "The provider was asked, and it says that " + answer + "."}
}
