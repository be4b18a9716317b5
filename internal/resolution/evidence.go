package resolution

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/refund"
	"github.com/paylatch/paylatch/internal/review"
)

// Evidence is the response about the payment, or the refund, that a person has found at the
// provider. Silent is set if a lookup was not possible, or leaves it open.
type Evidence struct {
	silent bool
	paid   gateway.Outcome
	refund gateway.RefundOutcome
}

// Store reads what is looked up.
type Store interface {
	Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error)
	Refund(ctx context.Context, id payment.RefundID) (refund.Refund, error)
}

// Lookups look up at the providers what a person has found there.
type Lookups struct {
	Store Store
	// Account is a configured account, Timeout the most that a lookup may take.
	Account func(name string) (gateway.Account, bool)
	Timeout time.Duration
	// Owner is the attempt that has a name; zero without one.
	Owner func(ctx context.Context, ref payment.Reference) (payment.AttemptID, error)
}

// Paid looks up what a person calls paid. It returns a review.ResolutionError if the provider
// reports that it was not. Of what is final nothing is left to decide.
func (l Lookups) Paid(ctx context.Context, d review.Discrepancy, name string) (Evidence, error) {
	if d.AttemptID == nil {
		return Evidence{}, nil
	}
	a, err := l.Store.Attempt(ctx, *d.AttemptID)
	if err != nil {
		return Evidence{}, err
	}
	account, ok := l.Account(a.Account)
	if !ok {
		return Evidence{silent: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	if id, of := d.Refund(); of {
		return l.refund(ctx, account.Provider, a, id, name)
	}
	if a.State.Final() || account.Provider.Capabilities().Blind {
		return Evidence{silent: true}, nil
	}
	// A payment of another attempt is refused for that, whatever it is.
	if owner, err := l.Owner(ctx, payment.Reference{Account: a.Account, Name: name}); err != nil || owner != (payment.AttemptID{}) && owner != a.ID {
		return Evidence{silent: true}, err
	}
	out, err := account.Provider.Lookup(ctx, name)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		return Evidence{}, contradicted("it has no payment " + name)
	case err != nil, out.News == fsm.NewsUnknown, out.News == "":
		return Evidence{silent: true}, nil
	case out.News != fsm.NewsSucceeded:
		return Evidence{}, contradicted("the payment " + name + " is " + string(out.News))
	}
	return Evidence{paid: out}, nil
}

// refund is Paid of a refund. One that is under way may well be paid, and a list
// that trails need not have it yet.
func (l Lookups) refund(ctx context.Context, p gateway.Provider, a payment.Attempt, id payment.RefundID, name string) (Evidence, error) {
	r, err := l.Store.Refund(ctx, id)
	if err != nil {
		return Evidence{}, err
	}
	if r.State.Final() || !p.Capabilities().LookupRefund {
		return Evidence{silent: true}, nil
	}
	out, err := p.LookupRefund(ctx, gateway.RefundRef{
		Refund: r.ID, ProviderRefundID: cmp.Or(name, r.ProviderRefundID), ProviderPaymentID: a.ProviderPaymentID,
		Age: r.ReadAt.Sub(r.CreatedAt), Money: r.Money, Taken: payment.Money{Minor: a.AmountCaptured(), Currency: a.Money.Currency},
	})
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && p.Capabilities().RefundsConsistent:
		return Evidence{}, contradicted("it has no refund " + name)
	case err != nil:
		return Evidence{silent: true}, nil //nolint:nilerr // then a second person must confirm
	case out.Unnamed, out.News != fsm.NewsSucceeded && out.News != fsm.NewsFailed:
		return Evidence{silent: true}, nil
	case out.News == fsm.NewsFailed:
		return Evidence{}, contradicted("the refund " + name + " is failed")
	}
	return Evidence{refund: out}, nil
}

func contradicted(answer string) error {
	return &review.ResolutionError{Reason: "The provider was asked, and it says that " + answer + "."}
}
