package changeset

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// follow derives the effect of an applied report on the attempt's operations. It closes pointless operations and creates
// new ones.
func (s *Changeset) follow(c *Change, before payment.Attempt, r payment.Report, verdict fsm.Verdict) fsm.Verdict {
	a := &c.Attempt
	if r.Refusal != nil && s.refuse(c, r, verdict) {
		verdict = fsm.Applied
	}
	if take := a.OpenTake(); take != nil && take.Kind == payment.OperationCharge && take.State == fsm.OperationUnknown &&
		!take.Leased(s.Now()) && a.ProviderPaymentID != "" {
		take.Accept()
	}
	switch {
	case before.TriesAgain(r):
		if a.Failure == before.Failure && a.Version == before.Version {
			verdict = fsm.Repeat
		}
	case r.Event == fsm.EventSoftFailed && verdict == fsm.Applied && !s.cancelUnpayable(c, before, r):
		verdict = fsm.Repeat
	}
	if r.Approved && r.Cause.Kind == payment.CauseWebhook {
		s.approved(c)
	}
	s.closePointless(c, before)
	s.heldAnew(c, before, r)
	s.secondHold(c, before)
	// A hold that is reported again may be a new one: it is looked up.
	held := a.Unreleased() && !before.Unreleased() || a.Failed() && r.Event == fsm.EventAuthorized && r.Cause.Kind == payment.CauseWebhook
	switch {
	case held && s.AccountOf(*a).Provider != nil:
		s.EnsureCancel(c, payment.OperationOriginPolicy).Sooner(s.Now())
	case held && a.Unreleased(): // without a gateway, only a person can void the hold
		s.Unreleased(c)
	}
	s.noteOrders(c, before)
	return verdict
}

// heldAnew requests another cancel for a hold that is younger than the provider's accepted cancel. A second send under
// the same key would have no effect.
func (s *Changeset) heldAnew(c *Change, before payment.Attempt, r payment.Report) {
	o := c.Attempt.OpenCancel()
	if o == nil || o.State != fsm.OperationAccepted || o.Leased(s.Now()) || r.Event != fsm.EventAuthorized || r.At.Before(*o.FirstSentAt) {
		return
	}
	again := c.Attempt.Failed() && r.At.After(*o.FirstSentAt)
	if again || c.Attempt.Sums(payment.MovementAuthorization) > before.Sums(payment.MovementAuthorization) {
		s.CancelAnew(c, o)
	}
}

// CancelAnew replaces a cancel by a new one: the old key releases nothing any more.
func (s *Changeset) CancelAnew(c *Change, o *payment.Operation) *payment.Operation {
	o.Finish(payment.HeldAnew)
	return s.EnsureCancel(c, o.Origin)
}

// cancelUnpayable requests the cancellation of a declined payment that could still succeed at the provider. It returns false
// while a command is under way that decides the outcome.
func (s *Changeset) cancelUnpayable(c *Change, before payment.Attempt, r payment.Report) bool {
	take := c.Attempt.OpenTake()
	another := before.State.Final() && r.Payment != "" && before.Payment(r.Payment) == nil
	if c.Attempt.Origin != payment.OriginPaylatch || c.Attempt.HasBeside(r.Payment) || another {
		// An external attempt waits for its customer, who may try another card. A charge of ours may have
		// another good payment, or be over.
		return c.Attempt.Failure != before.Failure || c.Attempt.PaymentsChanged(&before)
	}
	if c.Attempt.OpenCancel() != nil || take != nil && take.Kind != payment.OperationCharge {
		return false
	}
	o := s.EnsureCancel(c, payment.OperationOriginPolicy)
	if before.Failure == nil && r.Failure != nil {
		o.Tries = 0
	}
	return true
}

