package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// An attempt has any number of payments at the provider: a reload of the page makes a second one, a drop-in makes a
// payment for each tried card. A report moves only the payment that it is about. The state of the attempt is derived
// from its payments; see [Attempt.derived].

// MaxPayments is how many payments of one attempt are recorded. One more is a discrepancy.
const MaxPayments = 50

// NamedBy is the source that named a payment first.
type NamedBy string

const (
	// NamedByCall payments were named by the response to a call of ours.
	NamedByCall NamedBy = "call"
	// NamedByReport payments were named by the merchant's backend, or by a person.
	NamedByReport NamedBy = "report"
	// NamedByWebhook payments were named by the provider's webhook, as made in a container of ours or by the attempt's own name.
	NamedByWebhook NamedBy = "webhook"
	// NamedByLookup payments were named by the response to a lookup.
	NamedByLookup NamedBy = "lookup"
	// NamedByMark payments were found by a mark that a browser could have written.
	NamedByMark NamedBy = "mark"
)

// Payment is one thing at the provider that can take the customer's money.
type Payment struct {
	// ID is the provider's id of it, empty while the provider has not named the attempt's only payment.
	ID string
	// Container is the provider's id of the page, session or order in which it was made; empty if there is none.
	Container string
	State     fsm.PaymentState
	NamedBy   NamedBy
	// The amounts are the sums of the attempt's movements of this payment, in the attempt's currency.
	Authorized, Captured, Refunded, Disputed int64
	// Failure is the code of its failure, empty if it has not failed.
	Failure string
	// FirstAt is when it was first reported, LastAt when a report last changed it: by our clock. ReportedAt is the
	// provider's clock of the last report that moved it, zero if the report had no time.
	FirstAt, LastAt, ReportedAt time.Time
}

// Container is a page, session or order of the provider's in which payments are made. It takes no money.
type Container struct {
	ID string
	// Ended is set once it expired or was cancelled: no payment begins in it any more.
	Ended bool
}

// Held is the captured amount of the payment less refunds and chargebacks, in minor units.
func (p *Payment) Held() int64 {
	return max(0, p.Captured-max(0, p.Refunded)-max(0, p.Disputed))
}

// OnHold is the payment's amount that is authorized and neither captured nor released, in minor units. One capture ends
// the hold.
func (p *Payment) OnHold() int64 {
	if p.Captured > 0 || p.State == fsm.PaymentCaptured {
		return 0
	}
	return max(0, p.Authorized)
}

// over reports whether the payment failed and holds nothing: nothing is sent to it any more.
func (p *Payment) over() bool { return p.State == fsm.PaymentFailed && p.OnHold() == 0 }

// Status is the payment's status as callers see it: open, processing, authorized, captured, failed or canceled.
func (p *Payment) Status() string {
	switch {
	case p.State == fsm.PaymentNamed:
		return string(fsm.PaymentOpen)
	case p.State == fsm.PaymentFailed && (p.Failure == "canceled" || p.Failure == "expired"):
		return "canceled"
	}
	return string(p.State)
}

// Payment is the attempt's payment with an id, nil if it does not exist.
func (a *Attempt) Payment(id string) *Payment {
	for i := range a.Payments {
		if a.Payments[i].ID == id {
			return &a.Payments[i]
		}
	}
	return nil
}

// container is the attempt's container with an id, nil if it does not exist.
func (a *Attempt) container(id string) *Container {
	for i := range a.Containers {
		if a.Containers[i].ID == id {
			return &a.Containers[i]
		}
	}
	return nil
}

// Knows reports whether the attempt has a payment or a container with an id.
func (a *Attempt) Knows(id string) bool {
	return id != "" && (a.Payment(id) != nil || a.container(id) != nil)
}

// OpenContainer returns the id of the last container that has not ended; empty if all have ended.
func (a *Attempt) OpenContainer() string {
	for _, c := range slices.Backward(a.Containers) {
		if !c.Ended {
			return c.ID
		}
	}
	return ""
}

// Cancellable returns the payments that a cancel is sent to: all that may still take money, or hold it.
func (a *Attempt) Cancellable() (all []Payment) {
	for _, p := range a.Payments {
		if p.State.Live() || p.State == fsm.PaymentFailed && p.OnHold() > 0 {
			all = append(all, p)
		}
	}
	return all
}

// Holders returns the payments that hold captured money.
func (a *Attempt) Holders() (all []Payment) {
	for _, p := range a.Payments {
		if p.Held() > 0 {
			all = append(all, p)
		}
	}
	return all
}

