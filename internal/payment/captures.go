package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// A hold may be captured in several parts, if the pay said so: capture manual_multiple. The first part pays the order, and
// the attempt succeeds. The rest stays on hold until all of it is captured, a capture is the final one, or a cancel releases
// it. The parts are captured one after another: one operation of the slot take is open at a time.

// Captures is how often a provider captures one hold.
type Captures int

// The numbers of captures.
const (
	// CapturesNone providers hold no money for us.
	CapturesNone Captures = iota
	// CapturesWhole providers capture a hold once, all of it.
	CapturesWhole
	// CapturesOnce providers capture a hold once, all or a part of it, and release what is not captured.
	CapturesOnce
	// CapturesSeveral providers capture a hold in several parts. The last one releases the rest.
	CapturesSeveral
	// CapturesOpen providers capture a hold in several parts, and no capture ends the hold. A cancel releases the rest.
	CapturesOpen
)

// String names the number in reports.
func (c Captures) String() string {
	return [...]string{"none", "the whole", "once", "several", "several, open"}[c]
}

// Holds reports whether the pay only holds the money.
func (m CaptureMode) Holds() bool { return m == CaptureManual || m == CaptureSeveral }

// AtProvider is the mode as providers have it: the money is held, or taken at once.
func (m CaptureMode) AtProvider() CaptureMode {
	if m.Holds() {
		return CaptureManual
	}
	return m
}

// Rest is the amount of a captured payment that is still on hold for further captures, in minor units. Movements must be
// filled in.
func (a *Attempt) Rest() (rest int64) {
	if a.Capture != CaptureSeveral || !a.Succeeded() {
		return 0
	}
	for i := range a.Payments {
		if p := &a.Payments[i]; p.State == fsm.PaymentCaptured {
			rest += a.restOf(a.PaymentKey(p), a.Money.Currency)
		}
	}
	return rest
}

// ToCapture is the payment whose hold the next capture takes from: the first hold, and after a part the payment that has a rest
// of it on hold; nil if there is none.
func (a *Attempt) ToCapture() *Payment {
	further := a.Capture == CaptureSeveral && a.Succeeded()
	for i := range a.Payments {
		switch p := &a.Payments[i]; {
		case !further && p.State == fsm.PaymentAuthorized:
			return p
		case further && p.State == fsm.PaymentCaptured && a.restOf(a.PaymentKey(p), a.Money.Currency) > 0:
			return p
		}
	}
	return nil
}

// restOf is the amount on hold of a payment beside its captures. A capture that was reversed is no money on hold.
func (a *Attempt) restOf(key string, c Currency) int64 {
	of := func(m Movement) bool { return m.Payment == key }
	return max(0, a.authorized(c, of)-a.sum(MovementCapture, c, of))
}

// Effected reports whether the money of a capture has been captured, by the movements: by its name where the provider
// names captures and has named this one, else by the sum.
func (a *Attempt) Effected(o *Operation) bool {
	switch {
	case o.Kind != OperationCapture:
		return false
	case o.ProviderRef != "" && slices.ContainsFunc(a.Movements, Movement.namesCapture):
		_, made := a.Movement(MovementCapture, o.ProviderRef)
		return made
	}
	return a.Sums(MovementCapture)-o.Before >= o.Amount
}

// received reports whether one of several captures was received by a provider without lookups: only a webhook ends it.
func (a *Attempt) received(o *Operation, can Capabilities) bool {
	return a.Capture == CaptureSeveral && o.Kind == OperationCapture && o.State == fsm.OperationAccepted && can.Blind()
}

func (m Movement) namesCapture() bool { return m.Kind == MovementCapture && m.Source == MovementNamed }

