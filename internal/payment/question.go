package payment

import (
	"context"

	"github.com/paylatch/paylatch/webhooks"
)

// Question answers a provider that asks whether it may take a payment, by what
// the attempt is for and whether anybody still wants it. Nothing is stored: it
// may be asked any number of times.
func (s *Service) Question(ctx context.Context, account string, e webhooks.Event) (webhooks.Answer, error) {
	var id *AttemptID
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		refs := make([]Reference, 0, len(e.References))
		for _, name := range e.References {
			refs = append(refs, Reference{account, name})
		}
		found, err := tx.AttemptsByReference(ctx, refs)
		if id = nil; err == nil && len(found) > 0 {
			id = &found[0].ID
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if id == nil {
		return webhooks.AnswerUnknown, nil
	}
	a, err := s.store.Attempt(ctx, *id)
	if err != nil {
		return "", err
	}
	o, err := s.store.Order(ctx, a.OrderID)
	if err != nil {
		return "", err
	}
	return answer(a, moneyOf(e), o.CancelRequestedAt != nil), nil
}

// answer refuses a payment that nobody wants any more, though its provider may have
// refused to cancel it.
func answer(a Attempt, asked *Money, cancelled bool) webhooks.Answer {
	switch {
	case asked != nil && *asked != a.Money:
		return webhooks.AnswerAmount
	case a.State.Final():
		return webhooks.AnswerExpired
	case cancelled, a.Intent.Kind == IntentCancel:
		return webhooks.AnswerRefuse
	}
	return webhooks.AnswerAccept
}
