package payment

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// refundChange is what became of a locked refund, or a new one.
type refundChange struct {
	*Refund
	was int
}

// loadRefunds locks the refunds of attempts that the transaction holds locked.
func (b *batch) loadRefunds(ctx context.Context, ids ...AttemptID) error {
	ids = slices.DeleteFunc(ids, func(id AttemptID) bool { _, done := b.refunds[id]; return done })
	if len(ids) == 0 {
		return nil
	}
	rows, err := b.tx.RefundsLock(ctx, ids)
	if err != nil {
		return err
	}
	if b.refunds == nil {
		b.refunds = map[AttemptID][]*Refund{}
	}
	for _, id := range ids {
		b.refunds[id] = nil
	}
	for i := range rows {
		b.refunds[rows[i].AttemptID] = append(b.refunds[rows[i].AttemptID], &rows[i])
	}
	return nil
}

// applyRefund lets an event move the refund that it names; one that nobody here
// asked for was made in the provider's dashboard. One that came before its payment
// waits for it.
func (b *batch) applyRefund(c *Change, e *StoredEvent) {
	if c.Attempt.Captured == 0 && e.Event.Kind != webhooks.KindRefundFailed {
		// It counts against what was taken, and nobody has told of that yet.
		e.park(Deferred, b.now())
		return
	}
	e.OrderID, e.AttemptID, e.NextTryAt = c.Attempt.OrderID, c.Attempt.ID, nil
	cause := Cause{Kind: CauseWebhook, ID: e.Event.ID}
	if e.Event.RefundID == "" && e.Event.RefundReference == "" {
		e.Verdict = b.refundTotal(c, e.Event, cause)
		return
	}
	news := RefundNews{
		News: newsByRefundKind[e.Event.Kind], ProviderRefundID: e.Event.RefundID, Failure: failureOf(e.Event), Cause: cause,
	}
	r := b.refundNamed(c.Attempt.ID, e.Event)
	if r == nil {
		if r = b.adoptRefund(c, e.Event); r == nil {
			e.Verdict = Ignored
			return
		}
	}
	e.Verdict = b.advanceRefund(c, r, news)
}

var newsByRefundKind = map[webhooks.Kind]fsm.News{ //nolint:gochecknoglobals // a table
	webhooks.KindRefundPending:   fsm.NewsProcessing,
	webhooks.KindRefundSucceeded: fsm.NewsSucceeded,
	webhooks.KindRefundFailed:    fsm.NewsFailed,
}

// advanceRefund moves a refund and, with it, what the attempt has paid back.
func (b *batch) advanceRefund(c *Change, r *Refund, n RefundNews) fsm.Verdict {
	b.touchRefund(r, r.Version)
	before := b.paidBack(c.Attempt.ID)
	verdict, opens := advanceRefund(r, n, b.now())
	b.openForRefund(c, r, opens, n)
	// The provider may have told of more than of single refunds.
	after := b.paidBack(c.Attempt.ID)
	b.setRefunded(c, max(after, c.Attempt.Refunded-max(0, before-after)), n.Cause)
	return verdict
}

// openForRefund tells a person what news of a refund opens, if anything.
func (b *batch) openForRefund(c *Change, r *Refund, opens DiscrepancyKind, n RefundNews) {
	if opens == "" {
		return
	}
	money := &r.Money
	if opens == AmountMismatch {
		money = n.Money
	}
	b.openFor(c, opens, money, n.Cause)
	d := b.latest()
	d.About = "refund " + r.ID.String()
	if opens == NeedsReview {
		d.About += " was paid"
		d.Text = "A refund that had failed here was paid back by the provider all the same: the customer has the money. Don't refund it again; if that was done already, get one of the two back."
	}
	if opens == AmountMismatch {
		d.Text = "The provider paid back another amount than it was asked for. Compare with its dashboard, and put right what the customer got."
	}
}