// Fit fits a report of a capture to the attempt: it is a part only of a hold that is captured in several parts. An
// operation gets the provider's id of it if the report carries its key.
func (a *Attempt) Fit(r *Report) {
	several := a.Capture == CaptureSeveral
	r.Movements = slices.Clone(r.Movements)
	for i, m := range r.Movements {
		if m.Kind != MovementCapture {
			continue
		}
		if m.Part && !several {
			r.Movements[i] = m.AsTotal()
		}
		for j := range a.Operations {
			if o := &a.Operations[j]; several && m.ID != "" && o.Kind == OperationCapture && o.Open() && o.ProviderRef == "" && o.Key() == m.Reference {
				o.ProviderRef = m.ID
			}
		}
	}
}

// AsTotal is the report as the total of its payment: nothing else was captured.
func (t MovementReport) AsTotal() MovementReport {
	if t.Part {
		t.ID, t.Reference, t.Part = "", "", false
	}
	return t
}

// CaptureNamed is the recorded capture with an id of the provider's, of one of several captures of a hold.
func (a *Attempt) CaptureNamed(id string) (Movement, bool) {
	if a.Capture != CaptureSeveral || id == "" || a.Payment(id) != nil {
		return Movement{}, false
	}
	return a.Movement(MovementCapture, id)
}

// NamedCaptures is how many captures of the attempt the provider has named.
func (a *Attempt) NamedCaptures() (n int) {
	for _, m := range a.Movements {
		if m.namesCapture() {
			n++
		}
	}
	return n
}

// OnlyCapture is the provider's id of the one capture so far of a hold that is captured in several parts, where the provider
// refunds captures; empty otherwise. A refund that names nothing keeps it: sent again after the next capture, it must not go to
// that one.
func (a *Attempt) OnlyCapture(can Capabilities) string {
	if can.Refunds != RefundsOfCaptures || a.Capture != CaptureSeveral || a.NamedCaptures() != 1 {
		return ""
	}
	i := slices.IndexFunc(a.Movements, Movement.namesCapture)
	return a.Movements[i].ProviderID
}

// stated returns the movements of a report. Its captures are one, with the sum that their payment has once they are recorded,
// where the report names them.
func (a *Attempt) stated(movements []MovementReport, key string, r Report) (all []MovementReport) {
	with, named := *a, false
	with.Payments = slices.Clone(a.Payments)
	for _, m := range movements {
		if m.Kind != MovementCapture || m.Money.Currency != a.Money.Currency {
			all = append(all, m)
			continue
		}
		named = named || m.ID != ""
		with.record(m, key, r.Cause, r.At)
	}
	if !named {
		return movements
	}
	if sum := with.captures(key); sum != a.captures(key) {
		all = append(all, MovementReport{Kind: MovementCapture, Money: Money{sum, a.Money.Currency}})
	}
	return all
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

// CaptureBy is the last capture of an idempotency key; nil if there is none. A key whose capture was refused may be used again.
func (a *Attempt) CaptureBy(key string) *Operation {
	for i := range slices.Backward(a.Operations) {
		if o := &a.Operations[i]; o.Kind == OperationCapture && o.OriginID == key {
			return o
		}
	}
	return nil
}

// endRest records the end of a hold whose final capture has an effect.
func (a *Attempt) endRest(r Report, now time.Time) {
	take := a.OpenTake()
	if a.Capture != CaptureSeveral || !a.Succeeded() || take == nil || !take.Final || r.KeepsRest || !a.Effected(take) {
		return
	}
	for i := range a.Payments {
		a.releaseRest(&a.Payments[i], r, now)
	}
}

// releaseRest records that nothing is on hold any more of a payment that is captured in several parts.
func (a *Attempt) releaseRest(p *Payment, r Report, now time.Time) {
	if a.Capture != CaptureSeveral || p.State != fsm.PaymentCaptured {
		return
	}
	key := a.PaymentKey(p)
	t := MovementReport{Kind: MovementRelease, Money: Money{0, a.Money.Currency}, At: r.At}
	a.appendMovement(t, MovementTotal, key, a.restOf(key, a.Money.Currency), r.Cause, now)
}
