package payment

import (
	"context"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// Question answers a provider that asks whether it may take a payment, by what
// the attempt is for and whether anybody still wants it. Nothing is stored: it
// may be asked any number of times.
func (s *Service) Question(ctx context.Context, account string, e webhooks.Event) (webhooks.Answer, error) {
	id, known, err := s.named(ctx, account, e.References)
	if err != nil {
		return "", err
	}
	if !known {
		return webhooks.AnswerUnknown, nil
	}
	a, err := s.store.Attempt(ctx, id)
	if err != nil {
		return "", err
	}
	o, err := s.store.Order(ctx, a.OrderID)
	if err != nil {
		return "", err
	}
	return answer(a, moneyOf(e), o), nil
}

// named finds the attempt that has one of some names, the most exact of which comes
// first.
func (s *Service) named(ctx context.Context, account string, names []string) (id AttemptID, known bool, err error) {
	refs := make([]Reference, len(names))
	for i, name := range names {
		refs[i] = Reference{account, storableName(name)}
	}
	var owners map[Reference]AttemptID
	err = s.store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		owners, err = tx.ReferencesFind(ctx, refs)
		return err
	})
	for _, ref := range refs {
		if id, known = owners[ref]; known {
			break
		}
	}
	return id, known, err
}

// answer refuses a payment that nobody wants any more, though its provider may have
// refused to cancel it, one that the customer's money is held for, and one of an order
// that holds money already.
func answer(a Attempt, asked *Money, o Order) webhooks.Answer {
	switch {
	case asked != nil && *asked != a.Money:
		return webhooks.AnswerAmount
	case a.State.Final():
		return webhooks.AnswerExpired
	case o.withheld(a.ID) != nil, a.HoldsMoney(), a.State == fsm.Authorized, a.Intent.Kind == IntentCancel:
		return webhooks.AnswerRefuse
	}
	return webhooks.AnswerAccept
}