// paidBack is how much the refunds of an attempt have paid back.
func (b *batch) paidBack(id AttemptID) (total int64) {
	for _, r := range b.refunds[id] {
		if r.paidBack() {
			total += r.Money.Minor
		}
	}
	return total
}

// refundTotal takes a provider's word for how much was paid back in all.
func (b *batch) refundTotal(c *Change, e webhooks.Event, cause Cause) fsm.Verdict {
	if e.Money == nil || !e.Cumulative || e.Money.Currency != string(c.Attempt.Money.Currency) || e.Money.Minor <= c.Attempt.Refunded {
		return fsm.Repeat
	}
	b.setRefunded(c, e.Money.Minor, cause)
	return fsm.Applied
}

// newsRefunded names in the log what no piece of news about the payment says.
const newsRefunded fsm.News = "refunded"

// setRefunded writes what was paid back, which is at most what was taken.
func (b *batch) setRefunded(c *Change, total int64, cause Cause) {
	a := &c.Attempt
	if total > a.Captured {
		b.openFor(c, RefundExceeds, &Money{Minor: total, Currency: a.Money.Currency}, cause)
		total = a.Captured
	}
	if total == a.Refunded {
		return
	}
	a.Refunded = total
	a.Version++
	a.UpdatedAt = b.now()
	c.Transitions = append(c.Transitions, Transition{
		Version: a.Version, From: a.State, To: a.State, News: newsRefunded, Cause: cause, At: b.now(), Facts: a.facts(),
	})
}

func (b *batch) touchRefund(r *Refund, was int) {
	if !slices.ContainsFunc(b.refundChanges, func(c refundChange) bool { return c.ID == r.ID }) {
		b.refundChanges = append(b.refundChanges, refundChange{r, was})
	}
}

func (b *batch) refundNamed(id AttemptID, e webhooks.Event) *Refund {
	for _, r := range b.refunds[id] {
		if e.RefundReference == r.ID.String() || e.RefundID != "" && e.RefundID == r.ProviderRefundID {
			return r
		}
	}
	// Ours, whose answer was lost, and whose id the provider does not carry: the
	// only one of that amount that the provider has not named yet.
	var lost []*Refund
	for _, r := range b.refunds[id] {
		if r.ProviderRefundID == "" && r.State == fsm.RefundPending && e.Money != nil && r.Money.Minor == e.Money.Minor {
			lost = append(lost, r)
		}
	}
	if len(lost) == 1 {
		return lost[0]
	}
	return nil
}

func (b *batch) adoptRefund(c *Change, e webhooks.Event) *Refund {
	if e.Money == nil || e.Money.Minor <= 0 || e.RefundID == "" {
		return nil
	}
	r := newRefund(c.Attempt, UserProvider, RequestID(e.RefundID), *moneyOf(e), b.now())
	r.ProviderRefundID = e.RefundID
	b.insertRefund(r)
	return r
}

func (b *batch) insertRefund(r *Refund) {
	b.refunds[r.AttemptID] = append(b.refunds[r.AttemptID], r)
	b.touchRefund(r, 0)
}

func newRefund(a Attempt, user UserID, request RequestID, m Money, now time.Time) *Refund {
	return &Refund{
		ID: RefundID(uuid.Must(uuid.NewV7())), OrderID: a.OrderID, AttemptID: a.ID, UserID: user, RequestID: request,
		Account: a.Account, State: fsm.RefundPending, Money: m, Version: 1, Fence: 1, NextCheckAt: &now, CreatedAt: now, UpdatedAt: now,
	}
}

// saveRefunds writes what became of refunds.
func (b *batch) saveRefunds(ctx context.Context) error {
	for _, c := range b.refundChanges {
		var err error
		if c.was == 0 {
			err = b.tx.RefundInsert(ctx, *c.Refund)
		} else {
			err = b.tx.RefundSave(ctx, *c.Refund, c.was)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
