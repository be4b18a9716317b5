package payment

import (
	"context"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// batch gathers what one transaction changes, so that all of it is written at
// once: one update an attempt, however much news it got.
type batch struct {
	tx       Tx
	accounts map[string]Account
	now      time.Time
	changes  map[AttemptID]*Change
	order    []AttemptID
	// known are names that attempts are known by.
	known         map[Reference]AttemptID
	discrepancies []Discrepancy
	late          []lateSuccess
	// won are attempts that succeeded beside others of their order.
	won []*Change
	// refunds are those of attempts that need them, all locked.
	refunds       map[AttemptID][]*Refund
	refundChanges []refundChange
}

// lateSuccess is a discrepancy whose kind the order's other attempts decide.
type lateSuccess struct {
	change *Change
	at     int
}

func (s *Service) newBatch(tx Tx) *batch {
	return &batch{tx: tx, accounts: s.opts.Accounts, now: tx.Now(), changes: map[AttemptID]*Change{}}
}

// change returns what has become of a locked attempt so far.
func (b *batch) change(a Attempt) *Change {
	c, ok := b.changes[a.ID]
	if !ok {
		c = &Change{Attempt: a, Was: a.Version}
		b.changes[a.ID] = c
		b.order = append(b.order, a.ID)
	}
	return c
}

// advance applies news on top of what the batch already knows.
func (b *batch) advance(c *Change, n News) fsm.Verdict {
	t, verdict := advance(&c.Attempt, n, b.now)
	if t.Version != 0 {
		c.Transitions = append(c.Transitions, t)
	}
	for _, name := range n.Names {
		b.name(c, name)
	}
	b.name(c, n.ProviderPaymentID)
	if t.To == fsm.Succeeded && t.From != t.To && c.Attempt.Siblings {
		b.won = append(b.won, c)
	}
	if t.Opens != "" {
		b.openFor(c, t.Opens, n.Money, n.Cause)
	}
	return verdict
}

// openFor opens what one piece of news shows. Money can be taken back more than
// once: each such event counts by itself.
func (b *batch) openFor(c *Change, kind DiscrepancyKind, money *Money, cause Cause) {
	b.open(c, kind, "")
	d := &b.discrepancies[len(b.discrepancies)-1]
	d.Money = money
	if cause.Kind == CauseWebhook && (kind == PaymentReversed || kind == RefundReversed) {
		d.Event = EventKey{c.Attempt.Account, cause.ID}
	}
}

// name notes a name that the attempt may be new to. One that belongs to another
// attempt stays there, for a person to look at.
func (b *batch) name(c *Change, name string) {
	ref := Reference{c.Attempt.Account, name}
	owner, known := b.known[ref]
	switch {
	case name == "", name == c.Attempt.ID.String(), slices.Contains(c.Names, name), known && owner == c.Attempt.ID:
	case known:
		b.shared(c, name)
	default:
		c.Names = append(c.Names, name)
	}
}

func (b *batch) shared(c *Change, name string) {
	b.open(c, NeedsReview, "The provider's id "+name+" was given to two attempts: find out which of them it pays for.")
}

func (b *batch) open(c *Change, kind DiscrepancyKind, text string) {
	id := c.Attempt.ID
	if kind == LateSuccess {
		b.late = append(b.late, lateSuccess{c, len(b.discrepancies)})
	}
	if text == "" {
		text = kind.explain()
	}
	b.discrepancies = append(b.discrepancies, Discrepancy{
		Kind: kind, OrderID: c.Attempt.OrderID, AttemptID: &id, Text: text, At: b.now,
	})
}

// save writes the batch, applies parked events that a new name sets free, and
// opens the discrepancies.
func (b *batch) save(ctx context.Context) error {
	if err := b.unpark(ctx); err != nil {
		return err
	}
	changes := make([]Change, 0, len(b.order))
	for _, id := range b.order {
		c := b.changes[id]
		var err error
		if c.Messages, err = c.messages(); err != nil {
			return err
		}
		changes = append(changes, *c)
	}
	taken, err := b.tx.SaveChanges(ctx, changes)
	if err != nil {
		return err
	}
	for _, r := range taken {
		for _, c := range b.changes {
			if c.Attempt.Account == r.Account && slices.Contains(c.Names, r.Name) {
				b.shared(c, r.Name)
			}
		}
	}
	if err := b.classify(ctx); err != nil {
		return err
	}
	if err := b.saveRefunds(ctx); err != nil {
		return err
	}
	if len(b.discrepancies) == 0 {
		return nil
	}
	return b.tx.DiscrepanciesOpen(ctx, b.discrepancies)
}

// unpark applies the parked events that name an attempt by a name that it has
// only just been given.
func (b *batch) unpark(ctx context.Context) error {
	var refs []Reference
	for _, id := range b.order {
		c := b.changes[id]
		for _, name := range c.Names {
			refs = append(refs, Reference{c.Attempt.Account, name})
		}
	}
	if len(refs) == 0 {
		return nil
	}
	parked, err := b.tx.EventsParked(ctx, refs)
	if err != nil || len(parked) == 0 {
		return err
	}
	if err := b.loadRefunds(ctx, slices.Clone(b.order)...); err != nil {
		return err
	}
	for i := range parked {
		for _, id := range b.order {
			if c := b.changes[id]; c.named(parked[i]) {
				b.apply(c, &parked[i])
				break
			}
		}
	}
	return b.tx.EventsSettle(ctx, parked)
}

func (c *Change) named(e StoredEvent) bool {
	if c.Attempt.Account != e.Account {
		return false
	}
	return slices.ContainsFunc(e.Event.References, func(ref string) bool {
		return slices.Contains(c.Names, ref) || ref == c.Attempt.ID.String()
	})
}
