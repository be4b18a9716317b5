package changeset

import (
	"cmp"
	"context"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// refunds are the refunds of attempts that need them. They have the attribution of movements to refunds, which changes
// no sum.
type refunds struct {
	of map[payment.AttemptID][]*payment.Refund
	// was has the state on disk of the refunds that may have changed.
	was     map[payment.RefundID]refundBefore
	touched []*payment.Refund
	// settled are changes with a refund that was named, or ended: events may wait for it.
	settled []*Change
}

// refundBefore is a refund on disk; zero for a new one.
type refundBefore struct {
	version int
	final   bool
}

// LoadRefunds reads the refunds of attempts that the transaction has locked.
func (s *Changeset) LoadRefunds(ctx context.Context, ids ...payment.AttemptID) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id payment.AttemptID) bool { _, done := s.refunds.of[id]; return done })
	if len(ids) == 0 {
		return nil
	}
	rows, err := s.tx.RefundsLock(ctx, ids)
	if err != nil {
		return err
	}
	if s.refunds.of == nil {
		s.refunds.of = map[payment.AttemptID][]*payment.Refund{}
	}
	for _, id := range ids {
		s.refunds.of[id] = nil
	}
	for i := range rows {
		s.refunds.of[rows[i].AttemptID] = append(s.refunds.of[rows[i].AttemptID], &rows[i])
	}
	return nil
}

// Refunds returns the present refunds of an attempt.
func (s *Changeset) Refunds(id payment.AttemptID) []payment.Refund {
	all := make([]payment.Refund, 0, len(s.refunds.of[id]))
	for _, r := range s.refunds.of[id] {
		all = append(all, *r)
	}
	return all
}

