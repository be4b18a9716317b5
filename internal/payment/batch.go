package payment

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// batch gathers what one transaction changes, so that all of it is written at
// once: one update an attempt, however much news it got.
type batch struct {
	tx       Tx
	accounts map[string]Account
	changes  map[AttemptID]*Change
	order    []AttemptID
	// owners says who has a name, as far as is known. asked are the names whose owners
	// and waiting events were read; parked, those events.
	owners        map[Reference]AttemptID
	asked         map[Reference]bool
	parked        []StoredEvent
	discrepancies []Discrepancy
	late          []lateSuccess
	// won are attempts that succeeded beside others of their order, authorized those
	// that have just been authorised.
	won, authorized []*Change
	// orders are those of late money, and of what is in won and authorized, each with the
	// attempts that the batch changes as they are by now.
	orders map[OrderID]Order
	// busy are attempts that are left to the next try: money came in for them, and somebody
	// else has the lock of their order's live attempt.
	busy map[AttemptID]bool
	// refunds are those of attempts that need them, all locked.
	refunds       map[AttemptID][]*Refund
	refundChanges []refundChange
	// transactions are what was told of those of attempts that need them, the batch's own
	// events included.
	transactions map[AttemptID][]Told
	// movements are those of attempts that need them; movers, whose the named ones are.
	movements map[AttemptID][]Movement
	movers    map[MovementName]AttemptID
	// told are attempts of which a refund of ours has just been named, or has ended.
	told []*Change
	// broken is why the batch can't be saved.
	broken error
	// unparked says that parked events were applied with the rest; alone, that they are
	// only made due.
	unparked, alone bool
	// capped are attempts of which more turned out to be taken when all that was known
	// to be had been paid back.
	capped []capped
}

// lateSuccess is a discrepancy whose kind the order's other attempts decide.
type lateSuccess struct {
	change *Change
	at     int
}

func (s *Service) newBatch(tx Tx) *batch {
	return &batch{
		tx: tx, accounts: s.opts.Accounts, changes: map[AttemptID]*Change{},
		owners: map[Reference]AttemptID{}, asked: map[Reference]bool{},
	}
}

// inBatch runs a transaction. If the storage does not take it with the parked events
// that it sets free, it is run again without them: the worker tries them at once, and
// can tell the odd one. It is also run again without the attempts that are busy.
func (s *Service) inBatch(ctx context.Context, write func(ctx context.Context, b *batch) error) error {
	var unparked bool
	busy := map[AttemptID]bool{}
	run := func(alone bool) error {
		for {
			err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
				b := s.newBatch(tx)
				b.alone, b.busy = alone, busy
				err := write(ctx, b)
				unparked = b.unparked
				return err
			})
			left, ok := errors.AsType[*contended](err)
			if !ok || busy[left.attempt] {
				return err
			}
			busy[left.attempt] = true
		}
	}
	err := run(false)
	if unparked && rejected(err) {
		err = run(true)
	}
	return err
}

func (b *batch) now() time.Time { return b.tx.Now() }

// change returns what has become of a locked attempt so far.
func (b *batch) change(a Attempt) *Change {
	c, ok := b.changes[a.ID]
	if !ok {
		c = &Change{Attempt: a, Was: a.Version, had: a.ProviderPaymentID, before: a, moved: a.LastMovement}
		b.changes[a.ID] = c
		b.order = append(b.order, a.ID)
	}
	return c
}

// advance applies news on top of what the batch already knows.
func (b *batch) advance(c *Change, n News) fsm.Verdict {
	besides, shared := b.movementsIn(c, &n)
	if n.News == fsm.NewsReversed && shared {
		return fsm.Conflict
	}
	taken, held := c.Attempt.Captured, c.Attempt.Held()
	t, verdict := advance(&c.Attempt, n, b.now())
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
	if t.To == fsm.Authorized && t.From != t.To {
		b.authorized = append(b.authorized, c)
	}
	if taken > 0 && c.Attempt.Captured > taken && c.Attempt.Refunded == taken {
		b.capped = append(b.capped, capped{c, n.Cause})
	}
	if t.Opens != "" {
		b.openFor(c, t.Opens, n.Money, n.Cause)
	}
	b.openForMovement(c, t.Opens, n, held)
	if t.Opens == AmountMismatch && t.From != t.To {
		b.latest().Text = "The provider took another amount than it was asked to capture. Compare with its dashboard, and put right what the customer pays."
	}
	verdict = b.advanceBesides(c, besides, n.Cause, verdict)
	if shared || b.otherPayment(c, n) && verdict != fsm.Applied {
		verdict = fsm.Conflict
	}
	return verdict
}

// openFor opens what one piece of news shows. Money can be taken back more than
// once: each such event counts by itself.
func (b *batch) openFor(c *Change, kind DiscrepancyKind, money *Money, cause Cause) {
	b.open(c, kind, "")
	d := b.latest()
	d.Money, d.About = money, about(kind, money, cause)
	if cause.Kind == CauseWebhook && (kind == PaymentReversed || kind == RefundReversed) {
		d.Event = EventKey{c.Attempt.Account, cause.ID}
	}
}