// Acting is the payment that a capture, a cancel, a lookup and ProviderPaymentID mean: the first that holds captured
// money, else the first that captured some, that has money on hold, is with the provider, or is open; else the last one. It is nil without a payment.
func (a *Attempt) Acting() *Payment {
	ranks := []func(p *Payment) bool{
		func(p *Payment) bool { return p.Held() > 0 },
		func(p *Payment) bool { return p.State == fsm.PaymentCaptured },
		func(p *Payment) bool { return p.State == fsm.PaymentAuthorized },
		func(p *Payment) bool { return p.OnHold() > 0 },
		func(p *Payment) bool { return p.State == fsm.PaymentProcessing },
		func(p *Payment) bool { return p.State.Live() && !a.State.Final() },
		func(p *Payment) bool { return p.ID == a.ProviderPaymentID && a.State.Final() },
	}
	for _, is := range ranks {
		for i := range a.Payments {
			if is(&a.Payments[i]) {
				return &a.Payments[i]
			}
		}
	}
	if n := len(a.Payments); n > 0 {
		return &a.Payments[n-1]
	}
	return nil
}

// actingID is the provider's id of the acting payment. Without an acting payment it is the id of the next payment's
// container.
func (a *Attempt) actingID() string {
	p, open := a.Acting(), a.OpenContainer()
	if p != nil && p.ID != "" && (open == "" || !p.over()) {
		return p.ID
	}
	if open != "" {
		return open
	}
	if n := len(a.Containers); n > 0 {
		return a.Containers[n-1].ID
	}
	return a.ProviderPaymentID
}

// UnderWay reports whether a payment is with the provider or has money on hold: the attempt does not expire meanwhile.
func (a *Attempt) UnderWay() bool {
	return slices.ContainsFunc(a.Payments, func(p Payment) bool {
		return p.State == fsm.PaymentProcessing || p.State == fsm.PaymentAuthorized
	})
}

// HasBeside reports whether another payment of the attempt holds money or is undecided at the provider.
func (a *Attempt) HasBeside(id string) bool {
	return id != "" && slices.ContainsFunc(a.Payments, func(p Payment) bool {
		return p.ID != id && (p.State == fsm.PaymentProcessing || p.State == fsm.PaymentAuthorized || p.State == fsm.PaymentCaptured)
	})
}

// Waits reports whether a payment of the attempt may still begin or go on, by the reports so far: a payment is live, or
// a container is open.
func (a *Attempt) Waits() bool {
	return a.OpenContainer() != "" || slices.ContainsFunc(a.Payments, func(p Payment) bool { return p.State.Live() })
}

// subject finds the payment of a report, and makes it if it is new. Ambiguous is set if the report fits several
// payments; such a report is not applied. The payment is nil where the report is about the attempt as a whole, about a
// container, or about a payment beyond MaxPayments (full).
func (a *Attempt) subject(r Report, now time.Time) (p *Payment, ambiguous, full bool) {
	switch {
	case r.Payment != "":
		return a.paymentNamed(r, now)
	case r.Cause.Kind == CausePerson && r.Event == fsm.EventMoney:
		return a.Acting(), false, false
	case r.OfAttempt, r.Cause.Kind == CausePerson:
		return nil, false, false
	}
	candidates := a.inContainer(r.Container)
	switch {
	case len(candidates) == 1 && r.endsContainer() && candidates[0].outlives():
		return nil, false, false
	case len(candidates) == 1:
		return candidates[0], false, false
	case len(candidates) > 1:
		return nil, r.Container == "" && standing(r.Event) || r.Container != "" && pays(r.Event), false
	case r.Container != "" && !pays(r.Event), !standing(r.Event), r.Event == fsm.EventFailed, r.Event == fsm.EventSoftFailed:
		return nil, false, false
	}
	return a.add(r, now)
}

// endsContainer reports whether the report is of the end of a container, and names no payment.
func (r Report) endsContainer() bool {
	return r.Payment == "" && r.Container != "" && r.Event == fsm.EventFailed
}

// outlives reports whether the payment is not ended by its container's end: it has a name of its own, and its customer has
// done all that there is to do.
func (p *Payment) outlives() bool {
	return p.ID != "" && (p.State == fsm.PaymentProcessing || p.State == fsm.PaymentAuthorized)
}

// paymentNamed is the payment that a report names.
func (a *Attempt) paymentNamed(r Report, now time.Time) (p *Payment, ambiguous, full bool) {
	if p := a.Payment(r.Payment); p != nil {
		if p.Container == "" {
			p.Container = r.Container
		}
		return p, false, false
	}
	if p := a.nameless(r.Container); p != nil {
		p.ID, p.Container = r.Payment, cmpOr(p.Container, r.Container)
		return p, false, false
	}
	return a.add(r, now)
}

func (a *Attempt) add(r Report, now time.Time) (p *Payment, ambiguous, full bool) {
	if len(a.Payments) >= MaxPayments {
		return nil, false, true
	}
	a.Payments = append(a.Payments, Payment{
		ID: r.Payment, Container: r.Container, State: fsm.PaymentNamed, NamedBy: a.namedBy(r), FirstAt: now, LastAt: now,
	})
	return &a.Payments[len(a.Payments)-1], false, false
}

