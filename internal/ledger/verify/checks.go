package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// sums shows amounts as a person compares them.
func sums(f payment.Facts) string {
	return fmt.Sprintf("%s %q authorized %d captured %d refunded %d disputed %d", f.State, f.ProviderPaymentID, f.Authorized, f.Captured, f.Refunded, f.Disputed)
}

// movements checks that the movements are there, in order, and reported by stored events, and that
// no total is below zero.
func (e *examination) movements() {
	a := &e.Attempt
	type total struct {
		kind     payment.MovementKind
		payment  string
		currency payment.Currency
	}
	beyond := map[total]int64{}
	for i, m := range a.Movements {
		if m.Number != i+1 {
			e.differs("movements_without_gaps", "movement %d follows %d", m.Number, i)
		}
		if m.Source != payment.MovementNamed && m.Dispute == "" {
			beyond[total{m.Kind, m.Payment, m.Money.Currency}] += m.Money.Minor
		}
		if m.Cause.Kind == payment.CauseWebhook {
			e.reported(m)
		}
	}
	if len(a.Movements) != a.LastMovement {
		e.differs("movements_are_there", "there are %d movements, the attempt has %d", len(a.Movements), a.LastMovement)
	}
	for of, sum := range beyond {
		if sum < 0 {
			e.differs("totals_are_positive", "the totals of %s of payment %q make %d", of.kind, of.payment, sum)
		}
	}
}

// reported compares a movement with the event that reported it.
func (e *examination) reported(m payment.Movement) {
	i := slices.IndexFunc(e.Events, func(s payment.StoredEvent) bool { return s.Event.ID == m.Cause.ID })
	if i < 0 {
		e.differs("event_is_stored", "movement %d was reported by event %s, which is not stored for this attempt", m.Number, m.Cause.ID)
		return
	}
	if v := e.Events[i].Verdict; notApplied(v) {
		e.differs("event_is_applied", "movement %d was reported by event %s, which is %s", m.Number, m.Cause.ID, v)
	}
}

// notApplied reports whether a verdict says that an event changed nothing.
func notApplied(v fsm.Verdict) bool {
	return slices.Contains([]fsm.Verdict{payment.VerdictUnmatched, payment.VerdictDeferred, payment.VerdictForeign, payment.VerdictUnreadable, payment.Ignored}, v)
}

// operations checks that pending operations will be looked at, that closed operations are left alone, and that numbers and
// fences count up.
func (e *examination) operations() {
	a := &e.Attempt
	watched := false
	next := map[payment.OperationKind]int{}
	slots := map[string]bool{}
	for i := range a.Operations {
		o := &a.Operations[i]
		next[o.Kind]++
		if o.Sends > int(o.Fence) {
			e.differs("fence_counts_takes", "%s was sent %d times and taken %d times", o.Key(), o.Sends, o.Fence)
		}
		e.permitted(o)
		if !o.Open() {
			if o.NextAt != nil || o.LeaseUntil != nil {
				e.differs("closed_is_left_alone", "%s is %s, and due or leased", o.Key(), o.State)
			}
			continue
		}
		if slots[o.Slot()] {
			e.differs("one_open_a_slot", "%s is open at the same time as another operation", o.Key())
		}
		slots[o.Slot()] = true
		if o.NextAt == nil {
			e.differs("open_is_due", "%s is %s, and never due", o.Key(), o.State)
		}
		if o.RefundID == (payment.RefundID{}) {
			watched = true
			e.beside(o)
		}
	}
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Number >= next[o.Kind] {
			e.differs("numbers_without_gaps", "%s is one of %d", o.Key(), next[o.Kind])
		}
	}
	if !a.State.Final() && !watched {
		e.differs("pending_is_watched", "the attempt is %s, and no check of it is scheduled", a.State)
	}
}

// lockWait bounds how far two times may be apart in the wrong order. Each is the time at which its transaction began, and one
// transaction may have waited for the other's lock. Statements end sooner.
const lockWait = time.Minute

