package payment

import (
	"cmp"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Ignored is the verdict on a report that is of no payment, or not proven to be the provider's.
const Ignored fsm.Verdict = "ignored"

// Facts are the properties of an attempt that its version counts.
type Facts struct {
	State                                    fsm.State
	ProviderPaymentID                        string
	Authorized, Captured, Refunded, Disputed int64
	ForeignMoney                             bool
	// NextAction is a digest of the attempt's next action.
	NextAction string
	Review     ReviewStatus
}

// Facts returns the attempt's facts.
func (a Attempt) Facts() Facts {
	return Facts{
		State: a.State, ProviderPaymentID: a.ProviderPaymentID, Authorized: a.Authorized, Captured: a.Captured,
		Refunded: a.Refunded, Disputed: a.Disputed, ForeignMoney: a.ForeignMoney, NextAction: a.NextAction.digest(),
		Review: a.Review.Status,
	}
}

// Transition is one version of an attempt in the append-only log. Version 0 means no change.
type Transition struct {
	Version  int
	From, To fsm.State
	Event    fsm.Event
	Cause    Cause
	At       time.Time
	// Facts are the attempt's facts after the transition, LastMovement is its last movement then.
	Facts        Facts
	LastMovement int
	// Quiet is set if only the authorized amount changed, which callers do not see.
	Quiet bool
	// Reviewed is set if the provider's review began or ended.
	Reviewed bool
	// Findings are the discrepancies that the transition opens.
	Findings []Finding
}

// Finding is a discrepancy to be opened.
type Finding struct {
	Kind    DiscrepancyKind
	About   string
	AboutID string
	Money   *Money
	Text    string
}

// Ambiguous is the verdict on a report that could be about several payments of the attempt: it is no report, and the
// payments are to be looked up.
const Ambiguous fsm.Verdict = "ambiguous"

// Advance applies a report to an attempt that the transaction holds locked, with its movements and
// operations filled in. It is the only caller of fsm.Next and fsm.NextPayment, and the only function that
// changes an attempt's state, payments, amounts and version. A transition of version 0 changed nothing
// that the version counts.
//
// A report moves the payment that it is about. The state of the attempt is then derived from all of its
// payments, and the state machine takes it there.
func Advance(a *Attempt, r Report, now time.Time) (Transition, fsm.Verdict) {
	if now.Before(a.UpdatedAt) { // this transaction began before the last change, and waited for the attempt
		now = Later(a.UpdatedAt, now)
	}
	if r.Returned && !a.State.Final() && a.cancelSent(r.Cause) {
		r = r.givenBack()
	}
	before := *a
	a.Payments, a.Containers = slices.Clone(a.Payments), slices.Clone(a.Containers)
	p, ambiguous, full := a.subject(r, now)
	switch {
	case ambiguous:
		*a = before
		return Transition{}, Ambiguous
	case full:
		return Transition{Findings: []Finding{tooMany(r)}}, fsm.Conflict
	}
	if r.Reverses && r.Event == fsm.EventFailed && p != nil && a.captures(a.PaymentKey(p)) > 0 {
		r.Event = fsm.EventMoney
		r.Movements = append(r.Movements, MovementReport{Kind: MovementCaptureReversal, At: cmp.Or(r.ReversedAt, r.At)})
	}
	movements := a.complete(r.Movements, p)
	t := Transition{From: a.State, Event: r.Event, Cause: r.Cause, At: now}
	odd := a.mismatch(r, movements, p)
	verdict, err := a.movePayment(p, r, movements, odd, now)
	if err != nil {
		*a = before
		return Transition{}, Ignored
	}
	key := a.PaymentKey(p)
	for _, m := range movements {
		a.record(m, key, r.Cause, now)
	}
	if r.Event == fsm.EventFailed {
		a.releaseFailed(p, r, now)
	}
	verdict = a.move(&t, r, p, odd, verdict, now)
	a.endRest(r, now)
	if a.Failed() {
		a.endHold(r.Cause, now)
	}
	a.ProviderPaymentID = a.actingID()
	if r.Saved != nil && !a.UserID.Erased() {
		a.Saved = r.Saved
	}
	a.reviewed(r)
	t.Findings = findings(before, *a, r, p, odd, verdict)
	if a.State == before.State && slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.About == AboutSecondPayment }) {
		verdict = fsm.Conflict
	}
	return a.versioned(before, t, r, odd, verdict, now, movements, key)
}