// inContainer returns the payments that a report without a payment id may be about: the payments of its container, or all
// payments.
func (a *Attempt) inContainer(id string) (all []*Payment) {
	for i := range a.Payments {
		if p := &a.Payments[i]; id == "" || p.Container == id {
			all = append(all, p)
		}
	}
	return all
}

// namedBy is the source that names a payment by a report.
func (a *Attempt) namedBy(r Report) NamedBy {
	switch r.Cause.Kind {
	case CauseCall, CausePay:
		return NamedByCall
	case CauseReport, CausePerson, CauseImport:
		return NamedByReport
	case CauseCheck:
		if r.BrowserMark && !a.Knows(r.Container) {
			return NamedByMark
		}
		return NamedByLookup
	case CauseWebhook:
	}
	if r.BrowserMark && !a.Knows(r.Container) {
		return NamedByMark
	}
	return NamedByWebhook
}

// standing reports whether an event is the state of a payment.
func standing(n fsm.Event) bool {
	switch n {
	case fsm.EventProcessing, fsm.EventActionRequired, fsm.EventAuthorized, fsm.EventSucceeded, fsm.EventSoftFailed, fsm.EventFailed:
		return true
	case fsm.EventUnknown, fsm.EventMoney, fsm.EventDisputed, fsm.EventReopened, fsm.EventProcessingAgain:
	}
	return false
}

// pays reports whether an event is of held or captured money.
func pays(n fsm.Event) bool { return n == fsm.EventAuthorized || n == fsm.EventSucceeded }

// notes takes over a report's statements about the container of its payment. A container ends when a payment was made in
// it, and when it fails itself. For a charge of ours it ends with its payment, unless the customer may try again there.
func (a *Attempt) notes(r Report) {
	used := pays(r.Event) || r.Event == fsm.EventFailed && !r.PageOpen && r.Payment != ""
	if a.Origin != OriginExternal && (pays(r.Event) || r.Event == fsm.EventFailed && !r.PageOpen) {
		a.PageOpen = false
	}
	if r.Container == "" {
		if a.Origin != OriginExternal && used {
			for i := range a.Containers {
				a.Containers[i].Ended = true // a charge of ours has one page, and the payment was made on it
			}
		}
		return
	}
	c := a.container(r.Container)
	if c == nil {
		if len(a.Containers) >= MaxPayments {
			return
		}
		a.Containers = append(a.Containers, Container{ID: r.Container})
		c = &a.Containers[len(a.Containers)-1]
	}
	over := r.Event == fsm.EventFailed && !r.PageOpen && (r.Payment == "" || a.Origin != OriginExternal)
	c.Ended = c.Ended || over || pays(r.Event)
}

// endContainer ends the payments of a container that are open: it expired, or was cancelled.
func (a *Attempt) endContainer(id string, f *Failure, now time.Time) {
	for i := range a.Payments {
		if p := &a.Payments[i]; p.Container == id && (p.State == fsm.PaymentOpen || p.State == fsm.PaymentNamed) {
			p.State, p.LastAt = fsm.PaymentFailed, now
			p.Failure = "expired"
			if f != nil {
				p.Failure = f.Code
			}
		}
	}
}

// step moves the payment by a report of its status. A report is stale if the provider dates it before the last report
// that moved the payment. A report of money is never stale.
func (p *Payment) step(r Report, now time.Time) (fsm.Verdict, error) {
	older := !r.At.IsZero() && r.At.Before(p.ReportedAt)
	if older && (!pays(r.Event) || r.Event == fsm.EventAuthorized && p.State == fsm.PaymentFailed) && standing(r.Event) && r.Event != fsm.EventFailed {
		return fsm.Stale, nil
	}
	step, err := fsm.NextPayment(p.State, r.Event)
	if err != nil {
		return Ignored, err
	}
	if step.Moved() {
		p.State, p.LastAt, p.ReportedAt = step.To, now, later(p.ReportedAt, r.At)
		p.Failure = ""
	}
	tried := p.State == fsm.PaymentNamed && r.Event == fsm.EventSoftFailed
	if tried || p.State == fsm.PaymentFailed && p.Failure == "" {
		p.Failure = "declined"
		if r.Failure != nil {
			p.Failure = r.Failure.Code
		}
	}
	return step.Verdict, nil
}

// count adds a movement to the sums of the payment.
func (p *Payment) count(m Movement) {
	switch m.Kind {
	case MovementAuthorization:
		p.Authorized += m.Money.Minor
	case MovementRelease:
		p.Authorized -= m.Money.Minor
	case MovementCapture:
		p.Captured += m.Money.Minor
	case MovementCaptureReversal:
		p.Captured -= m.Money.Minor
	case MovementRefund:
		p.Refunded += m.Money.Minor
	case MovementRefundReversal:
		p.Refunded -= m.Money.Minor
	case MovementChargeback:
		p.Disputed += m.Money.Minor
	case MovementChargebackReversal:
		p.Disputed -= m.Money.Minor
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