// Refund is the attempt's refund with an id, nil if it does not exist.
func (s *Changeset) Refund(of payment.AttemptID, id payment.RefundID) *payment.Refund {
	for _, r := range s.refunds.of[of] {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Insert adds a refund to its attempt. The refund stores its payment once: the named payment, or the payment that holds the
// money now.
func (s *Changeset) Insert(c *Change, r payment.Refund) *payment.Refund {
	if p := payment.RefundedPayment(&c.Attempt, r.ProviderPaymentID, r.Money.Minor); r.ProviderPaymentID == "" && p != nil {
		r.ProviderPaymentID = p.ID
	}
	s.refunds.of[r.AttemptID] = append(s.refunds.of[r.AttemptID], &r)
	s.refunds.touch(&r, 0)
	return &r
}

func (f *refunds) touch(r *payment.Refund, was int) {
	if f.was == nil {
		f.was = map[payment.RefundID]refundBefore{}
	}
	if _, known := f.was[r.ID]; !known {
		f.was[r.ID] = refundBefore{was, was > 0 && r.State.Final()}
		f.touched = append(f.touched, r)
	}
}

// writes returns the changed refunds, and the events of the refunds that have ended, each with its attempt's amounts.
func (f *refunds) writes(of func(payment.AttemptID) payment.Attempt) (writes []RefundWrite, events []outbox.Message) {
	for _, r := range f.touched {
		was := f.was[r.ID]
		if r.Version != was.version {
			writes = append(writes, RefundWrite{*r, was.version})
		}
		if r.State.Final() && !was.final {
			events = append(events, outbox.Refund(r, of(r.AttemptID)))
		}
	}
	return writes, events
}

// applyRefund applies a report of a refund. Its money counts by its movement, with any origin. The named refund moves
// beside it.
func (s *Changeset) applyRefund(c *Change, r payment.Report) fsm.Verdict {
	t, a := *r.Refund, &c.Attempt
	known := payment.FindRefund(s.refunds.of[a.ID], t)
	r.Payment = refunded(a, r, known)
	switch {
	case t.Money != nil && t.Money.Currency != a.Money.Currency && t.Event != fsm.EventFailed:
		return s.foreignRefund(c, r, known)
	case t.ProviderID == "" && t.Reference == "":
		return s.refundTotal(c, r)
	case known == nil && s.nameless(a.ID) > 0 && (t.Event != fsm.EventSucceeded || t.Money == nil || t.ProviderID == ""):
		return payment.VerdictDeferred // it may be of that one
	}
	if known != nil {
		s.claim(c, known, t.ProviderID, r.Cause)
	}
	before := a.LastMovement
	verdict := s.moveMoney(c, r, payment.RefundMovements(t, a, known))
	switch {
	case known != nil:
		return stronger(verdict, s.advanceRefund(c, known, t, r.Cause, a.LastMovement > before))
	case s.nameless(a.ID) > 0:
		return verdict
	}
	return stronger(verdict, s.attribute(c, r))
}

// refunded is the payment of a report about a refund. If the report does not name it, and the attempt has several
// payments, it is the refund's payment.
func refunded(a *payment.Attempt, r payment.Report, known *payment.Refund) string {
	if r.Payment != "" || len(a.Payments) < 2 {
		return r.Payment
	}
	named, minor := "", int64(1)
	if known != nil {
		named, minor = known.ProviderPaymentID, known.Money.Minor
	}
	if p := payment.RefundedPayment(a, named, minor); p != nil {
		return p.ID
	}
	return ""
}

// moveMoney records only the movements of a report.
func (s *Changeset) moveMoney(c *Change, r payment.Report, movements []payment.MovementReport) fsm.Verdict {
	if len(movements) == 0 {
		return payment.Ignored
	}
	for i := range movements {
		movements[i].At = r.At
	}
	money := payment.Report{Payment: r.Payment, References: r.References, Event: fsm.EventMoney, Movements: movements, At: r.At, Cause: r.Cause}
	if s.dropShared(c, &money) {
		return fsm.Conflict
	}
	return s.advance(c, money)
}

// stronger is the verdict of the higher rank.
func stronger(a, b fsm.Verdict) fsm.Verdict {
	rank := []fsm.Verdict{payment.Ignored, fsm.Stale, fsm.Repeat, fsm.Applied, fsm.Conflict}
	if slices.Index(rank, a) > slices.Index(rank, b) {
		return a
	}
	return b
}

// AdvanceRefund applies a report of a refund of ours, from its own call or from a lookup.
func (s *Changeset) AdvanceRefund(c *Change, r *payment.Refund, t payment.RefundReport, cause payment.Cause) fsm.Verdict {
	t.Reference = r.ID.String()
	return s.Apply(c, payment.Report{Event: fsm.EventMoney, Refund: &t, Cause: cause})
}

// advanceRefund moves a refund of the attempt, with its operation; moved is set if the report has moved money.
func (s *Changeset) advanceRefund(c *Change, r *payment.Refund, t payment.RefundReport, cause payment.Cause, moved bool) fsm.Verdict {
	if other := s.sameName(r, t.ProviderID); other != nil {
		return s.unattributed(c, t.ProviderID, t.Money, payment.AboutSharedReference,
			"The provider gave one id to two refunds of this payment. Check in its dashboard which amount was refunded.")
	}
	was := *r
	s.refunds.touch(r, r.Version)
	verdict, found := payment.AdvanceRefund(r, t, cause, moved && t.Event == fsm.EventFailed, s.Now())
	if !moved && r.State == was.State && r.ProviderRefundID == was.ProviderRefundID && shownAgain(c, t, cause) {
		found = nil
	}
	for _, f := range found {
		if f.About == "" {
			f.About = payment.AboutRefund
		}
		s.find(c, f, cause)
	}
	if r.State.Final() {
		if o := c.Attempt.RefundOperation(r.ID); o != nil {
			o.Finish("")
		}
	}
	if r.Origin != payment.RefundByProvider && (r.ProviderRefundID != was.ProviderRefundID || r.State != was.State) {
		s.refunds.settled = append(s.refunds.settled, c)
		s.claimMovements(c, cause)
	}
	return verdict
}

// shownAgain reports whether a lookup shows a refund that the provider has reported before. Every lookup shows it, and
// would reopen a discrepancy that a person has resolved.
func shownAgain(c *Change, t payment.RefundReport, cause payment.Cause) bool {
	name := cmp.Or(t.ProviderID, t.Reference)
	m, recorded := c.Attempt.Movement(payment.MovementRefund, name)
	return cause.Kind == payment.CauseCheck && name != "" && recorded && m.Source == payment.MovementNamed
}

// sameName is another refund with the name that the provider now gives to r.
func (s *Changeset) sameName(r *payment.Refund, name string) *payment.Refund {
	if name == "" || r.ProviderRefundID != "" {
		return nil
	}
	for _, other := range s.refunds.of[r.AttemptID] {
		if other.ID != r.ID && other.ProviderRefundID == name {
			return other
		}
	}
	return nil
}

// claim gives a refund of ours the reports that came under its name before the name was attributed to it. A dashboard
// refund that was made from those reports then has no name and no money.
func (s *Changeset) claim(c *Change, r *payment.Refund, name string, cause payment.Cause) {
	if name == "" || r.ProviderRefundID != "" {
		return
	}
	told := payment.RefundReport{ProviderID: name}
	if other := s.sameName(r, name); other != nil {
		if other.Origin != payment.RefundByProvider {
			return
		}
		told.Event, told.Failure = other.Event(), other.Failure
		s.supersede(other, cause)
	}
	if m, paid := c.Attempt.Movement(payment.MovementRefund, name); paid && m.Money.Currency == r.Money.Currency {
		told.Event, told.Money = fsm.EventSucceeded, &m.Money
	}
	if told.Event != "" {
		s.advanceRefund(c, r, told, cause, false)
	}
}

// supersede takes the provider's name from a dashboard refund that is in fact a refund of ours. The row is written before the refund that
// has the name now.
func (s *Changeset) supersede(r *payment.Refund, cause payment.Cause) {
	f := &s.refunds
	f.touch(r, r.Version)
	f.touched = slices.DeleteFunc(f.touched, func(other *payment.Refund) bool { return other == r })
	f.touched = slices.Insert(f.touched, 0, r)
	payment.SupersedeRefund(r, cause, s.Now())
}

// nameless is how many refunds of ours the provider may have and has not named.
func (s *Changeset) nameless(id payment.AttemptID) (n int) {
	for _, r := range s.refunds.of[id] {
		if r.Nameless() {
			n++
		}
	}
	return n
}

// claimMovements makes refunds of the unclaimed movements, once no refund of ours can own them: they were made in the
// provider's dashboard.
func (s *Changeset) claimMovements(c *Change, cause payment.Cause) {
	if s.nameless(c.Attempt.ID) > 0 {
		return
	}
	for _, m := range payment.UnclaimedRefunds(&c.Attempt, s.refunds.of[c.Attempt.ID]) {
		money := m.Money
		made := payment.NewRefund(c.Attempt, payment.RefundByProvider, money, s.Now())
		if made.ProviderRefundID = m.ProviderID; c.Attempt.PaymentOf(m) != nil {
			made.ProviderPaymentID = c.Attempt.PaymentOf(m).ID
		}
		r := s.Insert(c, made)
		payment.AdvanceRefund(r, payment.RefundReport{ProviderID: m.ProviderID, Event: fsm.EventSucceeded, Money: &money}, cause, false, s.Now())
	}
}

// attribute makes a refund of a report that names no recorded refund.
func (s *Changeset) attribute(c *Change, r payment.Report) fsm.Verdict {
	t := *r.Refund
	_, paid := c.Attempt.Movement(payment.MovementRefund, t.ProviderID)
	switch {
	case t.Money != nil && t.Money.Minor <= 0, t.Money == nil && t.Event == fsm.EventFailed:
		return payment.Ignored
	case t.Money == nil, t.ProviderID == "":
		return s.unknownRefund(c, r)
	case t.Event == fsm.EventFailed && paid:
		return fsm.Applied
	}
	told := payment.NewRefund(c.Attempt, payment.RefundByProvider, *t.Money, s.Now())
	if told.ProviderRefundID = t.ProviderID; c.Attempt.Payment(r.Payment) != nil {
		told.ProviderPaymentID = r.Payment
	}
	made := s.Insert(c, told)
	verdict, _ := payment.AdvanceRefund(made, t, r.Cause, false, s.Now())
	if !made.State.Final() {
		at := s.Now().Add(s.Schedule.Delay(0))
		check := c.Attempt.NewOperation(payment.OperationCheck, payment.OperationOriginReconciler, s.Now())
		check.RefundID, check.NextAt = made.ID, &at
		c.Add(check)
	}
	return verdict
}

// refundTotal records how much was refunded in all, as the provider reports it.
func (s *Changeset) refundTotal(c *Change, r payment.Report) fsm.Verdict {
	t := *r.Refund
	if t.Whole {
		t.Total, t.Money = true, &payment.Money{Minor: c.Attempt.AmountCaptured(), Currency: c.Attempt.Money.Currency}
	}
	switch {
	case t.Event != fsm.EventSucceeded:
		return fsm.Repeat
	case !t.Total || t.Money == nil:
		return s.unknownRefund(c, r)
	}
	total := payment.MovementReport{Kind: payment.MovementRefund, Money: *t.Money, Apart: payment.RefundsNamedApart(&c.Attempt, s.refunds.of[c.Attempt.ID])}
	return s.moveMoney(c, r, []payment.MovementReport{total})
}

// foreignRefund records a refund in another currency than the payment's. A person compares it.
func (s *Changeset) foreignRefund(c *Change, r payment.Report, known *payment.Refund) fsm.Verdict {
	t := *r.Refund
	if known != nil {
		s.advanceRefund(c, known, payment.RefundReport{ProviderID: t.ProviderID, Event: fsm.EventProcessing}, r.Cause, false)
	}
	name := cmp.Or(t.ProviderID, t.Reference)
	if shownAgain(c, t, r.Cause) {
		return fsm.Repeat
	}
	if t.Event == fsm.EventSucceeded {
		told := payment.MovementReport{Kind: payment.MovementRefund, ID: name, Money: *t.Money, At: r.At}
		money := payment.Report{Event: fsm.EventMoney, Movements: []payment.MovementReport{told}, At: r.At, Cause: payment.Cause{Kind: payment.CausePerson, ID: r.Cause.ID}}
		money.Cause = r.Cause
		before := c.Attempt
		transition, _ := payment.Advance(&c.Attempt, money, s.Now())
		if transition.Version != 0 {
			c.transitions = append(c.transitions, transition)
		}
		s.noteOrders(c, before)
	}
	s.find(c, payment.Finding{
		Kind: payment.CurrencyMismatch, About: payment.AboutRefund, AboutID: cmp.Or(name, r.Cause.ID), Money: t.Money,
		Text: "The provider reports a refund in another currency than this payment's. The refund is not counted. Compare it with the provider's dashboard.",
	}, payment.Cause{})
	return fsm.Conflict
}

func (s *Changeset) unknownRefund(c *Change, r payment.Report) fsm.Verdict {
	t := *r.Refund
	return s.unattributed(c, cmp.Or(t.ProviderID, t.Reference, r.Cause.ID), t.Money, payment.AboutRefundUnattributed,
		"The provider reports a refund of this payment without its id or its amount. The refund is not counted. Look it up in the provider's dashboard.")
}

func (s *Changeset) unattributed(c *Change, name string, money *payment.Money, about, text string) fsm.Verdict {
	s.find(c, payment.Finding{Kind: payment.NeedsReview, About: about, AboutID: name, Money: money, Text: text}, payment.Cause{})
	return fsm.Conflict
}

// WithdrawRefund fails a refund that was not sent, since the attempt's money does not cover it any more, and opens a
// discrepancy: whoever wanted it must know.
func (s *Changeset) WithdrawRefund(c *Change, id payment.RefundID) {
	r := s.Refund(c.Attempt.ID, id)
	if r == nil || r.State.Final() {
		return
	}
	money := r.Money
	s.AdvanceRefund(c, r, payment.RefundReport{Event: fsm.EventFailed, Failure: payment.NewRefundFailure("not_covered")}, payment.Cause{Kind: payment.CauseCheck, ID: "withdrawn"})
	s.find(c, payment.Finding{
		Kind: payment.NeedsReview, About: payment.AboutRefundNotCovered, AboutID: id.String(), Money: &money,
		Text: "A refund of " + money.String() + " was not sent, because a dispute or another refund took back its money after the request. " +
			"Check whether the customer has the money; if not, refund the rest.",
	}, payment.Cause{})
}

// refundLate wants late money refunded where the account's policy does that and its provider can, once.
func (s *Changeset) refundLate(ctx context.Context, c *Change) error {
	a := &c.Attempt
	if s.Accounts.Get(a.Account).LateMoney != gateway.LateMoneyRefunded || s.capabilities(*a).Refunds == payment.RefundsNone || a.Split {
		return nil // nothing would ever send it, or a person must say who bears it
	}
	if err := s.LoadRefunds(ctx, a.ID); err != nil {
		return err
	}
	all := s.Refunds(a.ID)
	if slices.ContainsFunc(all, func(r payment.Refund) bool { return r.Origin == payment.RefundByPolicy }) {
		return nil
	}
	left, named := payment.RefundLeft(*a, all), ""
	if holders := a.Holders(); a.Succeeded() || len(holders) > 1 {
		back := a.Spare()
		if back == nil {
			return nil // without any of them the order would not be paid: a person decides
		}
		if len(holders) > 1 {
			left, named = payment.RefundLeftOf(*a, *back, all), back.ID
		}
	}
	if left <= 0 {
		return nil
	}
	made := payment.NewRefund(*a, payment.RefundByPolicy, payment.Money{Minor: left, Currency: a.Money.Currency}, s.Now())
	made.ProviderPaymentID = cmp.Or(named, a.OnlyCapture(s.capabilities(*a)))
	r := s.Insert(c, made)
	o := a.NewOperation(payment.OperationRefund, payment.OperationOriginPolicy, s.Now())
	o.RefundID, o.Amount = r.ID, left
	c.Add(o)
	return nil
}