// versioned gives the attempt its next version if anything changed that it counts.
func (a *Attempt) versioned(
	before Attempt, t Transition, r Report, odd DiscrepancyKind, verdict fsm.Verdict, now time.Time, movements []MovementReport, key string,
) (Transition, fsm.Verdict) {
	switch {
	case a.Facts() != before.Facts() || a.LastMovement != before.LastMovement:
		if verdict == fsm.Repeat || verdict == fsm.Stale && r.Event != fsm.EventAuthorized {
			verdict = fsm.Applied
		}
		a.Version++
		a.UpdatedAt = now
		t.Version, t.Quiet, t.Reviewed = a.Version, a.onlyAuthorized(before), a.Review.Status != before.Review.Status
	case odd == "" && (r.Event == fsm.EventMoney && !a.repaid(before) || verdict == fsm.Conflict), odd == AmountMismatch && a.recorded(movements, key):
		verdict, t.Findings = fsm.Repeat, nil
	}
	t.To, t.Facts, t.LastMovement = a.State, a.Facts(), a.LastMovement
	return t, verdict
}

// repaid reports whether the payments differ from those of the attempt before.
func (a *Attempt) repaid(before Attempt) bool {
	return !slices.Equal(a.Payments, before.Payments) || !slices.Equal(a.Containers, before.Containers)
}

// PaymentsChanged reports whether the payments, their containers or the page differ from the former attempt.
func (a *Attempt) PaymentsChanged(was *Attempt) bool {
	return a.repaid(*was) || a.PageOpen != was.PageOpen
}

// onlyAuthorized reports whether nothing but the amount authorized has changed.
func (a *Attempt) onlyAuthorized(before Attempt) bool {
	before.Authorized = a.Authorized
	return a.Facts() == before.Facts()
}

// recorded reports whether the report's amounts equal the recorded amounts.
func (a *Attempt) recorded(movements []MovementReport, key string) bool {
	for _, m := range movements {
		if m.Kind == MovementCapture && m.ID != "" {
			continue // it is known by its name
		}
		if m.Money.Minor != a.sum(m.Kind, m.Money.Currency, func(n Movement) bool { return n.Payment == key }) {
			return false
		}
	}
	return true
}

// movePayment moves the payment of a report, and the container that the report names. Money in another currency, and a
// hold of another amount, do not move the payment: a person decides.
func (a *Attempt) movePayment(p *Payment, r Report, movements []MovementReport, odd DiscrepancyKind, now time.Time) (fsm.Verdict, error) {
	a.notes(r)
	if r.endsContainer() && (p == nil || p.State.Live()) {
		a.endContainer(r.Container, r.Failure, now)
	}
	switch {
	case p == nil:
		if _, err := fsm.NextPayment(fsm.PaymentNamed, r.Event); err != nil {
			return "", err
		}
		return "", nil
	case odd == CurrencyMismatch, odd != "" && r.Event == fsm.EventAuthorized:
		return fsm.Conflict, nil
	case r.Event == fsm.EventAuthorized && p.State == fsm.PaymentFailed && a.heldBefore(movements, p, r, now):
		return fsm.Stale, nil
	case a.Origin == OriginExternal:
	case r.Event == fsm.EventProcessing && (p.State == fsm.PaymentOpen || p.State == fsm.PaymentNamed && p.Failure != ""):
		return fsm.Stale, nil // of a charge of ours: its customer is on the way to the provider, or was declined there
	case r.Event == fsm.EventSoftFailed && p.State == fsm.PaymentNamed && !r.PageOpen:
		return p.step(Report{Event: fsm.EventProcessing, At: r.At}, now) // it is cancelled by us
	case r.Event == fsm.EventSoftFailed && p.State == fsm.PaymentProcessing:
		return fsm.Applied, nil
	}
	return p.step(r, now)
}

