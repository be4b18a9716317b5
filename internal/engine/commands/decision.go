package commands

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Affected.Decide carries out a person's decision about a discrepancy. First it looks up, at the provider, the
// payment that the person calls paid, or the money and the order that the resolution would free. Then it moves the
// attempt, the refund and the money of the discrepancy.

// ResolutionTx is an open transaction in which a discrepancy is resolved.
type ResolutionTx interface {
	changeset.Tx

	// OrderAccept writes that the money of a failed attempt pays a locked order, and the event about it.
	OrderAccept(ctx context.Context, id payment.OrderID, attempt payment.AttemptID, paid outbox.Message) error
	// ReferencesFind reads the attempts that have some names.
	ReferencesFind(ctx context.Context, names []payment.Reference) (map[payment.Reference]payment.AttemptID, error)
}

// Choice is a person's decision.
type Choice struct {
	Resolution        payment.Resolution
	ProviderPaymentID string
	By, Reason        string
}

// Decision is a resolution, carried out on the rows that the transaction has locked.
type Decision struct {
	*changeset.Changeset
	*Affected
	Choice

	tx          ResolutionTx
	discrepancy payment.Discrepancy
	found       ResolutionEvidence
}

// Decide makes the decision of a person about a discrepancy. The discrepancy and its subject must be locked.
// Discrepancies that the resolution opens have the person's subject as their cause. Found is the result of a lookup
// before the transaction.
func (on *Affected) Decide(s *changeset.Changeset, tx ResolutionTx, d payment.Discrepancy, choice Choice, found ResolutionEvidence) *Decision {
	s.Decider = choice.By
	return &Decision{s, on, choice, tx, d, found}
}

// Affected is the subject of a discrepancy: an attempt of an order, and the refund that it leaves open. All fields are
// nil for an event that names no attempt.
type Affected struct {
	of      payment.Order
	attempt *payment.Attempt
	refund  *payment.Refund
}

