package commands

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ResolutionEvidence is the result of the lookups for a resolution, before its transaction.
type ResolutionEvidence struct {
	// silent is set if a lookup was not possible or not conclusive.
	silent bool
	// stranger is set if the payment that a person has found has no mark of ours, or the refund has another amount.
	stranger bool
	// seen is the attempt with its operations as the lookup saw it; zero without such a lookup.
	seen payment.Attempt
	// paid and refund are the outcomes that the lookup found.
	paid   gateway.Outcome
	refund gateway.RefundOutcome
}

// ResolutionStore reads the attempts and refunds to look up.
type ResolutionStore interface {
	Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error)
	Refund(ctx context.Context, id payment.RefundID) (payment.Refund, error)
}

// Sights look up the current state at the provider, and apply a contradiction of a person; *runner.Runner in the
// program.
type Sights interface {
	Look(ctx context.Context, id payment.AttemptID, cause payment.Cause) (gateway.Sight, error)
	LookRefund(ctx context.Context, of payment.AttemptID, id payment.RefundID, cause payment.Cause) (gateway.Sight, error)
}

// ResolutionLookups look up the payments and refunds that a person has found at the providers.
type ResolutionLookups struct {
	Store  ResolutionStore
	Sights Sights
	// Account is the account of an attempt whose provider can be called. Timeout is the longest time of a lookup.
	Account func(a payment.Attempt) (gateway.Account, bool)
	Timeout time.Duration
	// Owner is the attempt that has a name; zero if there is none.
	Owner func(ctx context.Context, ref payment.Reference) (payment.AttemptID, error)
}

// Freed looks up the current state before a resolution frees money, or the order, for another move. It returns a
// payment.ResolutionError if the provider contradicts the resolution. The result of the lookup is applied then.
func (l ResolutionLookups) Freed(ctx context.Context, d payment.Discrepancy, choice Choice) (ResolutionEvidence, error) {
	cause := payment.Cause{Kind: payment.CauseCheck, ID: "staff:" + choice.By}
	if id, of := d.Refund(); of {
		s, err := l.Sights.LookRefund(ctx, *d.AttemptID, id, cause)
		if err == nil && !s.Silent && s.Event != "" && s.Event != fsm.EventFailed {
			err = contradicted("the refund is " + string(s.Event))
		}
		return ResolutionEvidence{silent: s.Silent, seen: s.Attempt}, err
	}
	s, err := l.Sights.Look(ctx, *d.AttemptID, cause)
	if err != nil || s.Silent {
		return ResolutionEvidence{silent: s.Silent, seen: s.Attempt}, err
	}
	found, err := freed(d, choice, s)
	found.seen = s.Attempt
	return found, err
}

// freed compares a resolution that frees money with the status of the payment.
func freed(d payment.Discrepancy, choice Choice, s gateway.Sight) (ResolutionEvidence, error) {
	a := s.Attempt
	if d.Kind == payment.CurrencyMismatch && !s.Foreign && s.Event != fsm.EventFailed {
		return ResolutionEvidence{silent: true}, nil // the payment's state in its own currency proves nothing about the other one
	}
	returned := !a.HoldsMoney() && a.Sums(payment.MovementCapture)+foreignCaptures(a) > 0
	switch s.Event {
	case fsm.EventSucceeded:
		if returned {
			return ResolutionEvidence{}, nil
		}
		if choice.Resolution == payment.ResolvedRefundedElsewhere && !s.ShowsRefunds {
			return ResolutionEvidence{silent: true}, nil
		}
		return ResolutionEvidence{}, contradicted("the payment is paid, and " + held(a) + " of it was not refunded")
	case fsm.EventAuthorized:
		return ResolutionEvidence{}, contradicted("the payment's money is on hold. Cancel the payment, or release the hold there")
	case fsm.EventProcessing:
		return ResolutionEvidence{}, contradicted("the payment is under way")
	case fsm.EventSoftFailed:
		return ResolutionEvidence{silent: true}, nil // nothing is taken; some providers show a declined payment so for ever, even a cancelled one
	case fsm.EventActionRequired:
		// A person ends a payment that the provider can't cancel.
		if a.State.Final() || !s.Cancels || d.About == payment.AboutNotCancelled {
			return ResolutionEvidence{silent: true}, nil
		}
		return ResolutionEvidence{}, contradicted("the payment is open: the customer may still pay it. Cancel the payment first")
	case fsm.EventUnknown, fsm.EventFailed, fsm.EventMoney, fsm.EventDisputed, fsm.EventReopened, fsm.EventProcessingAgain:
	}
	return ResolutionEvidence{}, nil
}

// held is the money that an attempt holds, in words.
func held(a payment.Attempt) string {
	if a.Held() == 0 && a.ForeignMoney {
		return a.Foreign().String()
	}
	return payment.Money{Minor: a.Held(), Currency: a.Money.Currency}.String()
}