// heldBefore reports whether a webhook about a hold is an old one. It is old if the stated hold is recorded already and
// the webhook is not younger than the last report that moved its payment.
func (a *Attempt) heldBefore(movements []MovementReport, p *Payment, r Report, now time.Time) bool {
	if younger := r.At.After(p.ReportedAt.Add(time.Microsecond)); r.Cause.Kind != CauseWebhook || younger { // times are stored in microseconds
		return false
	}
	with, key := *a, a.PaymentKey(p)
	with.Payments = slices.Clone(a.Payments)
	for _, m := range movements {
		with.record(m, key, r.Cause, now)
	}
	return with.LastMovement == a.LastMovement && slices.ContainsFunc(movements, MovementReport.Pays)
}

// move takes the attempt to the state that is derived from its payments, and applies the consequences.
func (a *Attempt) move(t *Transition, r Report, p *Payment, odd DiscrepancyKind, verdict fsm.Verdict, now time.Time) fsm.Verdict {
	if a.TriesAgain(r) {
		a.declineTry(r)
		t.Event = fsm.EventSoftFailed
		return fsm.Applied
	}
	news := a.leadingEvent(r, p, odd, now)
	step, err := fsm.Next(a.State, news)
	if err != nil {
		return Ignored
	}
	switch {
	case odd == CurrencyMismatch:
		news, step.To, verdict = fsm.EventMoney, a.State, fsm.Conflict
	case odd != "":
		verdict = fsm.Conflict
	case p == nil && news == fsm.EventMoney && standing(r.Event):
		verdict = fsm.Stale // its payments have gone on
	case a.State.Final(), p == nil:
		verdict = step.Verdict
	case step.Moved():
		verdict = fsm.Applied
	}
	t.Event = news
	a.enter(step, r, verdict, now)
	return verdict
}

// leadingEvent returns the event for the attempt's state machine. It is the report's own event if the attempt is final,
// if the report concerns no payment, or if a person decides. Otherwise it is derived from the payments.
func (a *Attempt) leadingEvent(r Report, p *Payment, odd DiscrepancyKind, now time.Time) fsm.Event {
	switch {
	case a.State.Final(), r.OfAttempt, r.Cause.Kind == CausePerson, r.Cause.Kind == CauseImport, !standing(r.Event), odd == CurrencyMismatch:
		return r.Event
	}
	to := a.derived(now)
	if p == nil && len(a.Payments) == 0 && to == a.State {
		return r.Event
	}
	if to != a.State {
		return a.leads(to)
	}
	if step, err := fsm.Next(a.State, r.Event); err == nil && step.To == a.State {
		return r.Event
	}
	return fsm.EventMoney
}

// enter takes the step of the state machine and applies its consequences.
func (a *Attempt) enter(step fsm.Step, r Report, verdict fsm.Verdict, now time.Time) {
	a.State = step.To
	declined := r.Event == fsm.EventSoftFailed || r.Event == fsm.EventFailed
	switch {
	case a.Failed() && step.Moved():
		a.fail(r.Failure)
	case declined && a.State == fsm.AwaitingCustomer && r.Failure != nil && a.Origin == OriginExternal:
		a.Failure = r.Failure
	case r.Event == fsm.EventSoftFailed && verdict == fsm.Applied && a.Failure == nil:
		a.Failure = r.Failure
	case a.State == fsm.Authorized && step.Moved() && a.OpenCancel() == nil:
		a.Failure = nil // the failure of an earlier try on the page
	case r.Event == fsm.EventActionRequired && a.State == fsm.AwaitingCustomer && r.NextAction != nil:
		a.NextAction = r.NextAction
	}
	if a.State != fsm.AwaitingCustomer {
		a.NextAction = nil
	}
	if step.Moved() && a.State.Final() {
		a.FinalizedAt, a.PageOpen = &now, false
		if a.Succeeded() {
			a.Failure = nil
		}
	}
}

