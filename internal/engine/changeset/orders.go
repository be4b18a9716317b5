package changeset

import (
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// orders are the orders of attempts that succeeded, were authorized or gained late money, with the consequences for
// their other attempts.
type orders struct {
	// busy are attempts with late money that must be locked with their order, see Run.
	busy map[payment.AttemptID]bool
	// late are the discrepancies of a kind that the order's other attempts decide.
	late []lateSuccess
	// twice are attempts that were paid by a second payment.
	twice []*Change
	// won are succeeded attempts with siblings. lost are failed attempts with siblings. authorized are attempts that
	// have just been authorized.
	won, lost, authorized []*Change
	// read are the orders, each with the changeset's attempts as they are by now.
	read map[payment.OrderID]payment.Order
}

type lateSuccess struct {
	change *Change
	at     int
}

var errContended = errors.New("another transaction has the live attempt of the order")

// contended is an errContended of one attempt with late money.
type contended struct {
	error

	attempt payment.AttemptID
}

// noteOrders keeps the changes that must be seen together with the order's other attempts.
func (s *Changeset) noteOrders(c *Change, before payment.Attempt) {
	a := &c.Attempt
	if a.State == before.State {
		return
	}
	if a.Succeeded() && a.Siblings {
		s.orders.won = append(s.orders.won, c)
	}
	if a.Failed() && a.Siblings {
		s.orders.lost = append(s.orders.lost, c)
	}
	if a.State == fsm.Authorized {
		s.orders.authorized = append(s.orders.authorized, c)
	}
}

// siblings returns the other attempts of an attempt's order, where the order was read: it was for an attempt that has ended
// and has any.
func (s *Changeset) siblings(of payment.Attempt) []payment.Attempt {
	all := slices.Clone(s.orders.read[of.OrderID].Attempts)
	return slices.DeleteFunc(all, func(a payment.Attempt) bool { return a.ID == of.ID })
}

// Authorized has an attempt compared with its order as if it had just been authorized.
func (s *Changeset) Authorized(c *Change) { s.orders.authorized = append(s.orders.authorized, c) }

// late reports whether a failed attempt holds money only now.
func (c *Change) late() bool {
	return c.Attempt.Failed() && c.Attempt.HoldsMoney() && !c.before.HoldsMoney()
}

// cancelSiblings reads the affected orders and cancels the live attempts beside late money. It does so in the same commit, so
// that no runner that takes one of their operations later gets a permit. Their locks come before the locks that the
// changeset has, so it does not wait for them. An attempt that can't be locked now is left to the next try.
func (s *Changeset) cancelSiblings(ctx context.Context) error {
	var late []*Change
	var ids, stop []payment.OrderID
	for _, id := range s.order {
		if c := s.changes[id]; c.late() {
			late, stop = append(late, c), append(stop, c.Attempt.OrderID)
		}
	}
	ids = append(ids, stop...)
	for _, l := range s.orders.late {
		ids = append(ids, l.change.Attempt.OrderID)
	}
	for _, changes := range [][]*Change{s.orders.won, s.orders.lost, s.orders.authorized} {
		for _, c := range changes {
			ids = append(ids, c.Attempt.OrderID)
		}
	}
	if len(ids) == 0 {
		s.watchAll()
		return nil
	}
	read, locked, err := s.tx.OrdersBeside(ctx, ids, stop)
	if err != nil {
		return err
	}
	s.orders.read = read
	s.overlay()
	for _, c := range late {
		if err := s.cancelLive(c, locked); err != nil {
			return err
		}
	}
	s.enforceOrderPolicy()
	if err := s.classify(ctx); err != nil {
		return err
	}
	s.watchAll()
	return nil
}

func (s *Changeset) watchAll() {
	for _, id := range s.order {
		s.watch(s.changes[id])
	}
}

// overlay replaces the attempts of the read orders by the changeset's attempts.
func (s *Changeset) overlay() {
	for _, o := range s.orders.read {
		for i := range o.Attempts {
			if c, ok := s.changes[o.Attempts[i].ID]; ok {
				o.Attempts[i] = c.Attempt
			}
		}
	}
}

// cancelLive cancels the live attempt beside late money.
func (s *Changeset) cancelLive(late *Change, locked []payment.Attempt) error {
	order := s.orders.read[late.Attempt.OrderID]
	live := order.Live()
	if live == nil || live.State.Final() {
		return nil
	}
	for _, a := range locked {
		if a.ID == live.ID {
			s.Change(a)
		}
	}
	c, ours := s.changes[live.ID]
	if !ours {
		return &contended{errContended, late.Attempt.ID}
	}
	s.RequestCancel(c, payment.OperationOriginPolicy).Sooner(s.Now())
	return nil
}

// RequestCancel cancels a pending attempt that must take no money any more. An unsent operation is withdrawn. A command
// restarts the schedule of the cancel.
func (s *Changeset) RequestCancel(c *Change, origin payment.OperationOrigin) *payment.Operation {
	if take := c.Attempt.OpenTake(); take != nil && take.State == fsm.OperationWanted && take.Sends == 0 {
		take.Withdraw()
	}
	return s.EnsureCancel(c, origin)
}

// enforceOrderPolicy cancels attempts that were authorized only now although their order withholds them. A provider may have refused
// to cancel them before.
func (s *Changeset) enforceOrderPolicy() {
	for _, c := range s.orders.authorized {
		if c.Attempt.State != fsm.Authorized || c.Attempt.OpenCancel() != nil {
			continue
		}
		if take := c.Attempt.OpenTake(); take != nil && take.Kind == payment.OperationCapture {
			continue
		}
		switch err := s.orders.read[c.Attempt.OrderID].Withheld(c.Attempt.ID); {
		case errors.Is(err, payment.ErrOrderCancelled):
			s.RequestCancel(c, payment.OperationOriginOrderCancel).Sooner(s.Now())
		case err != nil:
			s.RequestCancel(c, payment.OperationOriginPolicy).Sooner(s.Now())
		}
	}
}

// classify gives late money its kind by the order's other attempts, and finds a second
// success where the first was the late one.
func (s *Changeset) classify(ctx context.Context) error {
	for _, l := range s.orders.late {
		a := &l.change.Attempt
		o, d := s.orders.read[a.OrderID], &s.discrepancies[l.at]
		d.Kind = lateKind(*a, o)
		d.Text = payment.ExplainDiscrepancy(d.Kind)
		if o.Money != a.Money {
			d.Text += " The order was amended after this payment had started: the order is for " + o.Money.String() + " now, and the payment was for " + a.Money.String() + "."
		}
		if o.Accepted != nil && *o.Accepted == a.ID {
			continue // a person has accepted its money as the order's payment
		}
		if err := s.refundLate(ctx, l.change); err != nil {
			return err
		}
	}
	for _, c := range s.orders.won {
		for _, other := range s.orders.read[c.Attempt.OrderID].Attempts {
			if other.ID != c.Attempt.ID && other.Held() > 0 {
				s.find(&Change{Attempt: other}, payment.Finding{Kind: payment.DoubleSuccess}, payment.Cause{})
			}
		}
	}
	return nil
}

func lateKind(a payment.Attempt, o payment.Order) payment.DiscrepancyKind {
	live := o.Live()
	switch {
	case live != nil && live.ID != a.ID && live.Succeeded():
		return payment.DoubleSuccess
	case o.CancelRequestedAt != nil:
		return payment.PaidAfterCancel
	}
	return payment.LateSuccess
}
