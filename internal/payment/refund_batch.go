package payment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
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

// advanceRefund moves a refund and, with it, what the attempt has paid back. One
// that gets the name of another refund is the same one: if that was taken for one
// made in the dashboard it was told of too early, else a person must look. One that
// is not among the attempt's is new. Of one in another currency only the name counts.
// Of a failed attempt that held nothing any more, what an undone one brings back is late
// money again.
func (b *batch) advanceRefund(c *Change, r *Refund, n RefundNews) fsm.Verdict {
	if !n.in(r.Money.Currency) && n.News != fsm.NewsFailed && n.News != fsm.NewsReversed {
		b.advanceRefund(c, r, RefundNews{News: fsm.NewsProcessing, ProviderRefundID: n.ProviderRefundID, Cause: n.Cause})
		return b.foreign(c, cmp.Or(n.ProviderRefundID, r.ID.String()), n.Money)
	}
	paid, owed, held, was := b.paidBack(c.Attempt.ID), b.notPaidBack(c.Attempt.ID), c.Attempt.Held(), *r
	if slices.Contains(b.refunds[r.AttemptID], r) {
		b.touchRefund(r, r.Version)
	} else {
		b.insertRefund(r)
	}
	if b.misnamed(r, n) {
		b.disown(c, r, n.Cause)
	}
	if twin := b.namesake(r, n.ProviderRefundID); twin != nil {
		if twin.Origin != RefundByProvider {
			return b.uncounted(c, NeedsReview, n.ProviderRefundID+" is two", n.Money,
				"The provider gave one id to two refunds of this payment: find out in its dashboard what it paid back.")
		}
		b.moveRefund(c, r, b.resign(twin, n.Cause))
	}
	verdict := b.moveRefund(c, r, n)
	if r.Origin != RefundByProvider && (r.ProviderRefundID != was.ProviderRefundID || r.State != was.State) {
		b.told = append(b.told, c)
	}
	// The provider may have told of more than of single refunds; see refundTotal.
	now := b.paidBack(c.Attempt.ID)
	lost := paid - now
	if r.Origin == RefundByProvider || !c.Attempt.UpdatedAt.Before(r.CreatedAt) {
		// A total may have been told since the refund was made, and have it in.
		lost = max(lost, b.notPaidBack(c.Attempt.ID)-owed)
	}
	b.setRefunded(c, max(now, c.Attempt.Refunded-lost), n.Cause)
	if c.Attempt.Failed() && held == 0 && c.Attempt.Held() > 0 {
		b.open(c, LateSuccess, "")
		b.latest().About = "what came back of " + r.ID.String()
	}
	return verdict
}

func (b *batch) moveRefund(c *Change, r *Refund, n RefundNews) fsm.Verdict {
	verdict, opens := advanceRefund(r, n, b.now())
	b.openForRefund(c, r, opens, n)
	return verdict
}

// namesake is another refund that has the name which the provider now gives to r.
func (b *batch) namesake(r *Refund, name string) *Refund {
	if name == "" || r.ProviderRefundID != "" {
		return nil
	}
	return b.findRefund(r.AttemptID, func(other *Refund) bool { return other.ProviderRefundID == name })
}

// misnamed reports whether a refund of ours has the name of another one: that was taken
// for ours by its amount, see refundNamed, and ours is told of under another name. One
// that has its name from another, see resign, has it by its own call.
func (b *batch) misnamed(r *Refund, n RefundNews) bool {
	name, told := r.ProviderRefundID, n.ProviderRefundID
	moves := n.News == fsm.NewsProcessing || n.News == fsm.NewsSucceeded
	if name == "" || told == "" || told == name || !moves || r.Origin == RefundByProvider || n.Cause.Kind == CausePerson {
		return false
	}
	resigned := b.findRefund(r.AttemptID, func(other *Refund) bool { return other.FormerProviderRefundID == name })
	return n.Money != nil && *n.Money == r.Money && resigned == nil
}

