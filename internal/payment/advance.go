package payment

import (
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// News is what somebody learnt about a payment.
type News struct {
	fsm.News
	ProviderPaymentID string
	// Names are further names by which the provider may call the payment.
	Names []string
	// Money is what was authorised, taken or taken back; nil if not said.
	Money         *Money
	NextActionURL string
	Failure       *Failure
	// Approved is as that of Outcome.
	Approved bool
	// Movements are what NewsReversed speaks of: without any, of a capture that was
	// undone, to the amount of Money. Of other news they are what happened besides.
	Movements []MovementTold
	// rows are the movements that this was recorded as before, where it is replayed.
	rows []Movement
	// Saved is as that of Outcome.
	Saved *SavedMethod
	// Undoes is as that of Outcome.
	Undoes bool
	// Refused says that the command of the attempt's intent was refused for good, at
	// once or, by a webhook, after the provider had taken it.
	Refused bool
	// Unfit says that the provider is never sent what the intent asks for.
	Unfit bool
	// Answered says that whoever asked for the command is told of its refusal.
	Answered bool
	// Inferred says that a runner concludes this from its own call, one that was refused
	// included, which is only true as long as no other runner took over.
	Inferred bool
	// Unasked says that the provider was not even asked.
	Unasked bool
	Cause   Cause
}

// overtaken is what is left of news of a runner that was overtaken: how the payment
// stands, and nothing of its command, which the other runner has sent since.
func (n News) overtaken() News {
	n.Refused, n.Unfit, n.Answered = false, false, false
	if n.Inferred {
		n.News = ""
	}
	return n
}

// CauseKind says what brought a piece of news.
type CauseKind string

// The causes.
const (
	CausePay     CauseKind = "pay"
	CauseCall    CauseKind = "call"
	CauseWebhook CauseKind = "webhook"
	CauseCheck   CauseKind = "check"
	CausePerson  CauseKind = "person"
)

// Cause says which event, call, check or person brought a piece of news.
type Cause struct {
	Kind CauseKind
	ID   string
}

// Facts are what the version of an attempt counts.
type Facts struct {
	State                                              fsm.State
	ProviderPaymentID                                  string
	Authorized, Captured, Reversed, Disputed, Refunded int64
	NextActionURL                                      string
}

func (a Attempt) facts() Facts {
	return Facts{
		State: a.State, ProviderPaymentID: a.ProviderPaymentID,
		Authorized: a.Authorized, Captured: a.Captured, Reversed: a.Reversed, Disputed: a.Disputed, Refunded: a.Refunded,
		NextActionURL: a.NextActionURL,
	}
}

// Transition is one version of an attempt, in the append-only log. Version 0
// means that nothing changed.
type Transition struct {
	Version  int
	From, To fsm.State
	News     fsm.News
	Cause    Cause
	At       time.Time
	// Facts are what the attempt is since then, LastMovement its last movement.
	Facts        Facts
	LastMovement int
	// Opens is the discrepancy that the news is, if any.
	Opens DiscrepancyKind
}

// advance applies news to an attempt that the transaction holds locked. It is
// the only caller of fsm.Next. A transition of version 0 changed nothing that
// anybody can see.
func advance(a *Attempt, n News, now time.Time) (Transition, fsm.Verdict) {
	before := *a
	if n.Undoes && n.News == fsm.NewsFailed && a.Succeeded() {
		n.News = fsm.NewsReversed
	}
	t := Transition{From: a.State, News: n.News, Cause: n.Cause, At: now}
	if a.ProviderPaymentID == "" {
		a.ProviderPaymentID = n.ProviderPaymentID
	}
	if n.Saved != nil {
		a.Saved = n.Saved
	}
	if n.Refused && (n.Cause.Kind == CauseWebhook || n.News == fsm.NewsSoftFailed && a.Intent.Kind == IntentCapture) {
		// The payment may have to be given up now; a refused cancellation has a schedule.
		endIntent(a)
	}
	verdict := fsm.Conflict
	if t.Opens = mismatch(before, n); t.Opens == "" {
		verdict = move(a, n, now)
		t.Opens = opens(before.Intent, n, verdict)
	} else {
		keepOdd(a, t.Opens, n, now)
	}

	switch {
	case a.facts() != before.facts():
		if verdict == fsm.Repeat {
			verdict = fsm.Applied
		}
		a.Version++
		a.UpdatedAt = now
		t.Version = a.Version
	case toldBefore(before, n, t.Opens):
		verdict, t.Opens = fsm.Repeat, ""
	}
	if n.Approved && !a.State.Final() && a.Intent.Kind == IntentNone {
		a.NextCheckAt = &now
	}
	t.To, t.Facts, t.LastMovement = a.State, a.facts(), a.LastMovement
	return t, verdict
}

// keepOdd keeps what news says of money that is not the attempt's, or not all of it.
func keepOdd(a *Attempt, kind DiscrepancyKind, n News, now time.Time) {
	switch {
	case n.News == fsm.NewsReversed:
		recordAll(a, n, now)
		if kind == CurrencyMismatch && !n.returns() {
			foreignReturned(a, *n.Money)
		}
	case kind == CurrencyMismatch:
		mismatched(a, n, now)
	case kind == AmountMismatch && n.News == fsm.NewsSucceeded:
		a.Captured = max(a.Captured, n.Money.Minor)
		a.Authorized = max(a.Authorized, a.Captured)
	}
}

// move takes the step of the state machine and writes the facts that come with
// the news.
func move(a *Attempt, n News, now time.Time) fsm.Verdict {
	step, err := fsm.Next(a.State, n.News)
	if err != nil {
		return Ignored
	}
	a.State = step.To
	switch n.News {
	case fsm.NewsAuthorized:
		if step.Verdict != fsm.Stale {
			a.Authorized = max(a.Authorized, n.amountOr(a.Money.Minor))
		} else if a.Failed() {
			a.HoldToldAt = &now
			doubtFailure(a, now)
		}
	case fsm.NewsSucceeded:
		a.HoldToldAt = nil
		a.Captured = max(a.Captured, n.amountOr(a.taken()))
		a.Authorized = max(a.Authorized, a.Captured)
	case fsm.NewsReversed:
		recordAll(a, n, now)
	case fsm.NewsActionRequired:
		if a.State == fsm.AwaitingCustomer && n.NextActionURL != "" {
			a.NextActionURL = n.NextActionURL
		}
	case fsm.NewsSoftFailed:
		if step.Verdict == fsm.Applied && !giveUp(a, n, now) {
			return fsm.Repeat
		}
	case fsm.NewsFailed:
		if step.Moved() {
			fail(a, n.Failure)
		}
	case fsm.NewsUnknown, fsm.NewsProcessing, fsm.NewsDisputed:
	}
	tidy(a, step, now)
	if step.From == fsm.Authorized && n.News == fsm.NewsFailed {
		// News overtake each other: the failure may be older than the hold.
		doubtFailure(a, now)
	}
	return step.Verdict
}

func (n News) amountOr(minor int64) int64 {
	if n.Money != nil {
		return n.Money.Minor
	}
	return minor
}

func (n News) currencyOr(c Currency) Currency {
	if n.Money != nil {
		return n.Money.Currency
	}
	return c
}

// taken is what must be meant where the provider does not say how much it took:
// what it took before, or what it was asked to take.
func (a Attempt) taken() int64 {
	switch {
	case a.Captured > 0:
		return a.Captured
	case a.Intent.Amount > 0:
		return a.Intent.Amount
	}
	return a.Money.Minor
}

// giveUp marks an attempt to be cancelled at the provider, since the same
// payment could still succeed there. It reports false if it was marked before.
func giveUp(a *Attempt, n News, now time.Time) bool {
	if a.Intent.Kind != IntentNone {
		return false
	}
	checks, first := a.Checks, a.Failure == nil && n.Failure != nil
	setIntent(a, Intent{Kind: IntentCancel}, now)
	if a.Intent.Number > 0 && !first { // nobody wishes it but we, and it was refused before
		a.Checks = checks
	}
	a.Failure = n.Failure
	a.NextCheckAt = &now
	return true
}

// fail keeps the reason of a soft failure before it: it says why, where the
// provider's last word may only be that the payment was cancelled.
func fail(a *Attempt, f *Failure) {
	switch {
	case a.Failure != nil:
	case f != nil:
		a.Failure = f
	default:
		a.Failure = NewFailure("", "")
	}
}

func tidy(a *Attempt, step fsm.Step, now time.Time) {
	if a.State != fsm.AwaitingCustomer {
		a.NextActionURL = ""
	}
	if !step.Moved() || !a.State.Final() {
		return
	}
	if a.Succeeded() {
		a.Failure = nil
	}
	endIntent(a)
	a.NextCheckAt, a.LeaseUntil = nil, nil
	a.FinalizedAt = &now
}

// mismatch compares what news says was authorised, taken or taken back with what
// the attempt is for. A person who calls it paid has compared it.
func mismatch(a Attempt, n News) DiscrepancyKind {
	if n.Money == nil || n.Cause.Kind == CausePerson || n.News != fsm.NewsAuthorized && n.News != fsm.NewsSucceeded && n.News != fsm.NewsReversed {
		return ""
	}
	switch {
	case n.Money.Currency != a.Money.Currency:
		return CurrencyMismatch
	case n.News == fsm.NewsReversed:
		return ""
	case n.Money.Minor == a.Money.Minor && (n.News == fsm.NewsAuthorized || !a.Succeeded()):
		return ""
	case n.News == fsm.NewsSucceeded && a.Succeeded() && n.Money.Minor == a.Captured:
		return ""
	case n.News == fsm.NewsSucceeded && a.partial(n.Money.Minor):
		return ""
	}
	return AmountMismatch
}

// partial reports whether an amount is one that a manual capture may have taken.
func (a Attempt) partial(amount int64) bool {
	return a.Capture == CaptureManual && !a.Succeeded() && amount > 0 && amount < a.Money.Minor
}

// toldBefore reports whether what news would open was written when the same was
// told the first time.
func toldBefore(before Attempt, n News, kind DiscrepancyKind) bool {
	if kind == AmountMismatch {
		return n.News == fsm.NewsSucceeded && n.Money.Minor == before.Captured && before.Captured > 0
	}
	return kind == LateSuccess || kind == PaymentReversed || kind == "" && n.News == fsm.NewsReversed
}

// returns reports whether news of money that was moved says that it came back.
func (n News) returns() bool {
	return len(n.Movements) > 0 && n.Movements[0].Kind == ChargebackReversal
}

// opens says what a person must look at after news of the money that an attempt with
// an intent is for.
func opens(i Intent, n News, v fsm.Verdict) DiscrepancyKind {
	switch {
	case v == fsm.Conflict:
		return LateSuccess
	case n.News == fsm.NewsSucceeded && (i.Kind == IntentCapture || i.Amount > 0) && n.amountOr(i.Amount) != i.Amount && n.Cause.Kind != CausePerson:
		return AmountMismatch
	case n.News == fsm.NewsReversed && !n.returns():
		return PaymentReversed
	case n.News == fsm.NewsDisputed:
		return Disputed
	}
	return ""
}