// fail keeps the reason of an earlier soft failure: the last report may only be of a cancellation.
func (a *Attempt) fail(f *Failure) {
	switch {
	case a.Failure != nil:
	case f != nil:
		a.Failure = f
	default:
		a.Failure = NewFailure("", "")
	}
}

// releaseFailed records that a failed payment has nothing on hold any more. A report about the attempt as a whole
// applies to all payments.
func (a *Attempt) releaseFailed(p *Payment, r Report, now time.Time) {
	if p == nil && !r.OfAttempt && r.Cause.Kind != CausePerson && len(a.Payments) > 0 {
		return
	}
	for i := range max(1, len(a.Payments)) {
		var of *Payment
		if i < len(a.Payments) {
			of = &a.Payments[i]
		}
		if p != nil && of != p {
			continue
		}
		if p == nil && of != nil && of.State.Live() {
			of.State, of.LastAt, of.Failure = fsm.PaymentFailed, now, "canceled"
			if r.Failure != nil {
				of.Failure = r.Failure.Code
			}
		}
		switch key := a.PaymentKey(of); {
		case !a.endsHold(r, key):
		case of == nil || of.State == fsm.PaymentFailed:
			a.release(key, r.At, r.Cause, now)
		case p != nil:
			a.releaseRest(p, r, now)
		}
	}
}

// endsHold reports whether a failure ends the last hold of a payment.
func (a *Attempt) endsHold(r Report, key string) bool {
	if r.Releases != HoldsBefore {
		return r.Releases == HoldsAll
	}
	held := a.heldSince(key)
	if r.At.Nanosecond() == 0 {
		held = held.Truncate(time.Second) // some providers give whole seconds
	}
	return !r.At.IsZero() && !r.At.Before(held)
}

// complete fills in the amounts that a provider did not state.
func (a *Attempt) complete(told []MovementReport, p *Payment) []MovementReport {
	all := make([]MovementReport, 0, len(told))
	for _, t := range told {
		if t.Money.Currency == "" {
			t.Money = Money{a.unstated(t, a.PaymentKey(p)), a.Money.Currency}
		}
		all = append(all, t)
	}
	return all
}

// unstated is the amount of a report that states no amount. A reversal has the amount of its original. A capture or an
// authorization is of the whole amount.
func (a *Attempt) unstated(t MovementReport, key string) int64 {
	switch t.Kind {
	case MovementAuthorization:
		return a.Money.Minor
	case MovementRelease, MovementChargebackReversal, MovementRefundReversal:
		if m, ok := a.Movement(reversed[t.Kind], t.ID); ok {
			return m.Money.Minor
		}
		if t.Kind == MovementRelease {
			return 0
		}
	case MovementCapture, MovementCaptureReversal, MovementRefund, MovementChargeback:
	}
	return a.taken(key)
}

// reversed is the kind that a kind takes back.
var reversed = map[MovementKind]MovementKind{ //nolint:gochecknoglobals // a table
	MovementRelease:            MovementAuthorization,
	MovementChargebackReversal: MovementChargeback,
	MovementRefundReversal:     MovementRefund,
}

// taken is the amount of a capture whose amount the provider does not state. It is the amount captured under the payment
// before, else the amount of the last capture operation, else the attempt's whole amount.
func (a *Attempt) taken(key string) int64 {
	if gross := a.captures(key); gross > 0 {
		return gross
	}
	if asked := a.Capturing(); asked > 0 {
		return asked
	}
	return a.Money.Minor
}

