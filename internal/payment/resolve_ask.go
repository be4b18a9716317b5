package payment

import (
	"cmp"
	"context"
	"errors"

	"github.com/paylatch/paylatch/fsm"
)

// witness is what the provider says of the payment, or of the refund, that a person has
// found there. Silent says that it could not be asked, or does not tell.
type witness struct {
	silent bool
	paid   Outcome
	refund RefundOutcome
}

// ask looks up what a person calls paid. It returns a ResolutionError if the provider says
// that it was not. Whatever is final is not asked about: then there is nothing to decide.
func (s *Service) askPaid(ctx context.Context, d Discrepancy, name string) (witness, error) {
	if d.AttemptID == nil {
		return witness{}, nil
	}
	a, err := s.store.Attempt(ctx, *d.AttemptID)
	if err != nil {
		return witness{}, err
	}
	account, ok := s.account(a.Account)
	if !ok || account.Provider == nil {
		return witness{silent: true}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProviderTimeout)
	defer cancel()
	if id, of := d.Refund(); of {
		return s.askPaidRefund(ctx, account.Provider, a, id, name)
	}
	if a.State.Final() || account.Provider.Capabilities().Blind {
		return witness{silent: true}, nil
	}
	// A payment of another attempt is refused for that, whatever it is.
	if owner, err := s.ownerOf(ctx, Reference{a.Account, name}); err != nil || owner != (AttemptID{}) && owner != a.ID {
		return witness{silent: true}, err
	}
	out, err := account.Provider.Lookup(ctx, name)
	switch {
	case errors.Is(err, ErrNoSuchPayment):
		return witness{}, contradicted("it knows no payment " + name)
	case err != nil, out.News == fsm.NewsUnknown, out.News == "":
		return witness{silent: true}, nil
	case out.News != fsm.NewsSucceeded:
		return witness{}, contradicted("the payment " + name + " is " + string(out.News))
	}
	return witness{paid: out}, nil
}

// ownerOf is whose name this is; zero for nobody's.
func (s *Service) ownerOf(ctx context.Context, ref Reference) (owner AttemptID, err error) {
	err = s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		owners, err := tx.ReferencesFind(ctx, []Reference{ref})
		owner = owners[ref]
		return err
	})
	return owner, err
}

// askPaidRefund is askPaid of a refund. One that is under way may well be paid, and a list
// that trails need not have it yet.
func (s *Service) askPaidRefund(ctx context.Context, p Provider, a Attempt, id RefundID, name string) (witness, error) {
	r, err := s.store.Refund(ctx, id)
	if err != nil {
		return witness{}, err
	}
	if r.State.Final() || !p.Capabilities().LookupRefund {
		return witness{silent: true}, nil
	}
	out, err := p.LookupRefund(ctx, RefundRef{
		Refund: r.ID, ProviderRefundID: cmp.Or(name, r.ProviderRefundID), ProviderPaymentID: a.ProviderPaymentID,
		Age: r.ReadAt.Sub(r.UpdatedAt), Money: r.Money, Taken: Money{a.Captured, a.Money.Currency},
	})
	switch {
	case errors.Is(err, ErrNoSuchPayment) && p.Capabilities().RefundsConsistent:
		return witness{}, contradicted("it knows no refund " + name)
	case err != nil:
		return witness{silent: true}, nil //nolint:nilerr // then a second person is asked
	case out.Unnamed, out.News != fsm.NewsSucceeded && out.News != fsm.NewsFailed:
		return witness{silent: true}, nil
	case out.News == fsm.NewsFailed:
		return witness{}, contradicted("the refund " + name + " is failed")
	}
	return witness{refund: out}, nil
}

func contradicted(said string) error {
	return &ResolutionError{Reason: "The provider was asked, and it says that " + said + "."}
}
