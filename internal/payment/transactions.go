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

// loadTransactions reads what was told of the transactions of locked attempts.
func (b *batch) loadTransactions(ctx context.Context, ids ...AttemptID) error {
	ids = slices.DeleteFunc(ids, func(id AttemptID) bool { _, done := b.transactions[id]; return done })
	if len(ids) == 0 {
		return nil
	}
	told, err := b.tx.EventsTransactions(ctx, ids)
	if err != nil {
		return err
	}
	if b.transactions == nil {
		b.transactions = map[AttemptID][]Told{}
	}
	for _, id := range ids {
		b.transactions[id] = told[id]
	}
	return nil
}

// tell adds what an event said of a transaction to what was told of them.
func (b *batch) tell(id AttemptID, e webhooks.Event) {
	if e.Transaction == "" {
		return
	}
	if b.transactions == nil {
		b.transactions = map[AttemptID][]Told{}
	}
	b.transactions[id] = append(b.transactions[id], Told{e.Transaction, e.Kind})
}

// beside are the transactions other than one of which is known that they hold or took
// money, and not that they gave it up.
func beside(told []Told, one string) []string {
	return slices.DeleteFunc(moved(told), func(id string) bool {
		return id == one || slices.Contains(told, Told{id, webhooks.KindFailed})
	})
}

// elsewhere reports whether an event speaks of a transaction that failed, or was given
// up, while another one holds the payment's money.
func (b *batch) elsewhere(a Attempt, e webhooks.Event) bool {
	if e.Transaction == "" || a.State != fsm.Authorized {
		return false
	}
	told := b.transactions[a.ID]
	// What was declined never held the money, whoever told that it is held.
	return e.Kind == webhooks.KindFailed && len(beside(told, e.Transaction)) > 0 ||
		e.Kind == webhooks.KindSoftFailed && !slices.Contains(moved(told), e.Transaction)
}

// paidTwice tells a person of money that was held or taken a second time under one
// payment, by another transaction than before; once, whatever else is told of that
// transaction. A hold of a payment that has failed is given up like any other.
func (b *batch) paidTwice(c *Change, e *StoredEvent) {
	told, one := b.transactions[c.Attempt.ID], e.Event.Transaction
	money := e.Event.Kind == webhooks.KindSucceeded || e.Event.Kind == webhooks.KindAuthorized && !c.Attempt.Failed()
	if one == "" || !money || len(beside(told, one)) == 0 || slices.Contains(moved(told), one) {
		return
	}
	if e.Verdict != fsm.Applied {
		e.Verdict = fsm.Conflict
	}
	b.open(c, NeedsReview, "The customer paid a second time under this one payment, by the provider's transaction "+one+
		". Give one of the two back in its dashboard; what is paid back there is counted here as a refund of this payment.")
	d := b.latest()
	d.Money, d.About = moneyOf(e.Event), aboutTransaction+one
}

// otherPayment tells a person of money that was held or taken for an attempt by another
// payment than the one that it is known by; once for each. It reports whether it was.
func (b *batch) otherPayment(c *Change, n News) bool {
	known, other := c.Attempt.ProviderPaymentID, n.ProviderPaymentID
	money := n.News == fsm.NewsSucceeded || n.News == fsm.NewsAuthorized
	if p := b.accounts[c.Attempt.Account].Provider; !money || other == "" || other == known ||
		n.Cause.Kind == CausePerson || p == nil || !p.Capabilities().OneID {
		return false
	}
	b.open(c, NeedsReview, "The provider holds or has taken money for this payment under the id "+other+
		", beside "+known+", by which it is known here. See in its dashboard whether the customer paid twice, and give one of the two back there: "+
		"what is captured, cancelled or refunded here is "+known+".")
	d := b.latest()
	d.Money, d.About = n.Money, aboutPayment+other
	return true
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

// standing asks how a payment stands. A transaction that holds its money, or has taken it,
// counts before what the provider says of the last one.
func (s *Service) standing(ctx context.Context, p Provider, a Attempt) (Outcome, error) {
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