// EnsureCancel returns the attempt's open cancel and makes it if there is none. A cancel that follows a refused cancel takes
// over its tries: a refusal restarts no schedule.
func (s *Changeset) EnsureCancel(c *Change, origin payment.OperationOrigin) *payment.Operation {
	a := &c.Attempt
	if open := a.OpenCancel(); open != nil {
		return open
	}
	o := a.NewOperation(payment.OperationCancel, origin, s.Now())
	if o.Number > 0 {
		if last := a.LastCancel(); last != nil && last.State == fsm.OperationRefused {
			o.Tries = last.Tries
			o.NextAt = new(s.Now().Add(s.Schedule.Delay(o.Tries)))
		}
	}
	return c.Add(o)
}

// Add adds an operation to the attempt.
func (c *Change) Add(o payment.Operation) *payment.Operation {
	c.Attempt.Operations = append(c.Attempt.Operations, o)
	return &c.Attempt.Operations[len(c.Attempt.Operations)-1]
}

// approved has a payment completed that its customer has approved. While a runner has the
// charge, its next lookup does.
func (s *Changeset) approved(c *Change) {
	if take := c.Attempt.OpenTake(); take != nil && !c.Attempt.State.Final() && c.Attempt.OpenCancel() == nil {
		take.Sooner(s.Now())
	}
}

// closePointless closes operations whose effect the attempt shows, and operations that can have no effect any more. An
// accepted charge stays open until the due list closes it. A leased charge is closed here, so that commands need not
// wait for its lookup.
func (s *Changeset) closePointless(c *Change, before payment.Attempt) {
	a := &c.Attempt
	closeSecond(a)
	if take := a.OpenTake(); take != nil && take.Kind == payment.OperationCapture && capturedOtherwise(a) {
		take.Finish("captured_otherwise")
	}
	if cancel := a.OpenCancel(); cancel != nil && cancel.Sends == 0 && capturedOtherwise(a) && len(a.Cancellable()) == 0 {
		cancel.Refuse("paid")
	}
	if !a.State.Final() {
		return
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		switch {
		case !o.Open() || o.RefundID != (payment.RefundID{}) || o.Payment != "":
		case o.Kind == payment.OperationCancel && a.Rest() > 0: // it releases the rest
		case o.Kind == payment.OperationCancel && a.Succeeded() && before.Rest() > 0:
			o.Finish("released")
		case o.Kind == payment.OperationCancel && a.Succeeded():
			o.Refuse("paid")
		case o.Kind == payment.OperationCapture && a.Succeeded() && a.Capture == payment.CaptureSeveral:
			s.followCapture(c, o)
		case o.Kind == payment.OperationCancel:
			// A cancel that was requested because a hold may be new must look up the payment first.
			if !a.Unreleased() && (o.Sends > 0 || !before.Failed()) {
				o.Finish("")
			}
		case o.Kind == payment.OperationCapture || o.State != fsm.OperationAccepted || o.Leased(s.Now()):
			o.Finish("")
		}
	}
}

// followCapture closes one of several captures of a hold, if the money is captured or nothing is left of the hold. After the
// last one, a cancel releases the rest that the provider keeps.
func (s *Changeset) followCapture(c *Change, o *payment.Operation) {
	switch a := &c.Attempt; {
	case a.Effected(o):
		last := o.Final
		if o.Finish(""); last && a.Rest() > 0 {
			s.EnsureCancel(c, payment.OperationOriginPolicy)
		}
	case a.Rest() > 0:
	case o.State == fsm.OperationAccepted && s.capabilities(*a).Blind(): // its webhook follows
	default:
		s.HoldEnded(c, o)
	}
}

// HoldEnded refuses a further capture after the hold has ended, and opens a discrepancy.
func (s *Changeset) HoldEnded(c *Change, o *payment.Operation) {
	o.Refuse("hold_ended")
	s.find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutCaptureNotMade, AboutID: o.Key(),
		Text: "A further capture of this payment was requested and not executed, because no money is on hold any more. Check the captured " +
			"amount in the provider's dashboard, and ask the customer to pay the rest by another method.",
	}, payment.Cause{})
}

