package runner

import (
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// conclude applies the reports of a result, moves the operation by it while the fence holds, and
// reschedules it.
func (r *Runner) conclude(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op := operationOf(c, rec.task)
	ours := op.Fence == rec.task.Operation.Fence && op.Open() && op.LeaseUntil != nil
	res := rec.result
	if ours && res.ProviderRef != "" {
		op.ProviderRef = res.ProviderRef
	}
	if ours && (res.Outcome == gateway.CallRefused || res.Outcome == gateway.CallUnsupported) {
		r.refused(s, c, rec)
	}
	if ours && res.Inference != nil && res.Inference.Concludes == gateway.NotCaptured {
		r.infer(s, c, rec, *res.Inference)
	}
	since := c.Attempt.LastMovement != rec.task.Attempt.LastMovement || sooner(op, rec.task)
	for _, report := range res.Reports {
		if report.Refund != nil && report.Refund.Unnamed && !only(s, c, rec.task) {
			continue
		}
		if since {
			report.Releases = payment.HoldsBefore // a hold reported meanwhile may be younger
		}
		s.Apply(c, report)
	}
	if res.Cancelled != nil {
		r.cancelled(s, c, rec)
	}
	op = operationOf(c, rec.task)
	if !ours {
		return
	}
	if op.Open() {
		r.moved(s, c, rec)
	}
	if c.Attempt.State == fsm.Authorized && rec.task.Attempt.State != fsm.Authorized {
		s.Authorized(c) // the provider may now accept a command that it refused before
	}
	op = operationOf(c, rec.task)
	op.LeaseUntil = nil
	r.reschedule(s, c, rec)
}

// refused ends an operation with the provider's definitive no, unless an earlier call of it
// may have been accepted.
func (r *Runner) refused(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, res := operationOf(c, rec.task), rec.result
	if op.Payment != "" {
		secondRefused(s, c, op)
		return
	}
	can := r.capabilities(c.Attempt)
	known := !can.Blind() && (op.Kind == payment.OperationCancel || op.Kind == payment.OperationCapture && can.CapturesSeen)
	if !known && (op.Sends > 1 || c.Attempt.Replaces(op)) {
		op.Lose()
		return
	}
	switch op.Kind {
	case payment.OperationCharge:
		op.Refuse("refused")
		failure := res.Failure
		if res.Outcome == gateway.CallUnsupported {
			failure = payment.NotStarted()
		}
		s.Apply(c, payment.Report{
			OfAttempt: true, Event: fsm.EventFailed, Failure: failure, Releases: payment.HoldsAll, Cause: payment.Cause{Kind: payment.CauseCall, ID: op.Key()},
		})
	case payment.OperationCapture:
		if ended(op.Kind, res.Event()) {
			return // the reports end it, and are compared with its amount; see moved
		}
		op.Refuse("refused")
		if !rec.refused && res.Event() != fsm.EventSoftFailed {
			s.NotMade(c, op)
		}
	case payment.OperationCancel:
		r.cancelRefused(s, c, rec)
	case payment.OperationRefund:
		op.Refuse("refused")
		failure := res.Failure
		if res.Outcome == gateway.CallUnsupported {
			failure = payment.NewRefundFailure("not_started")
		}
		r.failRefund(s, c, rec, failure)
	case payment.OperationComplete:
		op.Refuse("refused")
	case payment.OperationCheck:
	}
}

// cancelRefused ends a cancel that the provider does not carry out. A person decides about the hold of a failed attempt
// that could not be released. A soft decline is looked up again.
func (r *Runner) cancelRefused(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, says := operationOf(c, rec.task), rec.result.Event()
	if c.Attempt.Rest() > 0 { // it stays on hold, unless the reports release it
		op.Refuse("refused")
		return
	}
	if c.Attempt.Failed() && says == fsm.EventSoftFailed {
		return
	}
	if says == fsm.EventFailed || says == fsm.EventSucceeded {
		return // the reports end it
	}
	if op.Tries++; r.givenUp(op, rec.result, s.Now()) && !c.Attempt.Failed() {
		notCancelled(s, c)
	}
	op.Refuse("refused")
	if c.Attempt.Failed() {
		s.Unreleased(c)
	}
}

// secondRefused ends the cancel of a second payment that the provider does not carry out: a person is to look.
func secondRefused(s *changeset.Changeset, c *changeset.Change, op *payment.Operation) {
	op.Refuse("refused")
	if p := c.Attempt.Payment(op.Payment); p != nil && p.OnHold() > 0 {
		money := payment.Money{Minor: p.OnHold(), Currency: c.Attempt.Money.Currency}
		s.Find(c, payment.Finding{
			Kind: payment.NeedsReview, About: payment.AboutSecondPayment, AboutID: op.Payment, Money: &money,
			Text: "The payment " + op.Payment + " holds the customer's money a second time for this order, and the provider does not release it. Release it in the provider's dashboard.",
		})
	}
}

// ended reports whether a payment that stands so needs the command no more.
func ended(kind payment.OperationKind, says fsm.Event) bool {
	return says == fsm.EventFailed || says == fsm.EventSucceeded && kind == payment.OperationCapture
}

func (r *Runner) capabilities(a payment.Attempt) payment.Capabilities {
	if account, ok := r.Account(a); ok {
		return account.Provider.Capabilities()
	}
	return payment.WithoutAdapter
}

// cancelled records the cancel of a declined payment. It was sent under the charge's lease.
func (r *Runner) cancelled(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	cancel := c.Attempt.OpenCancel()
	if cancel == nil {
		for _, report := range rec.result.Cancelled.Reports {
			s.Apply(c, report)
		}
		return
	}
	if cancel.Sends == 0 && rec.result.Cancelled.Outcome != gateway.CallNotSent && rec.result.Cancelled.Outcome != gateway.CallThrottled {
		cancel.Take(payment.Send, s.Now(), s.Now())
		cancel.LeaseUntil = nil
		cancel.Lose()
	}
	if rec.result.Cancelled.Event() == fsm.EventFailed {
		for _, report := range rec.result.Cancelled.Reports {
			s.Apply(c, report)
		}
	}
}

// moved moves an operation that is still open by the outcome of its call.
func (r *Runner) moved(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, res := operationOf(c, rec.task), rec.result
	if i := res.Inference; i != nil && unreported(s, c, op, *i) {
		r.infer(s, c, rec, *i)
		return
	}
	switch res.Outcome {
	case gateway.CallAccepted:
		op.Accept()
		r.cancelAnew(s, c, op)
	case gateway.CallUnknown:
		op.Lose()
		if op.Kind == payment.OperationCharge && len(res.Reports) == 0 && !rec.poison {
			s.Apply(c, payment.Report{Event: fsm.EventUnknown, Cause: payment.Cause{Kind: payment.CauseCall, ID: op.Key()}})
		}
	case gateway.CallNotSent, gateway.CallThrottled:
		r.notSent(s, c, rec)
	case gateway.CallAsked:
		r.lookup(s, c, rec)
	case gateway.CallRefused, gateway.CallUnsupported:
		if op.Kind == payment.OperationCapture && op.State == fsm.OperationSent {
			op.Refuse("refused") // the reports were of no end
			if c.Attempt.Succeeded() && !rec.refused {
				s.NotMade(c, op)
			}
		}
	}
}

// unreported reports whether an inference still holds when it is recorded. A webhook may have reported the payment or the refund after the
// lookup that did not find it.
func unreported(s *changeset.Changeset, c *changeset.Change, op *payment.Operation, i gateway.Inference) bool {
	switch {
	case i.Concludes != gateway.NeverArrived && i.Concludes != gateway.NeverPaid:
		return true
	case op.Kind == payment.OperationRefund:
		refund := s.Refund(c.Attempt.ID, op.RefundID)
		return refund != nil && refund.ProviderRefundID == ""
	}
	return c.Attempt.Unreported()
}

// cancelAnew requests another cancel after a cancel that released nothing. A hold may be younger than that cancel: the
// cancel was sent again, and the provider repeats its response to the key.
func (r *Runner) cancelAnew(s *changeset.Changeset, c *changeset.Change, op *payment.Operation) {
	held := c.Attempt.State == fsm.Authorized || c.Attempt.Unreleased()
	if op.Kind != payment.OperationCancel || !held || op.Sends < 2 && !c.Attempt.HeldAfter(*op.FirstSentAt) {
		return
	}
	tries := op.Tries + 1
	next := s.CancelAnew(c, op)
	next.Tries = tries
	next.Wait(s.Now().Add(r.Schedule.Delay(tries)))
}

// notSent records a call if not a byte was sent. It ends only an operation that its caller was the first and the last to
// send.
func (r *Runner) notSent(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op := operationOf(c, rec.task)
	if op.State != fsm.OperationSent {
		return
	}
	waits := op.Origin == payment.OperationOriginRequest && op.Fence == 1
	switch {
	case op.Sends > 1 || !waits:
		op.Restore()
		if op.State == fsm.OperationUnknown && rec.task.was.State == fsm.OperationAccepted {
			op.Accept()
		}
	case op.Kind == payment.OperationCharge:
		op.Miss("not_started")
		s.Apply(c, payment.Report{
			OfAttempt: true, Event: fsm.EventFailed, Failure: payment.NotStarted(), Releases: payment.HoldsAll, Cause: payment.Cause{Kind: payment.CauseCall, ID: op.Key()},
		})
	case op.Kind == payment.OperationRefund:
		op.Miss("not_started")
		r.failRefund(s, c, rec, payment.NewRefundFailure("not_started"))
	default:
		op.Restore()
	}
}

// lookup records a lookup in the place of a call.
func (r *Runner) lookup(s *changeset.Changeset, c *changeset.Change, rec *recording) {
	op, res := operationOf(c, rec.task), rec.result
	if op.State == fsm.OperationSent { // the lookup was to decide whether it is sent
		op.Restore()
		if op.State == fsm.OperationUnknown && rec.task.was.State == fsm.OperationAccepted {
			op.Accept()
		}
	}
	if op.Kind == payment.OperationCharge && op.State == fsm.OperationUnknown {
		if c.Attempt.ProviderPaymentID != "" {
			op.Accept()
		} else if len(res.Reports) == 0 {
			s.Apply(c, payment.Report{Event: fsm.EventUnknown, Cause: payment.Cause{Kind: payment.CauseCheck, ID: op.Key()}})
		}
	}
}

// infer moves an operation by the inference from a lookup.
func (r *Runner) infer(s *changeset.Changeset, c *changeset.Change, rec *recording, i gateway.Inference) {
	op := operationOf(c, rec.task)
	switch {
	case i.Concludes == gateway.NotCaptured:
		op.Refuse("not_captured")
		if !rec.refused && rec.result.Event() != fsm.EventSoftFailed {
			s.NotMade(c, op)
		}
	case op.Kind == payment.OperationRefund:
		op.Miss("not_started")
		r.failRefund(s, c, rec, payment.NewRefundFailure("not_started"))
	case i.Concludes == gateway.AllEnded && c.Attempt.Waits(): // reported meanwhile
	default:
		failure := payment.NotStarted()
		switch {
		case c.Attempt.Expired(s.Now()):
			failure = payment.NewFailure("expired", "")
		case i.Concludes == gateway.AllEnded:
			failure = payment.NewFailure("canceled", "")
		}
		if charge := c.Attempt.OpenTake(); charge != nil && charge.Kind == payment.OperationCharge {
			charge.Miss("not_started")
		}
		s.Apply(c, payment.Report{
			OfAttempt: true, Event: fsm.EventFailed, Failure: failure, Releases: payment.HoldsAll, Cause: i.Cause,
		})
	}
}

// failRefund fails the refund of an operation.
func (r *Runner) failRefund(s *changeset.Changeset, c *changeset.Change, rec *recording, f *payment.Failure) {
	if pending := s.Refund(c.Attempt.ID, rec.task.Operation.RefundID); pending != nil && pending.State == fsm.RefundPending {
		s.AdvanceRefund(c, pending, payment.RefundReport{Event: fsm.EventFailed, Failure: f}, payment.Cause{Kind: payment.CauseCall, ID: rec.task.Operation.Key()})
	}
}

// only reports whether a refund must be the refund that a provider reports without an id: the provider has accepted this
// one, and no other refund can exist.
func only(s *changeset.Changeset, c *changeset.Change, t Task) bool {
	if c.Attempt.Refunded != 0 {
		return false
	}
	for _, r := range s.Refunds(c.Attempt.ID) {
		if r.ID == t.Operation.RefundID && r.ProviderRefundID == "" || r.ID != t.Operation.RefundID && r.State == fsm.RefundPending {
			return false
		}
	}
	return true
}