// disown makes what was told of a refund under a name that is not its own one that was
// made in the dashboard.
func (b *batch) disown(c *Change, r *Refund, cause Cause) {
	known := r.known(cause)
	r.ProviderRefundID = ""
	other := newRefund(c.Attempt, RefundByProvider, r.Money, b.now())
	b.insertRefund(other)
	b.moveRefund(c, other, known)
}

// known is what is known of a refund.
func (r Refund) known(cause Cause) RefundNews {
	n := RefundNews{News: fsm.NewsProcessing, ProviderRefundID: r.ProviderRefundID, Money: &r.Money, Failure: r.Failure, Cause: cause}
	switch {
	case r.paidBack():
		n.News = fsm.NewsSucceeded
	case r.State.Final():
		n.News = fsm.NewsFailed
	}
	return n
}

// resign takes a refund that is another one out of the count, and its name from it.
// It returns what was known of it.
func (b *batch) resign(r *Refund, cause Cause) RefundNews {
	known, end := r.known(cause), RefundNews{News: fsm.NewsFailed, Failure: refundNotStarted()}
	if r.State.Final() {
		end.News = fsm.NewsReversed
	}
	b.touchRefund(r, r.Version)
	advanceRefund(r, end, b.now())
	r.ProviderRefundID, r.FormerProviderRefundID = "", r.ProviderRefundID
	return known
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
	d.About = aboutRefund + r.ID.String()
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

// notPaidBack is how much those refunds of an attempt are of that the provider has
// named and that the customer has not, or no longer, got.
func (b *batch) notPaidBack(id AttemptID) (total int64) {
	for _, r := range b.refunds[id] {
		if r.ProviderRefundID != "" && !r.paidBack() {
			total += r.Money.Minor
		}
	}
	return total
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
		Version: a.Version, From: a.State, To: a.State, News: newsRefunded, Cause: cause, At: b.now(), Facts: a.facts(), LastMovement: a.LastMovement,
	})
}

// capped is an attempt whose refunds were perhaps counted as less than they are, and
// why they are counted again.
type capped struct {
	change *Change
	cause  Cause
}

// recount counts again what was paid back where that was more than was taken.
func (b *batch) recount(ctx context.Context) error {
	for _, c := range b.capped {
		a := &c.change.Attempt
		if err := b.loadRefunds(ctx, a.ID); err != nil {
			return err
		}
		b.setRefunded(c.change, max(a.Refunded, b.paidBack(a.ID)), c.cause)
	}
	return nil
}

func (b *batch) touchRefund(r *Refund, was int) {
	if !slices.ContainsFunc(b.refundChanges, func(c refundChange) bool { return c.ID == r.ID }) {
		b.refundChanges = append(b.refundChanges, refundChange{r, was})
	}
}

// findRefund is the first of an attempt's refunds that is meant, nil if none is.
func (b *batch) findRefund(id AttemptID, meant func(r *Refund) bool) *Refund {
	if i := slices.IndexFunc(b.refunds[id], meant); i >= 0 {
		return b.refunds[id][i]
	}
	return nil
}

func (b *batch) insertRefund(r *Refund) {
	b.refunds[r.AttemptID] = append(b.refunds[r.AttemptID], r)
	b.touchRefund(r, 0)
}

func newRefund(a Attempt, origin RefundOrigin, m Money, now time.Time) *Refund {
	return &Refund{
		ID: RefundID(uuid.Must(uuid.NewV7())), OrderID: a.OrderID, AttemptID: a.ID, Origin: origin,
		Account: a.Account, State: fsm.RefundPending, Money: m, Version: 1, Fence: 1, NextCheckAt: &now, CreatedAt: now, UpdatedAt: now,
	}
}

// saveRefunds writes what became of refunds. One that has lost its name to another
// goes first: two can't have it.
func (b *batch) saveRefunds(ctx context.Context) error {
	slices.SortStableFunc(b.refundChanges, func(x, y refundChange) int {
		return min(len(x.ProviderRefundID), 1) - min(len(y.ProviderRefundID), 1)
	})
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