// capturedOtherwise reports whether a pending attempt has nothing on hold that a capture could take: another amount than was
// requested was captured.
func capturedOtherwise(a *payment.Attempt) bool {
	has := func(state fsm.PaymentState) bool {
		return slices.ContainsFunc(a.Payments, func(p payment.Payment) bool { return p.State == state })
	}
	return !a.State.Final() && has(fsm.PaymentCaptured) && !has(fsm.PaymentAuthorized)
}

// closeSecond closes the cancels of payments that have nothing on hold any more or were captured.
func closeSecond(a *payment.Attempt) {
	for i := range a.Operations {
		o := &a.Operations[i]
		if !o.Open() || o.Payment == "" {
			continue
		}
		switch p := a.Payment(o.Payment); {
		case p == nil, p.State == fsm.PaymentFailed && p.OnHold() == 0:
			o.Finish("")
		case p.State == fsm.PaymentCaptured:
			o.Refuse("paid")
		}
	}
}

// secondHold requests the cancellation of a payment's hold beside another payment that has captured or holds the money.
// The second hold takes no money, but would block the customer's.
func (s *Changeset) secondHold(c *Change, before payment.Attempt) {
	a := &c.Attempt
	if len(a.Payments) < 2 || !a.PaymentsChanged(&before) || a.Failed() {
		return
	}
	acting := a.Acting()
	if pays := acting.Held() >= a.Money.Minor || a.Succeeded() || acting.OnHold() >= a.Money.Minor; !pays {
		return
	}
	for _, p := range a.Payments {
		if p.ID == "" || p.ID == acting.ID || p.State != fsm.PaymentAuthorized || p.OnHold() == 0 || a.CancelOf(p.ID) != nil {
			continue
		}
		if was := before.Payment(p.ID); was != nil && was.State == fsm.PaymentAuthorized && before.Acting().ID == acting.ID && before.Succeeded() == a.Succeeded() {
			continue // nothing has changed that concerns it
		}
		account := s.AccountOf(*a)
		if account.SecondHold == gateway.SecondHoldReviewed || account.Provider == nil || account.Provider.Capabilities().Cancels == payment.CancelsNone {
			money := payment.Money{Minor: p.OnHold(), Currency: a.Money.Currency}
			s.find(c, payment.Finding{
				Kind: payment.NeedsReview, About: payment.AboutSecondPayment, AboutID: p.ID, Money: &money,
				Text: "The payment " + p.ID + " holds the customer's money in addition to the payment " + acting.ID + " of the same order. Release one of the two in the provider's dashboard.",
			}, payment.Cause{})
			continue
		}
		o := a.NewOperation(payment.OperationCancel, payment.OperationOriginPolicy, s.Now())
		o.Payment = p.ID
		c.Add(o)
	}
}

// lookUp makes the lookup of a pending attempt's payments due at once, after a report that may be about several of them.
func (s *Changeset) lookUp(c *Change) {
	a := &c.Attempt
	if s.AccountOf(*a).Provider == nil || a.State.Final() {
		return
	}
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Open() && o.RefundID == (payment.RefundID{}) && o.Payment == "" {
			o.Sooner(s.Now())
			return
		}
	}
	c.Add(a.NewOperation(payment.OperationCheck, payment.OperationOriginReconciler, s.Now()))
}

// refuse ends the capture or the cancel that the provider had accepted and does not carry
// out. It reports whether that is new.
func (s *Changeset) refuse(c *Change, r payment.Report, verdict fsm.Verdict) bool {
	a, can := &c.Attempt, s.capabilities(c.Attempt)
	switch r.Refusal.Kind {
	case payment.OperationCapture:
		o := a.OpenTake()
		if !r.Refusal.Of(o) {
			return false
		}
		if r.Event == fsm.EventAuthorized && !can.Blind() && can.CapturesSeen {
			// It may be about an older capture: this one is tried again under its key.
			o.Sooner(s.Now())
			return false
		}
		o.Refuse("refused")
		if verdict != fsm.Applied {
			s.NotMade(c, o)
		}
		return true
	case payment.OperationCancel:
		return s.refuseCancel(c, verdict)
	case payment.OperationCharge, payment.OperationComplete, payment.OperationRefund, payment.OperationCheck:
	}
	return false
}