// name notes a name that the attempt may be new to. One that belongs to another
// attempt stays there, for a person to look at.
func (b *batch) name(c *Change, name string) {
	ref := Reference{c.Attempt.Account, name}
	owner, known := b.owners[ref]
	switch {
	case name == "", name == c.Attempt.ID.String(), name == c.had, known && owner == c.Attempt.ID:
	case known:
		b.shared(c, name)
	default:
		b.owners[ref] = c.Attempt.ID
		c.Names = append(c.Names, name)
	}
}

func (b *batch) shared(c *Change, name string) {
	b.open(c, NeedsReview, "The provider's id "+name+" was given to two attempts: find out which of them it pays for.")
	b.latest().About = "name " + name
}

func (b *batch) latest() *Discrepancy { return &b.discrepancies[len(b.discrepancies)-1] }

func (b *batch) open(c *Change, kind DiscrepancyKind, text string) {
	id := c.Attempt.ID
	if kind == LateSuccess {
		b.late = append(b.late, lateSuccess{c, len(b.discrepancies)})
	}
	if text == "" {
		text = kind.explain()
	}
	b.discrepancies = append(b.discrepancies, Discrepancy{
		Kind: kind, OrderID: c.Attempt.OrderID, AttemptID: &id, Text: text, At: b.now(),
	})
}

// save writes the batch, applies parked events that a new name sets free, and
// opens the discrepancies.
func (b *batch) save(ctx context.Context) error {
	if b.broken != nil {
		return b.broken
	}
	if err := b.claim(ctx); err != nil {
		return err
	}
	if err := b.free(ctx); err != nil {
		return err
	}
	if err := b.recount(ctx); err != nil {
		return err
	}
	if err := b.beside(ctx); err != nil {
		return err
	}
	b.obey()
	changes := make([]Change, 0, len(b.order))
	for _, id := range b.order {
		c := b.changes[id]
		c.Holds = c.holds()
		// Nothing is sent again once the provider has named it, nor when it has ended.
		c.EraseToken = c.had == "" && (c.Attempt.ProviderPaymentID != "" || c.Attempt.State.Final())
		var err error
		if c.Messages, err = c.messages(); err != nil {
			return err
		}
		c.Movements = c.Attempt.Movements[len(c.Attempt.Movements)-(c.Attempt.LastMovement-c.moved):]
		changes = append(changes, *c)
	}
	if err := b.tx.SaveChanges(ctx, changes); err != nil {
		return err
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

// lock locks an attempt, with all of its order if it has to be cancelled beside it.
func (b *batch) lock(ctx context.Context, order OrderID, id AttemptID) (Attempt, error) {
	if !b.busy[id] {
		return b.tx.AttemptLock(ctx, id)
	}
	o, err := b.tx.OrderLock(ctx, order)
	if err != nil {
		return Attempt{}, err
	}
	i := slices.IndexFunc(o.Attempts, func(a Attempt) bool { return a.ID == id })
	if i < 0 {
		return Attempt{}, ErrAttemptNotFound
	}
	return o.Attempts[i], nil
}

// take locks attempts that nobody else has locked and reads, in the same round
// trip, what their new names may set free.
func (b *batch) take(ctx context.Context, ids []AttemptID, names []Reference) (map[AttemptID]Attempt, error) {
	taken, err := b.tx.AttemptsTake(ctx, ids, names)
	if err != nil {
		return nil, err
	}
	b.owners = taken.Owners
	if b.parked, err = b.readable(ctx, taken.Parked); err != nil {
		return nil, err
	}
	for _, name := range names {
		b.asked[name] = true
	}
	attempts := make(map[AttemptID]Attempt, len(taken.Attempts))
	for _, a := range taken.Attempts {
		attempts[a.ID] = a
	}
	return attempts, nil
}

// claim asks who has the new names that were not asked for before, and what is
// parked for them.
func (b *batch) claim(ctx context.Context) error {
	var unasked []Reference
	for _, id := range b.order {
		for _, name := range b.changes[id].Names {
			if ref := (Reference{b.changes[id].Attempt.Account, name}); !b.asked[ref] {
				unasked = append(unasked, ref)
			}
		}
	}
	if len(unasked) == 0 {
		return nil
	}
	taken, err := b.tx.AttemptsTake(ctx, nil, sorted(unasked))
	if err != nil {
		return err
	}
	parked, err := b.readable(ctx, taken.Parked)
	if err != nil {
		return err
	}
	b.parked = append(b.parked, parked...)
	for _, ref := range unasked {
		b.asked[ref] = true
	}
	for _, id := range b.order {
		b.changes[id].yield(b, taken.Owners)
	}
	return nil
}

// yield gives up the names that others have.
func (c *Change) yield(b *batch, owners map[Reference]AttemptID) {
	c.Names = slices.DeleteFunc(c.Names, func(name string) bool {
		owner, taken := owners[Reference{c.Attempt.Account, name}]
		if taken && owner != c.Attempt.ID {
			b.shared(c, name)
		}
		return taken
	})
}