// permitted checks that an operation that takes money was first sent before anything withheld that money.
func (e *examination) permitted(o *payment.Operation) {
	if !o.Kind.Takes() || o.FirstSentAt == nil {
		return
	}
	if at := e.CancelRequestedAt; at != nil && o.FirstSentAt.After(at.Add(lockWait)) {
		e.differs("sent_while_permitted", "%s was first sent at %s, and its order was to be cancelled from %s on", o.Key(), o.FirstSentAt, at)
	}
	if at := e.HeldBeside; at != nil && o.FirstSentAt.After(at.Add(lockWait)) {
		e.differs("sent_while_permitted", "%s was first sent at %s, and another attempt has held money since %s", o.Key(), o.FirstSentAt, at)
	}
}

// beside checks an open operation against the attempt's state.
func (e *examination) beside(o *payment.Operation) {
	a := &e.Attempt
	several := o.Kind == payment.OperationCapture && a.Succeeded() && a.Rest() > 0
	final := a.State.Final() && !several
	if final && o.Kind != payment.OperationCancel && o.State != fsm.OperationAccepted {
		e.differs("final_needs_nothing", "the attempt is %s, and %s is %s", e.Attempt.State, o.Key(), o.State)
	}
}

// money checks the amounts against each other and against the order.
func (e *examination) money() {
	a := &e.Attempt
	if a.Money != e.Order && (!e.Amended || !a.Failed()) {
		e.differs("order_terms", "the order is for %s, the attempt for %s", e.Order, a.Money)
	}
	if e.Live > 1 {
		e.differs("one_live_attempt", "%d attempts of the order are pending or paid", e.Live)
	}
	if a.Succeeded() && a.Sums(payment.MovementCapture) <= 0 && !e.opened(payment.CurrencyMismatch) {
		e.differs("paid_holds_money", "paid, and nothing was captured")
	}
	if a.Refunded > a.Captured && !e.opened(payment.RefundExceeds, payment.RefundReversed, payment.PaymentReversed) {
		e.differs("refunded_within_captured", "%d refunded of %d captured, and no discrepancy reports it", a.Refunded, a.Captured)
	}
	late := []payment.DiscrepancyKind{payment.LateSuccess, payment.DoubleSuccess, payment.PaidAfterCancel, payment.AmountMismatch, payment.CurrencyMismatch}
	if !a.Succeeded() && a.HoldsMoney() && !e.opened(late...) && !e.openedAbout(payment.AboutSecondPayment) {
		e.differs("money_is_seen", "%d held although the attempt is %s, and no discrepancy reports it", a.Held(), a.State)
	}
	if a.Failed() && a.HoldsMoney() && !e.Accepted && !e.lookedAt() {
		e.differs("money_is_looked_at", "%d held although the attempt is %s, and neither a discrepancy nor a refund is open for it", a.Held(), a.State)
	}
}

// lookedAt reports whether a discrepancy about the attempt's money, or a refund of it, is open.
func (e *examination) lookedAt() bool {
	asks := []payment.DiscrepancyKind{
		payment.LateSuccess, payment.DoubleSuccess, payment.PaidAfterCancel, payment.AmountMismatch, payment.CurrencyMismatch,
		payment.RefundReversed, payment.NeedsReview, payment.UnknownAtProvider,
	}
	return slices.ContainsFunc(e.Discrepancies, func(d Opened) bool { return d.Open && slices.Contains(asks, d.Kind) }) ||
		slices.ContainsFunc(e.Refunds, func(r payment.Refund) bool { return r.State == fsm.RefundPending })
}

// events checks that the log and the inbox agree.
func (e *examination) events() {
	verdicts := make(map[string]fsm.Verdict, len(e.Events))
	for _, event := range e.Events {
		verdicts[event.Event.ID] = event.Verdict
		e.event(event)
	}
	for _, t := range e.Log {
		if t.Cause.Kind != payment.CauseWebhook {
			continue
		}
		switch v, stored := verdicts[t.Cause.ID]; {
		case !stored:
			e.differs("event_is_stored", "version %d was made by event %s, which is not stored for this attempt", t.Version, t.Cause.ID)
		case notApplied(v):
			e.differs("event_is_applied", "version %d was made by event %s, whose verdict is %s", t.Version, t.Cause.ID, v)
		}
	}
}