func (s *Changeset) refuseCancel(c *Change, verdict fsm.Verdict) bool {
	a := &c.Attempt
	o := a.OpenCancel()
	if o == nil || o.Sends == 0 {
		return false
	}
	o.Refuse("refused")
	switch {
	case a.Failed():
		s.Unreleased(c)
	case a.Rest() > 0:
		s.NotMade(c, o)
	case a.State == fsm.Authorized:
		if verdict != fsm.Applied {
			s.NotMade(c, o)
		}
	default:
		s.EnsureCancel(c, o.Origin).Sooner(s.Now().Add(s.Schedule.Delay(o.Tries)))
		return false
	}
	return true
}

// NotMade opens a discrepancy for a command that the provider does not carry out: the
// money is still held.
func (s *Changeset) NotMade(c *Change, o *payment.Operation) {
	about, what := payment.AboutCaptureNotMade, "capture"
	if o.Kind == payment.OperationCancel {
		about, what = payment.AboutCancelNotMade, "cancellation"
	}
	s.find(c, payment.Finding{
		Kind: payment.NeedsReview, About: about, AboutID: o.Key(),
		Text: "The " + what + " of this payment was requested and not executed. The money is still held. Find the reason in the " +
			"provider's dashboard, then confirm or cancel the payment.",
	}, payment.Cause{})
}

// Unreleased opens a discrepancy for a hold of a failed attempt that the provider did not
// release. Until it is resolved the order takes no other pay.
func (s *Changeset) Unreleased(c *Change) {
	s.find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutHoldNotReleased,
		Text: "Money may be held for this payment although it failed: the provider did not release the money, or could not be asked. Check " +
			"the payment in its dashboard, and void it there.",
	}, payment.Cause{})
}

// watch gives a pending attempt without an open operation a check: something must look at
// it again.
func (s *Changeset) watch(c *Change) {
	a := &c.Attempt
	if a.State.Final() {
		return
	}
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Open() && o.RefundID == (payment.RefundID{}) && o.Payment == "" {
			s.named(c, o)
			return
		}
	}
	at := s.Now().Add(s.Schedule.Delay(0))
	o := c.Add(a.NewOperation(payment.OperationCheck, payment.OperationOriginReconciler, s.Now()))
	o.NextAt = &at
}

// find opens the discrepancy of a finding.
func (s *Changeset) find(c *Change, f payment.Finding, cause payment.Cause) {
	id := c.Attempt.ID
	d := payment.Discrepancy{
		Kind: f.Kind, OrderID: c.Attempt.OrderID, AttemptID: &id, About: f.About, AboutID: f.AboutID, Money: f.Money, Text: f.Text,
	}
	if f.Kind == payment.LateSuccess {
		s.orders.late = append(s.orders.late, lateSuccess{c, len(s.discrepancies)})
	}
	if cause.Kind == payment.CauseWebhook && (f.Kind == payment.PaymentReversed || f.Kind == payment.RefundReversed) {
		d.Event = payment.EventKey{Account: c.Attempt.Account, ID: cause.ID} // each such event counts by itself
	}
	s.Open(d)
}

// Find opens the discrepancy of a finding that no report has made.
func (s *Changeset) Find(c *Change, f payment.Finding) { s.find(c, f, payment.Cause{}) }

// Open opens a discrepancy, once for its cause. An empty text becomes the text of its kind.
func (s *Changeset) Open(d payment.Discrepancy) {
	if d.Text == "" {
		d.Text = payment.ExplainDiscrepancy(d.Kind)
	}
	d.CausedBy = s.Decider
	if d.At.Equal(time.Time{}) {
		d.At = s.Now()
	}
	s.discrepancies = append(s.discrepancies, d)
}
