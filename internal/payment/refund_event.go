package payment

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

var newsByRefundKind = map[webhooks.Kind]fsm.News{ //nolint:gochecknoglobals // a table
	webhooks.KindRefundPending:   fsm.NewsProcessing,
	webhooks.KindRefundSucceeded: fsm.NewsSucceeded,
	webhooks.KindRefundFailed:    fsm.NewsFailed,
}

// applyRefund lets an event move the refund that it names; one that nobody here
// asked for was made in the provider's dashboard. One that came before its payment,
// or that may be of a refund which has no name yet, waits.
func (b *batch) applyRefund(c *Change, e *StoredEvent) {
	verdict := b.hearOfRefund(c, e.Event)
	if verdict == Deferred {
		e.park(Deferred, b.now())
		return
	}
	e.OrderID, e.AttemptID, e.NextTryAt = c.Attempt.OrderID, c.Attempt.ID, nil
	e.Verdict = verdict
}

// hearOfRefund gives an event its verdict, which is Deferred for one that is to
// wait.
func (b *batch) hearOfRefund(c *Change, e webhooks.Event) fsm.Verdict {
	a := &c.Attempt
	n := RefundNews{
		News: newsByRefundKind[e.Kind], ProviderRefundID: e.RefundID, Money: refundMoney(e, a.Money.Currency),
		Failure: failureOf(e), Cause: Cause{Kind: CauseWebhook, ID: e.ID},
	}
	r, failed := b.refundNamed(a.ID, e, n.Money), n.News == fsm.NewsFailed
	switch {
	case !n.in(a.Money.Currency) && (r == nil || !failed):
		if n.News == fsm.NewsSucceeded {
			foreignReturned(a, *n.Money)
		}
		return b.foreign(c, nameOfRefund(e), n.Money)
	case e.RefundID == "" && e.RefundReference == "":
		return b.refundTotal(c, e, n)
	case a.Captured == 0 && !failed:
		// It counts against what was taken, and nobody has told of that yet.
		return Deferred
	case r == nil && len(b.nameless(a.ID)) > 0:
		// It may be one of those; the provider's answer to its call will tell.
		return Deferred
	case r == nil:
		return b.adoptRefund(c, e, n)
	}
	return b.advanceRefund(c, r, n)
}

// refundMoney is what an event says that a refund is of. A provider that names no
// currency means the payment's.
func refundMoney(e webhooks.Event, of Currency) *Money {
	if e.Amount == "" {
		return moneyOf(e)
	}
	money, err := e.MoneyIn(string(of))
	if err != nil {
		return nil // it is no amount of that currency: a person must read it
	}
	e.Money = money
	return moneyOf(e)
}

func nameOfRefund(e webhooks.Event) string { return cmp.Or(e.RefundID, e.RefundReference, e.ID) }

// refundNamed is the refund that an event names, or else the one that it must be
// about: ours, whose answer was lost, and whose id the provider does not carry.
func (b *batch) refundNamed(id AttemptID, e webhooks.Event, money *Money) *Refund {
	named := b.findRefund(id, func(r *Refund) bool {
		return e.RefundReference == r.ID.String() || e.RefundID != "" && e.RefundID == r.ProviderRefundID
	})
	if named != nil {
		return named
	}
	if e.RefundID != "" && money != nil {
		if r := b.findRefund(id, func(r *Refund) bool { return r.recordedByHand() && r.Money == *money }); r != nil {
			return r
		}
	}
	lost := slices.DeleteFunc(b.nameless(id), func(r *Refund) bool { return money == nil || r.Money != *money })
	if len(lost) == 1 {
		return lost[0]
	}
	return nil
}

// recordedByHand reports whether a person has recorded the refund, which the provider has
// not named since.
func (r Refund) recordedByHand() bool {
	return r.Origin == RefundByProvider && r.ProviderRefundID == "" && r.State == fsm.RefundSucceeded && !r.Reversed
}

// nameless are the refunds of ours that the provider may have and has not named yet.
func (b *batch) nameless(id AttemptID) (lost []*Refund) {
	for _, r := range b.refunds[id] {
		if r.ProviderRefundID == "" && r.State == fsm.RefundPending {
			lost = append(lost, r)
		}
	}
	return lost
}

// refundTotal takes a provider's word for how much was paid back in all. A refund
// that is pending, or that failed, may be in it: that one counts by its own news.
func (b *batch) refundTotal(c *Change, e webhooks.Event, n RefundNews) fsm.Verdict {
	told := e.Cumulative && n.Money != nil
	var total int64
	if told {
		total = n.Money.Minor - b.notPaidBack(c.Attempt.ID)
	}
	switch {
	case n.News != fsm.NewsSucceeded, told && total <= c.Attempt.Refunded:
		return fsm.Repeat
	case c.Attempt.Captured == 0:
		return Deferred
	case !told:
		return b.unknownRefund(c, e, n)
	}
	b.setRefunded(c, total, n.Cause)
	return fsm.Applied
}

// adoptRefund takes a refund in that was made in the provider's dashboard.
func (b *batch) adoptRefund(c *Change, e webhooks.Event, n RefundNews) fsm.Verdict {
	switch {
	case n.Money != nil && n.Money.Minor <= 0:
		return Ignored
	case n.Money == nil && n.News == fsm.NewsFailed:
		return Ignored
	case n.Money == nil, e.RefundID == "":
		return b.unknownRefund(c, e, n)
	}
	r := newRefund(c.Attempt, RefundByProvider, *n.Money, b.now())
	r.ProviderRefundID = e.RefundID
	return b.advanceRefund(c, r, n)
}

func (b *batch) unknownRefund(c *Change, e webhooks.Event, n RefundNews) fsm.Verdict {
	return b.uncounted(c, NeedsReview, nameOfRefund(e), n.Money,
		"The provider speaks of a refund of this payment and does not say of which, or how much it is. It was not counted: look it up in its dashboard.")
}

// foreign tells a person of a refund in another currency.
func (b *batch) foreign(c *Change, name string, money *Money) fsm.Verdict {
	return b.uncounted(c, CurrencyMismatch, name, money,
		"The provider speaks of a refund in another currency than this payment's. It was not counted: compare with its dashboard.")
}

// uncounted tells a person of a refund that can't be counted.
func (b *batch) uncounted(c *Change, kind DiscrepancyKind, name string, money *Money, text string) fsm.Verdict {
	b.open(c, kind, text)
	d := b.latest()
	d.Money, d.About = money, aboutRefund+name
	return fsm.Conflict
}

// unparkRefunds applies the events that waited for a refund to have its name, or
// its end, or has them fetched now. Each may bring the next one's.
func (b *batch) unparkRefunds(ctx context.Context) error {
	for len(b.told) > 0 {
		c := b.told[0]
		b.told = b.told[1:]
		parked, err := b.parkedOf(ctx, c)
		if err != nil {
			return err
		}
		b.unparked = b.unparked || len(parked) > 0
		if err := b.tx.EventsSettle(ctx, b.freed(c, parked)); err != nil {
			return err
		}
	}
	return nil
}

// freed applies those of an attempt's parked events that are about a refund, and
// returns those that no longer wait as they did.
func (b *batch) freed(c *Change, parked []StoredEvent) (freed []StoredEvent) {
	for _, e := range parked {
		if _, ok := newsByRefundKind[e.Event.Kind]; !ok {
			continue
		}
		if b.apply(c, &e); e.NextTryAt == nil || e.Event.NeedsFetch {
			freed = append(freed, e)
		}
	}
	return freed
}
