// Package changeset is the unit of work of one transaction. It loads attempts under their locks and applies reports to
// them. It derives the consequences: operations, refunds, discrepancies, parked events. It saves all attempts at once.
// One webhook is a changeset with one report.
//
//	load ─► apply each report ─► derive ─► save
//
// It decides nothing about calls to providers; package runner does.
package changeset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

// Rules are the settings that all changesets of one process share.
type Rules struct {
	// Cell is the number of the cell that has this database: new ids contain it.
	Cell payment.Cell
	// Accounts are the accounts of the current configuration. A running use of an adapter goes on after a reload removed
	// it.
	Accounts *current.Map[gateway.Account]
	Schedule payment.Schedule
	// Held are the accounts with payments that a restored database may lack; nil without such accounts.
	Held Holds
	// LookAgain looks at the database once more before the first call of a charge or a refund; nil where each change of the server makes a
	// new connection. It returns an error if the database does not answer.
	LookAgain func(ctx context.Context) error
	// Wanted is called after a commit with its new operations that are due at once; nil for no call.
	Wanted func([]payment.OperationName)
}

// AccountOf is the configured account of an attempt. It has no provider for an attempt that was begun with another merchant than the
// account's of now: this merchant does not have the payment, and its "not found" would prove nothing.
func (r Rules) AccountOf(a payment.Attempt) gateway.Account {
	account := r.Accounts.Get(a.Account)
	if account.Merchant != a.Merchant {
		account.Provider = nil
	}
	return account
}

// Holds are accounts that are held.
type Holds interface {
	// Held reports whether an account is: its refunds wait. HeldAny reports whether any is: all pays wait, since an order may
	// have been paid by that one.
	Held(account string) bool
	HeldAny() bool
	// Looking reports whether they wait only for a look into the database, which takes seconds.
	Looking() bool
}

// HoldsRefunds reports whether the refunds of an account wait.
func (r Rules) HoldsRefunds(account string) bool { return r.Held != nil && r.Held.Held(account) }

// HoldsPays reports whether pays wait.
func (r Rules) HoldsPays() bool { return r.Held != nil && r.Held.HeldAny() }

// errLooking is returned while another server may lack commits.
var errLooking = fmt.Errorf("%w: the database server is another one or has crashed, and the last commits are looked up there", payment.ErrUnavailable)

// Waits returns the refusal of a pay or a refund that waits.
func (r Rules) Waits() error {
	if r.Held.Looking() {
		return errLooking
	}
	return payment.ErrPaysHeld
}

// Changeset is the unit of work of one transaction. It must not be used by two goroutines.
type Changeset struct {
	Rules

	tx      Tx
	changes map[payment.AttemptID]*Change
	order   []payment.AttemptID
	names   names
	refunds refunds
	orders  orders
	// disputes are the disputes that reports name.
	disputes disputes
	methods  methods
	// movers are the attempts that have named movements.
	movers        map[payment.MovementName]payment.AttemptID
	discrepancies []payment.Discrepancy
	// Decider is the subject of the person whose resolution this is. That person can't close a discrepancy that the
	// changeset opens.
	Decider string
	// makeDue leaves parked events to the worker instead of applying them.
	makeDue bool
	// freed is set once parked events were applied with the rest.
	freed bool
}

// Change is the change of one locked attempt.
type Change struct {
	Attempt payment.Attempt

	before      payment.Attempt
	transitions []payment.Transition
	names       []string
}

// New returns an empty changeset of a transaction.
func New(tx Tx, rules Rules) *Changeset {
	return &Changeset{Rules: rules, tx: tx, changes: map[payment.AttemptID]*Change{}, names: newNames()}
}

// Tx is the changeset's transaction.
func (s *Changeset) Tx() Tx { return s.tx }

// Now is the database's clock at the transaction's start.
func (s *Changeset) Now() time.Time { return s.tx.Now() }