// LockAffected locks the order that a discrepancy is of and its attempts, and reads their
// refunds.
func LockAffected(ctx context.Context, s *changeset.Changeset, d payment.Discrepancy) (*Affected, error) {
	on := &Affected{}
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

// Circumstances returns the facts that the possible resolutions depend on.
func (d *Decision) Circumstances() payment.Circumstances {
	var c payment.Circumstances
	if d.attempt == nil {
		return c
	}
	c.State, c.Held = d.attempt.State, d.attempt.Held()
	c.Foreign, c.MayHold = d.attempt.ForeignMoney, d.attempt.Unreleased()
	c.Taken = slices.ContainsFunc(d.attempt.Movements, func(m payment.Movement) bool { return m.Kind == payment.MovementCapture })
	c.Refunding = slices.ContainsFunc(d.Refunds(d.attempt.ID), func(r payment.Refund) bool { return r.State == fsm.RefundPending })
	c.Order = d.of.NeedOf(d.attempt)
	if d.refund != nil {
		c.Refund = d.refund.State
	}
	return c
}

// free returns payment.ErrBusy while a runner calls the provider, or if a runner has called it since the lookup. It returns
// payment.ErrPaymentTaken if the found payment belongs to another attempt.
func (d *Decision) free(ctx context.Context) error {
	busy := d.attempt.LeasedOperation(d.Now()) != nil
	if d.refund != nil {
		op := d.attempt.RefundOperation(d.refund.ID)
		busy = op != nil && op.Leased(d.Now())
	}
	switch {
	case busy || d.found.seen.ID == d.attempt.ID && slices.ContainsFunc(d.attempt.Operations, d.moved):
		return payment.ErrBusy
	case d.Resolution != payment.ResolvedPaid:
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

// moved reports whether a runner took an operation of the subject after the lookup.
func (d *Decision) moved(o payment.Operation) bool {
	of := payment.RefundID{}
	if d.refund != nil {
		of = d.refund.ID
	}
	was := d.found.seen.Operation(o.Kind, o.Number)
	return o.RefundID == of && (was == nil && o.Fence > 0 || was != nil && o.Fence != was.Fence)
}

// references returns the names of the payment that was found.
func (d *Decision) references() []payment.Reference {
	var refs []payment.Reference
	for _, name := range append([]string{d.ProviderPaymentID, d.found.paid.ProviderPaymentID}, d.found.paid.References...) {
		if name != "" {
			refs = append(refs, payment.Reference{Account: d.attempt.Account, Name: name})
		}
	}
	return changeset.Sorted(refs)
}

// refundFree is free of a refund.
func (d *Decision) refundFree() error {
	for _, a := range d.of.Attempts {
		for _, other := range d.Refunds(a.ID) {
			if other.ID != d.refund.ID && other.ProviderRefundID == d.ProviderPaymentID {
				return payment.ErrPaymentTaken
			}
		}
	}
	return nil
}

// Move carries out the resolution on the subject of the discrepancy. It returns a proposal if a second person must
// confirm it. It returns payment.ErrOwnResolution to the person whose other resolution opened the discrepancy.
func (d *Decision) Move(ctx context.Context, decides bool) (*payment.ProposedResolution, error) {
	if d.discrepancy.CausedBy != "" && authz.SamePerson(d.discrepancy.CausedBy, d.By) {
		return nil, payment.ErrOwnResolution
	}
	if !decides {
		if d.attempt == nil || !d.discrepancy.SettlesHeld() {
			return nil, nil
		}
		if proposed, err := d.proposes(); proposed != nil || err != nil {
			return proposed, err
		}
		d.settleHeld()
		return nil, d.Save(ctx)
	}
	if err := d.free(ctx); err != nil {
		return nil, err
	}
	if proposed, err := d.proposes(); proposed != nil || err != nil {
		return proposed, err
	}
	return nil, d.decide(ctx)
}

// proposes returns the proposal that a second person must confirm; nil if the resolution is decided.
func (d *Decision) proposes() (*payment.ProposedResolution, error) {
	switch p := d.discrepancy.Proposed; {
	case !d.takesTwo():
	case p == nil || p.Resolution != d.Resolution || p.ProviderPaymentID != d.ProviderPaymentID:
		return &payment.ProposedResolution{Resolution: d.Resolution, ProviderPaymentID: d.ProviderPaymentID, By: d.By, Reason: d.Reason, At: d.Now()}, nil
	case authz.SamePerson(p.By, d.By):
		return nil, payment.ErrSecondPerson
	}
	return nil, nil
}

// takesTwo reports whether a second person must confirm: no lookup was possible, or the payment that is called paid has no
// mark of ours or is of another amount, or late money that is to pay the order is not enough for it.
func (d *Decision) takesTwo() bool {
	switch {
	case d.found.silent:
		return true
	case d.discrepancy.PaysOrder(d.Resolution, d.Circumstances()):
		return d.attempt.Money.Currency != d.of.Money.Currency || d.attempt.Held() < d.of.Money.Minor
	case d.Resolution != payment.ResolvedPaid:
		return false
	case d.found.stranger || d.refund != nil:
		return d.found.stranger
	}
	captured := d.captured()
	return captured != nil && (captured.Currency != d.attempt.Money.Currency || captured.Minor != d.attempt.Money.Minor && captured.Minor != d.attempt.Capturing())
}

func (d *Decision) cause() payment.Cause {
	return payment.Cause{Kind: payment.CausePerson, ID: d.By}
}

// decide moves the attempt, or the refund, as the person decides.
func (d *Decision) decide(ctx context.Context) error {
	switch {
	case d.refund != nil:
		d.decideRefund()
	case d.Resolution == payment.ResolvedPaid:
		d.paid()
	case d.discrepancy.About == payment.AboutHoldNotReleased && d.attempt.Held() == 0:
		d.settleHeld()
	case d.Resolution == payment.ResolvedAccepted:
		return d.tx.OrderAccept(ctx, d.of.ID, d.attempt.ID, outbox.Order(outbox.OrderPaid, d.of, d.attempt.ID, d.Now()))
	default:
		d.over()
	}
	return d.Save(ctx)
}

// settleHeld records that the hold was released, or that the money in another currency was refunded.
func (d *Decision) settleHeld() {
	c := d.Change(*d.attempt)
	if c.Attempt.Failed() && c.Attempt.Unreleased() {
		d.Apply(c, payment.Report{Event: fsm.EventFailed, Releases: payment.HoldsAll, Cause: d.cause()})
	}
	if foreign := c.Attempt.Foreign(); d.discrepancy.Kind == payment.CurrencyMismatch && foreign.Minor > 0 {
		d.record(c, foreign.Currency)
	}
}

// record records money that was refunded, as a person states: under each payment that holds some. The amount is a total, so
// that a report of the same money adds nothing.
func (d *Decision) record(c *changeset.Change, currency payment.Currency) {
	for _, r := range c.Attempt.AllRefunded(currency, d.discrepancy.ID.String()) {
		r.Cause = d.cause()
		d.Apply(c, r)
	}
}

// paid makes the attempt succeed with the captured amount of the lookup or of an earlier report.
func (d *Decision) paid() {
	var names []string
	for _, ref := range d.references() {
		names = append(names, ref.Name)
	}
	c, captured := d.Change(*d.attempt), d.captured()
	told := payment.MovementReport{Kind: payment.MovementCapture}
	if captured != nil {
		told.Money = *captured
	}
	report := payment.Report{
		Payment: cmp.Or(d.found.paid.ProviderPaymentID, d.ProviderPaymentID), References: names, Event: fsm.EventSucceeded,
		Movements: []payment.MovementReport{told}, Cause: d.cause(),
	}
	finding := c.Attempt.Mismatch(captured)
	d.Apply(c, report)
	if finding != nil && d.discrepancy.Kind != finding.Kind {
		// A person's decision moves the attempt with any captured amount; another amount opens a discrepancy.
		d.Find(c, *finding)
	}
}

// captured is the amount that the provider reports as captured; nil if there is no report.
func (d *Decision) captured() *payment.Money {
	kind := d.discrepancy.Kind
	if d.found.paid.Money == nil && (kind == payment.AmountMismatch && d.attempt.Captured == 0 || kind == payment.CurrencyMismatch) {
		return d.discrepancy.Money
	}
	return d.found.paid.Money
}

// over ends a pending attempt, and records its held money as refunded.
func (d *Decision) over() {
	c, failure := d.Change(*d.attempt), webhooks.FailureCode("not_paid")
	if d.Resolution == payment.ResolvedRefundedElsewhere {
		failure = "refunded"
		switch {
		case c.Attempt.Held() > 0 && d.discrepancy.Kind != payment.CurrencyMismatch:
			d.record(c, c.Attempt.Money.Currency)
		case c.Attempt.Foreign().Minor > 0:
			d.record(c, c.Attempt.Foreign().Currency)
		}
	}
	if !c.Attempt.State.Final() {
		d.Apply(c, payment.Report{Event: fsm.EventFailed, Failure: payment.NewFailure(failure, ""), Releases: payment.HoldsAll, Cause: d.cause()})
	}
}

// decideRefund ends a refund.
func (d *Decision) decideRefund() {
	told := payment.RefundReport{Event: fsm.EventFailed, Failure: payment.NewRefundFailure("not_paid")}
	if d.Resolution == payment.ResolvedPaid {
		told = payment.RefundReport{Event: fsm.EventSucceeded, ProviderID: d.ProviderPaymentID, Money: d.found.refund.Money}
	}
	d.AdvanceRefund(d.Change(*d.attempt), d.refund, told, d.cause())
}
