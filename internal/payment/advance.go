package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Ignored is the verdict on a report that is of no payment, or not proven to be the provider's.
const Ignored fsm.Verdict = "ignored"

// Facts are what the version of an attempt counts.
type Facts struct {
	State                                    fsm.State
	ProviderPaymentID                        string
	Authorized, Captured, Refunded, Disputed int64
	ForeignMoney                             bool
	// NextAction is a digest of it.
	NextAction string
}

// Facts are the attempt's.
func (a Attempt) Facts() Facts {
	return Facts{
		State: a.State, ProviderPaymentID: a.ProviderPaymentID, Authorized: a.Authorized, Captured: a.Captured,
		Refunded: a.Refunded, Disputed: a.Disputed, ForeignMoney: a.ForeignMoney, NextAction: a.NextAction.digest(),
	}
}

// Transition is one version of an attempt in the append-only log. Version 0 means no change.
type Transition struct {
	Version  int
	From, To fsm.State
	News     fsm.News
	Cause    Cause
	At       time.Time
	// Facts are what the attempt is since then, LastMovement its last movement.
	Facts        Facts
	LastMovement int
	// Quiet is set if only the amount authorized changed, which no caller sees.
	Quiet bool
	// Findings are what a person must look at after it.
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

// Advance applies a report to an attempt that the transaction holds locked, with its movements
// filled in. It is the only caller of fsm.Next, and the only function that changes an attempt's
// state, amounts and version. A transition of version 0 changed nothing that a caller can see.
func Advance(a *Attempt, r Report, now time.Time) (Transition, fsm.Verdict) {
	before := *a
	if a.TriesAgain(r) {
		a.declineTry(&r)
	}
	if r.Undoes && r.Says == fsm.NewsFailed && a.Succeeded() {
		r.Says = fsm.NewsMoney
		r.Movements = append(r.Movements, Told{Kind: MovementCaptureReversal})
	}
	movements := a.complete(r.Movements)
	t := Transition{From: a.State, News: r.Says, Cause: r.Cause, At: now}
	payment := a.identify(r)
	verdict := fsm.Conflict
	odd := a.mismatch(r, movements, payment)
	if odd == "" {
		verdict = a.move(&r, now)
	}
	for _, m := range movements {
		a.record(m, payment, r.Cause, now)
	}
	if r.Says == fsm.NewsFailed && a.Failed() && a.endsHold(r) {
		a.release(r.At, r.Cause, now)
	}
	if a.Failed() {
		a.endHold(r.Cause, now)
	}
	t.Findings = findings(before, *a, r, odd, verdict)
	switch {
	case a.Facts() != before.Facts() || a.LastMovement != before.LastMovement:
		if verdict == fsm.Repeat || verdict == fsm.Stale && r.Says != fsm.NewsAuthorized {
			verdict = fsm.Applied
		}
		a.Version++
		a.UpdatedAt = now
		t.Version, t.Quiet = a.Version, a.onlyAuthorized(before)
	case odd == "" && (r.Says == fsm.NewsMoney || verdict == fsm.Conflict), odd == AmountMismatch && a.recorded(movements, payment):
		verdict, t.Findings = fsm.Repeat, nil
	}
	t.To, t.Facts, t.LastMovement = a.State, a.Facts(), a.LastMovement
	return t, verdict
}

// onlyAuthorized reports whether nothing but the amount authorized has changed.
func (a *Attempt) onlyAuthorized(before Attempt) bool {
	before.Authorized = a.Authorized
	return a.Facts() == before.Facts()
}

// recorded reports whether the amounts of a report are those that are recorded.
func (a *Attempt) recorded(movements []Told, payment string) bool {
	for _, m := range movements {
		if m.Money.Minor != a.sum(m.Kind, m.Money.Currency, func(n Movement) bool { return n.Payment == payment }) {
			return false
		}
	}
	return true
}

// identify records the names that a report contains. It returns the payment id that separates its
// movements from those of the attempt's first payment.
func (a *Attempt) identify(r Report) string {
	if a.ProviderPaymentID == "" {
		a.ProviderPaymentID = r.Payment
	}
	if r.Saved != nil {
		a.Saved = r.Saved
	}
	if r.Payment == a.ProviderPaymentID || r.Cause.Kind == CausePerson {
		return ""
	}
	return r.Payment
}

// move takes the step of the state machine and what comes with it.
func (a *Attempt) move(r *Report, now time.Time) fsm.Verdict {
	if a.heldElsewhere(*r) {
		r.Says = fsm.NewsProcessing
	}
	step, err := fsm.Next(a.State, r.Says)
	if err != nil {
		return Ignored
	}
	a.State = step.To
	switch r.Says {
	case fsm.NewsActionRequired:
		if a.State == fsm.AwaitingCustomer && r.NextAction != nil {
			a.NextAction = r.NextAction
		}
	case fsm.NewsSoftFailed:
		if step.Verdict == fsm.Applied && a.Failure == nil {
			a.Failure = r.Failure
		}
	case fsm.NewsFailed:
		if step.Moved() {
			a.fail(r.Failure)
		}
	case fsm.NewsAuthorized:
		if step.Moved() && a.OpenCancel() == nil {
			a.Failure = nil // that of an earlier try on the page
		}
	case fsm.NewsUnknown, fsm.NewsProcessing, fsm.NewsSucceeded, fsm.NewsMoney, fsm.NewsDisputed:
	}
	if a.State != fsm.AwaitingCustomer {
		a.NextAction = nil
	}
	if step.Moved() && a.State.Final() {
		a.FinalizedAt = &now
		if a.Succeeded() {
			a.Failure = nil
		}
	}
	return step.Verdict
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

// heldElsewhere reports whether a failure is that of one transaction while another one of the
// payment holds its money, or has captured it.
func (a *Attempt) heldElsewhere(r Report) bool {
	if a.State != fsm.Authorized || r.Transaction == "" || r.Says != fsm.NewsFailed && r.Says != fsm.NewsSoftFailed {
		return false
	}
	own, held := a.Movement(MovementAuthorization, r.Transaction)
	if _, released := a.Movement(MovementRelease, r.Transaction); !held || released {
		own.Money.Minor = 0
	}
	return a.OnHold() > own.Money.Minor
}

// endsHold reports whether a failure ends the attempt's last hold.
func (a *Attempt) endsHold(r Report) bool {
	if r.Ends != HoldsBefore {
		return r.Ends == HoldsAll
	}
	held := a.heldSince()
	if r.At.Nanosecond() == 0 {
		held = held.Truncate(time.Second) // some providers give whole seconds
	}
	return !r.At.IsZero() && !r.At.Before(held)
}

// complete fills in the amounts that a provider did not state.
func (a *Attempt) complete(told []Told) []Told {
	all := make([]Told, 0, len(told))
	for _, t := range told {
		if t.Money.Currency == "" {
			t.Money = Money{a.unstated(t), a.Money.Currency}
		}
		all = append(all, t)
	}
	return all
}

// unstated is the amount of a report without one: what came back is what was taken away, what was
// captured or authorized is all of it.
func (a *Attempt) unstated(t Told) int64 {
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
	return a.taken()
}

// reversed is the kind that a kind takes back.
var reversed = map[MovementKind]MovementKind{ //nolint:gochecknoglobals // a table
	MovementRelease:            MovementAuthorization,
	MovementChargebackReversal: MovementChargeback,
	MovementRefundReversal:     MovementRefund,
}

// taken is the amount of a capture that the provider does not state: what was captured before, else
// the amount of the last capture operation, else all of it.
func (a *Attempt) taken() int64 {
	if gross := a.sum(MovementCapture, a.Money.Currency, nil); gross > 0 {
		return gross
	}
	if asked := a.Capturing(); asked > 0 {
		return asked
	}
	return a.Money.Minor
}

// Capturing is the amount of the last capture operation that is open or done; 0 without one.
func (a *Attempt) Capturing() (amount int64) {
	for i := range a.Operations {
		if o := &a.Operations[i]; o.Kind == OperationCapture && (o.Open() || o.State == fsm.OperationDone) {
			amount = o.Amount
		}
	}
	return amount
}

// mismatch compares what a report states as authorized or captured with what the attempt is for.
// What a person resolves as paid was compared before.
func (a *Attempt) mismatch(r Report, movements []Told, payment string) DiscrepancyKind {
	if r.Cause.Kind == CausePerson {
		return ""
	}
	for _, m := range movements {
		switch {
		case m.Kind == MovementAuthorization && r.Says == fsm.NewsAuthorized, m.Kind == MovementCapture && r.Says == fsm.NewsSucceeded:
			if kind := a.mismatched(m, payment); kind != "" {
				return kind
			}
		case m.Money.Currency != a.Money.Currency:
			return CurrencyMismatch
		}
	}
	return ""
}

func (a *Attempt) mismatched(m Told, payment string) DiscrepancyKind {
	switch {
	case m.Money.Currency != a.Money.Currency:
		return CurrencyMismatch
	case m.Money.Minor == a.Money.Minor && (m.Kind == MovementAuthorization || !a.Succeeded()):
		return ""
	case m.Kind == MovementCapture && a.Succeeded() && a.captured(m, payment):
		return ""
	case m.Kind == MovementCapture && a.partial(m.Money.Minor):
		return ""
	}
	return AmountMismatch
}

// captured reports whether a capture is the one that is recorded, or a whole second one.
func (a *Attempt) captured(m Told, payment string) bool {
	if known, named := a.Movement(MovementCapture, m.ID); named && m.ID != "" && known.Money == m.Money {
		return true
	}
	return m.Money.Minor == a.captures(payment) || (payment != "" || m.ID != "") && m.Money.Minor == a.Money.Minor
}

// captures is what was ever captured under one payment of the provider.
func (a *Attempt) captures(payment string) int64 {
	return a.sum(MovementCapture, a.Money.Currency, func(m Movement) bool { return m.Payment == payment })
}

// partial reports whether an amount is one that a manual capture may have taken.
func (a *Attempt) partial(amount int64) bool {
	return a.Capture == CaptureManual && !a.Succeeded() && amount > 0 && amount < a.Money.Minor
}

// Mismatch is the finding of an unexpected captured amount; nil if it is expected, or not stated.
func (a *Attempt) Mismatch(captured *Money) *Finding {
	if captured == nil {
		return nil
	}
	m := Told{Kind: MovementCapture, Money: *captured}
	kind := a.mismatched(m, "")
	if asked := a.Capturing(); kind == "" && asked > 0 && asked != captured.Minor {
		kind = AmountMismatch
	}
	if kind == "" {
		return nil
	}
	f := mismatchFinding(kind, []Told{m})
	return &f
}