// event checks that the content of an applied event is still recorded.
func (e *examination) event(s payment.StoredEvent) {
	if s.Unreadable != nil {
		e.differs("event_is_readable", "the stored event %s can't be read: %v", s.Event.ID, s.Unreadable)
		return
	}
	if s.Verdict == fsm.Conflict && len(e.Discrepancies) == 0 {
		e.differs("conflict_is_seen", "event %s is a conflict, and no discrepancy was opened", s.Event.ID)
	}
	if s.Verdict != fsm.Applied || s.Event.NeedsFetch {
		return
	}
	kind := s.Event.Kind
	of := e.Attempt.Payment(s.Event.ProviderPaymentID)
	paid := e.Attempt.Succeeded() || of != nil && of.State == fsm.PaymentCaptured
	ofContainer := s.Event.Container != "" && s.Event.ProviderPaymentID == "" // an event that ends the open payments of a container
	failed := e.Attempt.Failed() || of != nil || ofContainer || e.logged(s.Event.ID)
	if kind == webhooks.KindSucceeded && !paid || (kind == webhooks.KindFailed || kind == webhooks.KindUndone) && !failed {
		e.differs("event_agrees", "event %s was %s and was applied; the attempt is %s", s.Event.ID, kind, e.Attempt.State)
	}
	if kind == webhooks.KindRefundSucceeded && !e.paidBack(s.Event) {
		e.differs("event_has_movement", "event %s was %s and was applied; no movement has it", s.Event.ID, kind)
	}
}

// logged reports whether an event made a version.
func (e *examination) logged(id string) bool {
	return slices.ContainsFunc(e.Log, func(t payment.Transition) bool { return t.Cause.Kind == payment.CauseWebhook && t.Cause.ID == id })
}

// paidBack reports whether the money of an event's refund was counted. For a refund without a name it compares the total.
func (e *examination) paidBack(s webhooks.Event) bool {
	if s.RefundID == "" && s.RefundReference == "" {
		return true
	}
	if _, paid := e.Attempt.Movement(payment.MovementRefund, s.RefundID); paid {
		return true
	}
	return slices.ContainsFunc(e.Refunds, func(r payment.Refund) bool {
		named := s.RefundReference == r.ID.String() || s.RefundID != "" && s.RefundID == r.ProviderRefundID
		return named && (r.PaidBack(&e.Attempt) || r.Reversed(&e.Attempt))
	})
}

// refunds checks that one refund claims each movement, and that refunds agree with their movements.
func (e *examination) refunds() {
	a := &e.Attempt
	nameless := false
	all := make([]*payment.Refund, len(e.Refunds))
	for i := range e.Refunds {
		r := &e.Refunds[i]
		all[i] = r
		nameless = nameless || r.Nameless()
		if (r.State == fsm.RefundFailed) != (r.Failure != nil) {
			e.differs("refund_failure", "refund %s is %s, its failure is %v", r.ID, r.State, r.Failure != nil)
		}
		if r.State.Final() && (r.Version < 2 || r.UpdatedAt.Before(*r.FinalizedAt)) {
			e.differs("refund_version", "refund %s is %s at version %d", r.ID, r.State, r.Version)
		}
		paid := r.PaidBack(a) || r.Reversed(a)
		if r.State == fsm.RefundSucceeded && !paid && !r.Superseded() && !e.opened(payment.CurrencyMismatch) {
			e.differs("refund_has_movement", "refund %s succeeded, and no movement has it", r.ID)
		}
		if r.State == fsm.RefundFailed && r.PaidBack(a) && !e.openedAbout(payment.AboutPaidAfterFailedRefund) {
			e.differs("refund_has_movement", "refund %s failed, a movement has it, and no discrepancy", r.ID)
		}
	}
	e.amounts()
	if unclaimed := payment.UnclaimedRefunds(a, all); len(unclaimed) > 0 && !nameless && !e.opened(payment.CurrencyMismatch, payment.NeedsReview) {
		e.differs("movement_is_claimed", "%d refund movements are claimed by no refund", len(unclaimed))
	}
}

// amounts checks that the amounts of succeeded refunds equal the amounts of their movements.
func (e *examination) amounts() {
	for i := range e.Refunds {
		r := &e.Refunds[i]
		for _, id := range []string{r.ProviderRefundID, r.ID.String()} {
			m, paid := e.Attempt.Movement(payment.MovementRefund, id)
			if paid && id != "" && r.State == fsm.RefundSucceeded && m.Money != r.Money && !e.opened(payment.AmountMismatch, payment.CurrencyMismatch) {
				e.differs("refund_amount", "refund %s is for %s, its movement for %s, and no discrepancy reports it", r.ID, r.Money, m.Money)
			}
		}
	}
}
