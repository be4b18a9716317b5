package payment

import (
	"context"
	"fmt"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// Told is what one event said of one of a payment's transactions; see
// Capabilities.Transactions.
type Told struct {
	Transaction string
	Kind        webhooks.Kind
}

// moved are the transactions by which money was held or taken, each once, the one that
// was told of first first.
func moved(all []Told) []string {
	var ids []string
	for _, t := range all {
		money := t.Kind == webhooks.KindAuthorized || t.Kind == webhooks.KindSucceeded
		if money && !slices.Contains(ids, t.Transaction) {
			ids = append(ids, t.Transaction)
		}
	}
	return ids
}

// transactions are those by which a payment's money was held or taken, as far as its
// webhooks have told. Without them nothing is sent.
func (s *Service) transactions(ctx context.Context, p Provider, a Attempt) ([]string, error) {
	if !p.Capabilities().Transactions {
		return nil, nil
	}
	var told map[AttemptID][]Told
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		told, err = tx.EventsTransactions(ctx, []AttemptID{a.ID})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return moved(told[a.ID]), nil
}

// look asks how a payment stands. A transaction that holds its money, or has taken it,
// counts before what the provider says of the last one.
func (s *Service) look(ctx context.Context, p Provider, a Attempt) (Outcome, error) {
	if a.State == fsm.Authorized || a.State.Final() {
		ids, err := s.transactions(ctx, p, a)
		if err != nil {
			return Outcome{}, err
		}
		for _, id := range ids {
			if id == a.ProviderPaymentID {
				continue
			}
			out, err := p.Lookup(ctx, id)
			if err != nil || out.News == fsm.NewsAuthorized || out.News == fsm.NewsSucceeded {
				return out, err
			}
		}
	}
	return p.Lookup(ctx, a.ProviderPaymentID)
}