// InTx runs a function in one transaction. A conflict with another transaction runs it
// again, so it must have no effect but through tx, and must not wait for anything but tx.
type InTx[T Tx] func(ctx context.Context, fn func(ctx context.Context, tx T) error) error

// Run runs a changeset in a transaction; write must end with Save. If the storage rejects the changeset together with
// the parked events that it applied, Run runs it again without them. The worker then tries those events singly and finds
// the bad one. Run also runs again for attempts that gained late money while another transaction has locked the live
// attempt of their order. Those attempts are Busy then.
func Run[T Tx](ctx context.Context, in InTx[T], rules Rules, write func(ctx context.Context, s *Changeset, tx T) error) error {
	freed := false
	busy := map[payment.AttemptID]bool{}
	run := func(makeDue bool) error {
		for {
			var last *Changeset
			err := in(ctx, func(ctx context.Context, tx T) error {
				s := New(tx, rules)
				s.makeDue, s.orders.busy = makeDue, busy
				err := write(ctx, s, tx)
				freed, last = s.freed, s
				return err
			})
			if err == nil {
				last.Committed()
			}
			left, ok := errors.AsType[*contended](err)
			if !ok || busy[left.attempt] {
				return err
			}
			busy[left.attempt] = true
		}
	}
	err := run(false)
	if freed && Rejected(err) {
		err = run(true)
	}
	return err
}

// Committed must be called after the commit of the changeset's transaction. It starts the new operations at once.
func (s *Changeset) Committed() {
	if s.Wanted == nil {
		return
	}
	var names []payment.OperationName
	for _, id := range s.order {
		c := s.changes[id]
		for i := range c.Attempt.Operations {
			o := &c.Attempt.Operations[i]
			if was := c.before.Operation(o.Kind, o.Number); o.State == fsm.OperationWanted && o.Due(s.Now()) && (was == nil || !was.Due(s.Now())) {
				names = append(names, o.Name())
			}
		}
	}
	if len(names) > 0 {
		s.Wanted(names)
	}
}

// Rejected reports whether the storage is available and rejects the data.
func Rejected(err error) bool { return err != nil && !errors.Is(err, payment.ErrUnavailable) }

// Busy reports whether an attempt must be locked with its whole order, see Run.
func (s *Changeset) Busy(id payment.AttemptID) bool { return s.orders.busy[id] }

// Change returns the changes of a locked attempt so far.
func (s *Changeset) Change(a payment.Attempt) *Change {
	c, ok := s.changes[a.ID]
	if !ok {
		c = &Change{Attempt: a, before: a}
		c.Attempt.Operations = slices.Clone(a.Operations)
		s.changes[a.ID] = c
		s.order = append(s.order, a.ID)
	}
	return c
}

