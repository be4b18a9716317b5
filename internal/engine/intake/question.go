package intake

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Question decides whether a provider that inquires may take a payment, by the attempt's terms and
// the permit of a completion. Nothing is stored: it may be called any number of times.
func (in *Inbox) Question(ctx context.Context, account string, e webhooks.Event) (webhooks.Answer, error) {
	id, known, err := in.owner(ctx, account, e.References)
	if err != nil {
		return "", err
	}
	if !known {
		return webhooks.AnswerUnknown, nil
	}
	a, o, err := in.locked(ctx, id)
	if err != nil {
		return "", err
	}
	return answer(a, payment.EventMoney(e), o), nil
}

// locked reads an attempt with its operations, and its order.
func (in *Inbox) locked(ctx context.Context, id payment.AttemptID) (a payment.Attempt, o payment.Order, err error) {
	err = in.Store.InEventTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		a, o, err = tx.AttemptLock(ctx, id)
		return err
	})
	return a, o, err
}

// owner finds the attempt that has one of some names. The most exact name comes first.
func (in *Inbox) owner(ctx context.Context, account string, names []string) (id payment.AttemptID, known bool, err error) {
	refs := make([]payment.Reference, len(names))
	for i, name := range names {
		refs[i] = payment.Reference{Account: account, Name: payment.StorableName(name)}
	}
	owners, err := in.Store.ReferencesKnown(ctx, refs)
	for _, ref := range refs {
		if id, known = owners[ref]; known {
			break
		}
	}
	return id, known, err
}

// answer refuses a payment that is not wanted any more, even if its provider has refused to cancel it. It refuses a
// payment with money on hold or captured, and a payment of an order that holds money.
func answer(a payment.Attempt, asked *payment.Money, o payment.Order) webhooks.Answer {
	switch {
	case asked != nil && *asked != a.Money:
		return webhooks.AnswerAmount
	case a.State.Final():
		return webhooks.AnswerExpired
	case !a.TakesCompletion(o):
		return webhooks.AnswerRefuse
	}
	return webhooks.AnswerAccept
}