// foreignCaptures is how many captures in another currency than the attempt's were recorded.
func foreignCaptures(a payment.Attempt) (n int64) {
	for _, m := range a.Movements {
		if m.Kind == payment.MovementCapture && m.Money.Currency != a.Money.Currency {
			n++
		}
	}
	return n
}

// Paid looks up a payment or refund that a person calls paid. It returns a payment.ResolutionError if the provider
// reports that it was not paid. A final attempt or refund needs no lookup.
func (l ResolutionLookups) Paid(ctx context.Context, d payment.Discrepancy, name string) (ResolutionEvidence, error) {
	if d.AttemptID == nil {
		return ResolutionEvidence{}, nil
	}
	a, err := l.Store.Attempt(ctx, *d.AttemptID)
	if err != nil {
		return ResolutionEvidence{}, err
	}
	account, ok := l.Account(a)
	if !ok {
		return ResolutionEvidence{silent: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	if id, of := d.Refund(); of {
		return l.refund(ctx, account.Provider, a, id, name)
	}
	if a.State.Final() || account.Provider.Capabilities().Blind() {
		return ResolutionEvidence{silent: true}, nil
	}
	return l.payment(ctx, account, a, name)
}

// payment is Paid of a payment.
func (l ResolutionLookups) payment(ctx context.Context, account gateway.Account, a payment.Attempt, name string) (ResolutionEvidence, error) {
	// A payment of another attempt is refused for that alone.
	owner, err := l.Owner(ctx, payment.Reference{Account: a.Account, Name: name})
	if err != nil || owner != (payment.AttemptID{}) && owner != a.ID {
		return ResolutionEvidence{silent: true}, err
	}
	out, err := account.Provider.Lookup(ctx, name)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return ResolutionEvidence{}, contradicted("there is no payment " + name)
	case err != nil, out.Event == fsm.EventUnknown, out.Event == "":
		return ResolutionEvidence{silent: true}, nil //nolint:nilerr // then a second person must agree
	case out.Event != fsm.EventSucceeded:
		return ResolutionEvidence{}, contradicted("the payment " + name + " is " + string(out.Event))
	case out.Payee != "" && len(account.Payees) > 0 && !slices.Contains(account.Payees, out.Payee):
		return ResolutionEvidence{}, contradicted("the payment " + name + " was paid to " + out.Payee + ", which is not this account")
	case out.Live != nil && account.Live != nil && *out.Live != *account.Live:
		return ResolutionEvidence{}, contradicted("the payment " + name + " is of the other mode (test or live)")
	}
	ours := owner == a.ID || slices.Contains(out.References, a.ID.String()) || marked(ctx, account.Provider, a, out)
	return ResolutionEvidence{paid: out, stranger: !ours}, nil
}

// marked reports whether the provider finds a payment by the attempt's mark.
func marked(ctx context.Context, p gateway.Provider, a payment.Attempt, out gateway.Outcome) bool {
	if !p.Capabilities().Finds() {
		return false
	}
	found, err := p.Find(ctx, a.ID)
	return err == nil && found.ProviderPaymentID != "" && found.ProviderPaymentID == out.ProviderPaymentID
}

// refund is Paid for a refund. A refund that is under way may still be paid, and a list that trails may not have it yet.
func (l ResolutionLookups) refund(ctx context.Context, p gateway.Provider, a payment.Attempt, id payment.RefundID, name string) (ResolutionEvidence, error) {
	r, err := l.Store.Refund(ctx, id)
	if err != nil {
		return ResolutionEvidence{}, err
	}
	if r.State.Final() || p.Capabilities().RefundLookup == payment.RefundLookupNone {
		return ResolutionEvidence{silent: true}, nil
	}
	ref := gateway.RefundRef{
		Refund: r.ID, ProviderRefundID: cmp.Or(name, r.ProviderRefundID), ProviderPaymentID: a.ProviderPaymentID,
		Age: r.ReadAt.Sub(r.CreatedAt), Money: r.Money, Taken: payment.Money{Minor: a.AmountCaptured(), Currency: a.Money.Currency},
	}
	if of := payment.RefundedPayment(&a, r.ProviderPaymentID, r.Money.Minor); of != nil {
		ref.ProviderPaymentID, ref.Container, ref.Taken.Minor = of.ID, of.Container, of.Captured
	}
	out, err := p.LookupRefund(ctx, ref)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && p.Capabilities().RefundsConsistent:
		return ResolutionEvidence{}, contradicted("there is no refund " + name)
	case err != nil:
		return ResolutionEvidence{silent: true}, nil //nolint:nilerr // then a second person must confirm
	case out.Unnamed, out.Event != fsm.EventSucceeded && out.Event != fsm.EventFailed:
		return ResolutionEvidence{silent: true}, nil
	case out.Event == fsm.EventFailed:
		return ResolutionEvidence{}, contradicted("the refund " + name + " is failed")
	}
	return ResolutionEvidence{refund: out, stranger: out.Money != nil && *out.Money != r.Money}, nil
}

func contradicted(answer string) error {
	return &payment.ResolutionError{Reason: "The provider's response contradicts this resolution: " + answer + "."}
}