// Lock locks an attempt, waiting for it: with its whole order if late money is to be
// recorded beside its live attempt.
func (s *Changeset) Lock(ctx context.Context, order payment.OrderID, id payment.AttemptID) (*Change, error) {
	if !s.Busy(id) {
		a, _, err := s.tx.AttemptLock(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.Change(a), nil
	}
	o, err := s.tx.OrderLock(ctx, order)
	if err != nil {
		return nil, err
	}
	a := o.Attempt(id)
	if a == nil {
		return nil, payment.ErrAttemptNotFound
	}
	return s.Change(*a), nil
}

// Take locks the attempts that are not locked yet. In the same round trip it reads the parked events that their new
// names may release. Attempts that another transaction has locked are left out.
func (s *Changeset) Take(ctx context.Context, ids []payment.AttemptID, names []payment.Reference) (map[payment.AttemptID]*Change, error) {
	taken, err := s.tx.AttemptsTake(ctx, ids, names)
	if err != nil {
		return nil, err
	}
	if err := s.names.read(ctx, s, names, taken); err != nil {
		return nil, err
	}
	changes := make(map[payment.AttemptID]*Change, len(taken.Attempts))
	for _, a := range taken.Attempts {
		changes[a.ID] = s.Change(a)
	}
	return changes, nil
}

// Apply applies a report on top of the changeset, with its consequences. LoadFor must have loaded the data for it.
func (s *Changeset) Apply(c *Change, r payment.Report) fsm.Verdict {
	if r.Event == "" {
		return payment.Ignored
	}
	if f := s.notOurs(c, r); f != nil {
		s.find(c, *f, payment.Cause{})
		return fsm.Conflict
	}
	if s.strangers(c, r) {
		return payment.Ignored
	}
	r.Excess = s.Accounts.Get(c.Attempt.Account).Excess
	r.KeepsRest = c.Attempt.Capture == payment.CaptureSeveral && s.capabilities(c.Attempt).Captures == payment.CapturesOpen
	c.Attempt.Fit(&r)
	shared := s.dropShared(c, &r)
	shared = s.rounds(c, &r) || shared
	if shared && r.Event == fsm.EventMoney && r.Refund == nil && len(r.Movements)+len(r.Disputes) == 0 {
		return fsm.Conflict
	}
	var verdict fsm.Verdict
	switch {
	case r.Refund != nil:
		verdict = s.applyRefund(c, r)
	case len(r.Disputes) > 0:
		verdict = s.applyDisputes(c, r)
	default:
		verdict = s.advance(c, r)
	}
	if shared {
		verdict = fsm.Conflict
	}
	return verdict
}

// advance moves the attempt by a report, with the consequences.
func (s *Changeset) advance(c *Change, r payment.Report) fsm.Verdict {
	before := c.Attempt
	t, verdict := payment.Advance(&c.Attempt, r, s.Now())
	if verdict == payment.Ambiguous {
		s.lookUp(c)
		return verdict
	}
	if t.Version != 0 {
		c.transitions = append(c.transitions, t)
	}
	for _, name := range r.Names() {
		s.name(c, name)
	}
	for _, f := range t.Findings {
		s.find(c, f, r.Cause)
		if f.About == payment.AboutSecondPayment && c.Attempt.Succeeded() {
			s.orders.twice = append(s.orders.twice, c)
		}
	}
	return s.follow(c, before, r, verdict)
}

// capabilities returns the capabilities of the attempt's provider; the zero value if it has none.
func (s *Changeset) capabilities(a payment.Attempt) payment.Capabilities {
	if p := s.AccountOf(a).Provider; p != nil {
		return p.Capabilities()
	}
	return payment.WithoutAdapter
}

// dropShared removes named movements of another attempt from a report. A person decides about them. It reports whether
// the report had any.
func (s *Changeset) dropShared(c *Change, r *payment.Report) (shared bool) {
	r.Movements = slices.DeleteFunc(slices.Clone(r.Movements), func(m payment.MovementReport) bool {
		name := payment.MovementName{Account: c.Attempt.Account, Kind: m.Kind, ID: cmp.Or(m.ID, m.Dispute)}
		owner, known := s.movers[name]
		if name.ID == "" || known && owner == c.Attempt.ID {
			return false
		}
		if known {
			s.shared(c, name.ID)
			shared = true
			return true
		}
		s.moved(c, name)
		return false
	})
	return shared
}

func (s *Changeset) moved(c *Change, name payment.MovementName) {
	if s.movers == nil {
		s.movers = map[payment.MovementName]payment.AttemptID{}
	}
	s.movers[name] = c.Attempt.ID
}

// LoadNamed reads the attempts of the movements and disputes that reports name, and the stored payment methods.
func (s *Changeset) LoadNamed(ctx context.Context, named Named) error {
	if err := s.loadMovers(ctx, named.Movements); err != nil {
		return err
	}
	if err := s.loadDisputes(ctx, named.Disputes); err != nil {
		return err
	}
	return s.loadMethods(ctx, named.Methods)
}

func (s *Changeset) loadMovers(ctx context.Context, names []payment.MovementName) error {
	names = slices.DeleteFunc(names, func(n payment.MovementName) bool { _, known := s.movers[n]; return n.ID == "" || known })
	if len(names) == 0 {
		return nil
	}
	owners, err := s.tx.MovementOwners(ctx, names)
	if err != nil {
		return err
	}
	if s.movers == nil {
		s.movers = make(map[payment.MovementName]payment.AttemptID, len(owners))
	}
	maps.Copy(s.movers, owners)
	return nil
}

// Save derives the consequences of the reports, writes everything, applies the parked events that a new name releases,
// and opens the discrepancies.
func (s *Changeset) Save(ctx context.Context) error {
	if err := s.names.reserveNames(ctx, s); err != nil {
		return err
	}
	if err := s.releaseParked(ctx); err != nil {
		return err
	}
	for _, c := range s.orders.twice {
		if err := s.refundLate(ctx, c); err != nil {
			return err
		}
	}
	if err := s.cancelSiblings(ctx); err != nil {
		return err
	}
	if err := s.methodsStored(ctx); err != nil {
		return err
	}
	writes := Writes{Disputes: s.disputes.writes(), Moves: s.disputes.added, Methods: s.methods.writes()}
	for i := range s.discrepancies {
		d := &s.discrepancies[i]
		d.ID = payment.DiscrepancyID(s.Cell.NewID())
		writes.Discrepancies = append(writes.Discrepancies, DiscrepancyWrite{*d, outbox.Discrepancy(*d)})
	}
	writes.Refunds, writes.Messages = s.refunds.writes(s.current)
	for _, d := range writes.Disputes {
		writes.Messages = append(writes.Messages, outbox.Dispute(d.Dispute, d.Was, s.current(d.Dispute.AttemptID)))
	}
	writes.Messages = append(writes.Messages, s.methods.told...)
	for _, id := range s.order {
		c := s.changes[id]
		paid := c.Attempt.TellsPaid(&c.before, s.Accounts.Get(c.Attempt.Account).HoldPaidForReview)
		writes.Attempts = append(writes.Attempts, c.write())
		writes.Messages = append(writes.Messages, outbox.Attempt(&c.Attempt, s.siblings(c.Attempt), c.transitions, paid)...)
	}
	return s.tx.Save(ctx, writes)
}

// current is the present state of an attempt that the changeset has locked.
func (s *Changeset) current(id payment.AttemptID) payment.Attempt { return s.changes[id].Attempt }

// Discrepancies returns the discrepancies that the changeset opens, with the ones that were open already.
func (s *Changeset) Discrepancies() []payment.Discrepancy { return s.discrepancies }

// write returns the rows to write for a change.
func (c *Change) write() AttemptWrite {
	a, b := &c.Attempt, &c.before
	w := AttemptWrite{
		Attempt: *a, Was: b.Version, Transitions: c.transitions, Names: c.names,
		Movements: a.Movements[len(a.Movements)-(a.LastMovement-b.LastMovement):],
		Changed:   a.Version != b.Version || a.Failure != b.Failure || a.Saved != b.Saved || a.Review != b.Review || a.PaymentsChanged(b),
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		was := b.Operation(o.Kind, o.Number)
		switch {
		case was == nil:
			w.Begun = append(w.Begun, *o)
		case !same(was, o):
			w.Moved = append(w.Moved, OperationWrite{*o, string(was.State), was.Fence})
		}
	}
	return w
}

// same reports whether nothing of an operation is to be written.
func same(a, b *payment.Operation) bool {
	return a.State == b.State && a.Fence == b.Fence && a.Sends == b.Sends && a.Tries == b.Tries && a.Result == b.Result &&
		a.ProviderRef == b.ProviderRef && equal(a.NextAt, b.NextAt) && equal(a.LeaseUntil, b.LeaseUntil)
}

func equal(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }

// Blameless marks that a rejection by the storage is not the fault of the applied parked events.
func (s *Changeset) Blameless() { s.freed = false }