// mismatch compares the authorized or captured amount of a report with the attempt's amount. A person's resolution was
// compared before. An import is the merchant's own record. Neither is compared here.
func (a *Attempt) mismatch(r Report, movements []MovementReport, p *Payment) DiscrepancyKind {
	if r.Cause.Kind == CausePerson || r.Cause.Kind == CauseImport {
		return ""
	}
	for _, m := range a.stated(movements, a.PaymentKey(p), r) {
		switch {
		case m.Kind == MovementAuthorization && r.Event == fsm.EventAuthorized, m.Kind == MovementCapture && r.Event == fsm.EventSucceeded:
			if kind := a.mismatched(m, p, r.Excess); kind != "" {
				return kind
			}
		case m.Money.Currency != a.Money.Currency:
			return CurrencyMismatch
		}
	}
	return ""
}

func (a *Attempt) mismatched(m MovementReport, p *Payment, more Excess) DiscrepancyKind {
	key := a.PaymentKey(p)
	switch {
	case m.Money.Currency != a.Money.Currency:
		return CurrencyMismatch
	case m.Kind == MovementAuthorization && (m.Money.Minor == a.Money.Minor || a.besides(p)+m.Money.Minor == a.Money.Minor):
		return ""
	case m.Kind == MovementAuthorization:
		return AmountMismatch
	case a.Capture == CaptureSeveral && a.Succeeded() && a.askedToCapture(a.capturedBesides(p)+m.Money.Minor):
		return "" // the sum of its captures so far
	case a.captured(m, key), a.Succeeded() && a.besides(p)+a.capturedBesides(p) > 0:
		return "" // recorded, or money under a second payment: that is a finding of its own
	case a.Succeeded() && m.Money.Minor < a.captures(key) && a.captures(key) > a.Money.Minor:
		return "" // less than the recorded amount: that has a finding
	case a.Succeeded() && !a.replaces(key):
		return AmountMismatch
	case a.Failed() && a.Capture.Holds() && m.Money.Minor > 0 && m.Money.Minor < a.Money.Minor:
		return "" // late money: any part of the hold is expected
	}
	switch sum := a.capturedBesides(p) + m.Money.Minor; {
	case sum == a.Money.Minor, sum > 0 && a.askedToCapture(sum), a.capturedBesides(p) > 0 && sum > a.Money.Minor:
		return ""
	case sum > a.Money.Minor && more == ExcessAccepted:
		return ""
	}
	return AmountMismatch
}

// replaces reports whether a payment's money replaces money that other payments had captured and that was reversed.
func (a *Attempt) replaces(key string) bool {
	return a.captures(key) == 0 && a.Captured <= 0 && a.Sums(MovementCapture) > 0
}

// besides is the amount that other payments have on hold or have captured.
func (a *Attempt) besides(p *Payment) (sum int64) {
	for i := range a.Payments {
		if of := &a.Payments[i]; of != p {
			sum += of.Held() + of.OnHold()
		}
	}
	return sum
}

// capturedBesides is the amount that other payments have captured.
func (a *Attempt) capturedBesides(p *Payment) (sum int64) {
	for i := range a.Payments {
		if of := &a.Payments[i]; of != p {
			sum += max(0, of.Captured)
		}
	}
	return sum
}

// captured reports whether a capture is recorded already.
func (a *Attempt) captured(m MovementReport, key string) bool {
	if known, named := a.Movement(MovementCapture, m.ID); named && m.ID != "" && known.Money == m.Money {
		return true
	}
	return m.Money.Minor == a.captures(key) && a.Covered()
}

// captures is the sum of all captures under one payment of the provider, reversed or not.
func (a *Attempt) captures(key string) int64 {
	return a.sum(MovementCapture, a.Money.Currency, func(m Movement) bool { return m.Payment == key })
}

// Mismatch is the finding of an unexpected captured amount; nil if it is expected, or not stated.
func (a *Attempt) Mismatch(captured *Money) *Finding {
	if captured == nil {
		return nil
	}
	m := MovementReport{Kind: MovementCapture, Money: *captured}
	kind := a.mismatched(m, a.Acting(), ExcessReviewed)
	if asked := a.Capturing(); kind == "" && asked > 0 && asked != captured.Minor {
		kind = AmountMismatch
	}
	if kind == "" {
		return nil
	}
	f := mismatchFinding(kind, []MovementReport{m})
	return &f
}
