package changeset

import (
	"cmp"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// Reachable reports whether a payment can be looked up or cancelled. Its account must have a gateway, and the gateway
// must have the payment's name or find the payment by ours.
func (r Rules) Reachable(a payment.Attempt) bool {
	p := r.AccountOf(a).Provider
	return p != nil && (a.ProviderPaymentID != "" || p.Capabilities().Finds())
}

// EndsByCancel reports whether an external payment is ended by a cancel: it can be looked up or cancelled, or the
// provider has it under way or on hold. Any other external payment fails at once.
func (r Rules) EndsByCancel(a payment.Attempt) bool {
	return r.Reachable(a) || a.State == fsm.Authorized || a.UnderWay()
}

// Abandon ends an external payment, by a report or by expiry: by a cancel, or at once. The cancel keeps the id of the
// cause.
func (s *Changeset) Abandon(c *Change, origin payment.OperationOrigin, f *payment.Failure, cause payment.Cause) {
	a := &c.Attempt
	if s.EndsByCancel(*a) {
		cancel := s.EnsureCancel(c, origin)
		cancel.OriginID = cmp.Or(cancel.OriginID, cause.ID)
		cancel.Sooner(s.Now())
		if a.Failure == nil {
			a.Failure = f
		}
		return
	}
	f.ProviderCode = payment.NotAsked
	s.Apply(c, payment.Report{OfAttempt: true, Event: fsm.EventFailed, Failure: f, Releases: payment.HoldsAll, Cause: cause})
}

// Until makes an operation due no later than the expiry of its external payment. If the payment can't be looked up, the
// operation waits until then.
func (s *Changeset) Until(c *Change, o *payment.Operation) {
	if end := *c.Attempt.ExpiresAt; !s.Reachable(c.Attempt) {
		o.Wait(end)
	} else {
		o.Sooner(end)
	}
}

// named makes the lookup of an external payment due soon, once it has its first name.
func (s *Changeset) named(c *Change, o *payment.Operation) {
	if c.before.ProviderPaymentID == "" && c.Attempt.ProviderPaymentID != "" && o.Kind == payment.OperationCheck && s.Reachable(c.Attempt) {
		o.Sooner(s.Now().Add(s.Schedule.Delay(0)))
	}
}

// Learn applies the provider's names of an external payment.
func (s *Changeset) Learn(c *Change, id string, references []string, cause payment.Cause) {
	s.Apply(c, payment.Report{Event: fsm.EventMoney, Payment: id, References: references, Cause: cause})
}
