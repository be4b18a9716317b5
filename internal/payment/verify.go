package payment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// Verified is what one portion showed.
type Verified struct {
	// Attempts is how many were looked at, Last the id of the last of them.
	Attempts    int
	Last        AttemptID
	Differences []Difference
}

// Verify derives the attempts that follow after, limit of them at most, from
// their logs and events again, and reports whatever does not agree. It locks
// nothing and may run on a live database. The end is reached when no attempts are
// left. It returns ErrBusy as [Archive] does.
func Verify(ctx context.Context, from Archive, after AttemptID, limit int, alone bool) (Verified, error) {
	all, err := from.Evidence(ctx, after, limit, alone)
	v := Verified{Attempts: len(all), Last: after}
	for i := range all {
		e := examination{Evidence: all[i]}
		e.replay()
		e.schedule()
		e.money()
		e.movements()
		e.events()
		e.refunds()
		v.Last = e.Attempt.ID
		v.Differences = append(v.Differences, e.found...)
	}
	return v, err
}

// examination gathers what is wrong with one attempt.
type examination struct {
	Evidence

	found []Difference
}

func (e *examination) differs(check, format string, args ...any) {
	e.found = append(e.found, Difference{e.Attempt.OrderID, e.Attempt.ID, check, fmt.Sprintf(format, args...)})
}

func (e *examination) opened(kinds ...DiscrepancyKind) bool {
	return slices.ContainsFunc(e.Discrepancies, func(k DiscrepancyKind) bool { return slices.Contains(kinds, k) })
}

// schedule checks that what is to be asked about will be.
func (e *examination) schedule() {
	if due := e.Attempt.NextCheckAt; due != nil && !e.Scheduled {
		e.differs("check_is_scheduled", "the check of %s is in no schedule: nobody will ask about the attempt", due.Format(time.RFC3339))
	}
}

// money checks the amounts against each other and against the order.
func (e *examination) money() {
	a := &e.Attempt
	if a.Money != e.Order {
		e.differs("order_terms", "the order is for %s, the attempt for %s", e.Order, a.Money)
	}
	if e.Live > 1 {
		e.differs("one_live_attempt", "%d attempts of the order are pending or paid", e.Live)
	}
	if a.Succeeded() && (a.Captured <= 0 && !e.opened(CurrencyMismatch) || a.Authorized < a.Captured) {
		e.differs("paid_holds_money", "paid, with %d captured of %d authorised", a.Captured, a.Authorized)
	}
	if a.Refunded > a.Captured {
		e.differs("refunded_within_captured", "%d refunded of %d captured", a.Refunded, a.Captured)
	}
	late := []DiscrepancyKind{LateSuccess, DoubleSuccess, PaidAfterCancel, AmountMismatch}
	if !a.Succeeded() && a.Captured > 0 && !e.opened(late...) {
		e.differs("money_is_seen", "%d captured although the attempt is %s, and no discrepancy says so", a.Captured, a.State)
	}
}

// events checks that the log and the inbox tell the same.
func (e *examination) events() {
	verdicts := make(map[string]fsm.Verdict, len(e.Events))
	for _, event := range e.Events {
		verdicts[event.Event.ID] = event.Verdict
		e.event(event)
	}
	for _, t := range e.Log {
		if t.Cause.Kind != CauseWebhook {
			continue
		}
		switch v, stored := verdicts[t.Cause.ID]; {
		case !stored:
			e.differs("event_is_stored", "version %d was made by event %s, which is not stored for this attempt", t.Version, t.Cause.ID)
		case v == Unmatched || v == Deferred || v == Ignored:
			e.differs("event_is_applied", "version %d was made by event %s, whose verdict is %s", t.Version, t.Cause.ID, v)
		}
	}
}

// event checks that what an applied event said is still so.
func (e *examination) event(s StoredEvent) {
	if s.Unreadable != nil {
		e.differs("event_is_readable", "what is stored of event %s can't be read: %v", s.Event.ID, s.Unreadable)
		return
	}
	if s.Verdict == fsm.Conflict && len(e.Discrepancies) == 0 {
		e.differs("conflict_is_seen", "event %s is a conflict, and no discrepancy was opened", s.Event.ID)
	}
	if s.Verdict != fsm.Applied || s.Event.NeedsFetch {
		return
	}
	kind := s.Event.Kind
	if kind == webhooks.KindSucceeded && !e.Attempt.Succeeded() || kind == webhooks.KindFailed && !e.Attempt.Failed() {
		e.differs("event_agrees", "event %s said %s and was applied; the attempt is %s", s.Event.ID, kind, e.Attempt.State)
	}
	if kind == webhooks.KindRefundSucceeded || kind == webhooks.KindRefundFailed {
		e.refundEvent(s)
	}
}

func (e *examination) refundEvent(s StoredEvent) {
	i := slices.IndexFunc(e.Refunds, func(r Refund) bool {
		return s.Event.RefundReference == r.ID.String() || s.Event.RefundID != "" && s.Event.RefundID == r.ProviderRefundID
	})
	switch {
	case s.Event.RefundID == "" && s.Event.RefundReference == "":
	case i < 0:
		e.differs("refund_is_stored", "event %s is about a refund that is not stored for this attempt", s.Event.ID)
	case s.Event.Kind == webhooks.KindRefundSucceeded && e.Refunds[i].State != fsm.RefundSucceeded && !e.Refunds[i].Reversed,
		s.Event.Kind == webhooks.KindRefundFailed && e.Refunds[i].State == fsm.RefundSucceeded && !e.Refunds[i].Reversed:
		e.differs("refund_event_agrees", "event %s said %s and was applied; refund %s is %s", s.Event.ID, s.Event.Kind, e.Refunds[i].ID, e.Refunds[i].State)
	}
}

// refunds checks that what was paid back is the sum of the refunds, unless the
// provider told the sum itself.
func (e *examination) refunds() {
	var sum int64
	for i := range e.Refunds {
		r := &e.Refunds[i]
		if r.paidBack() {
			sum += r.Money.Minor
		}
		if r.State == fsm.RefundFailed != (r.Failure != nil) {
			e.differs("refund_failure", "refund %s is %s, its failure is %v", r.ID, r.State, r.Failure != nil)
		}
		if r.State.Final() && r.Version < 2 || r.State.Final() && r.UpdatedAt.Before(*r.FinalizedAt) {
			e.differs("refund_version", "refund %s is %s at version %d", r.ID, r.State, r.Version)
		}
	}
	told := slices.ContainsFunc(e.Events, tellsSum)
	if want := min(sum, e.Attempt.Captured); want != e.Attempt.Refunded && !told {
		e.differs("refunds_sum", "the refunds paid back %d, the attempt says %d", want, e.Attempt.Refunded)
	}
}

// tellsSum reports whether an event may have told how much was paid back in all.
func tellsSum(e StoredEvent) bool {
	_, refund := newsByRefundKind[e.Event.Kind]
	return e.Event.Cumulative || refund && e.Event.NeedsFetch && e.Event.RefundID == "" && e.Verdict == fsm.Applied
}
