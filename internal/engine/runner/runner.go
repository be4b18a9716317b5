// Package runner carries out operations under a lease:
//
//	take ─► permit ─► send, or look up ─► record
//
// Take is a transaction. With the attempt locked, package payment decides about the operation (payment.Attempt.Permit),
// the fence rises, and the operation is on disk as sent before its first byte. Send calls the provider, with no
// transaction open. Just before the first byte it checks, by two clocks, that the permit has not ended. Record is a
// transaction again. The returned reports are always applied. The operation's own result and the inferences count only
// while the fence holds.
//
// All kinds of operations of every origin take this path. Commands hand over operations that their own first transaction
// took. A final attempt is looked up without an operation: that moves nothing, and its reports are applied as in Record.
package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

// Tx is an open transaction. It may store the response to a key.
type Tx interface {
	changeset.Tx
	idempotency.Tx

	// SealedRequest reads the data for a resend of an operation, encrypted; nil if none is kept.
	SealedRequest(ctx context.Context, name payment.OperationName) ([]byte, error)
}

// Store keeps operations.
type Store interface {
	// InTx runs fn in one transaction, as changeset.InTx.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Attempt reads an attempt; Order one with its attempts; Refund a refund.
	Attempt(ctx context.Context, id payment.AttemptID) (payment.Attempt, error)
	Order(ctx context.Context, id payment.OrderID) (payment.Order, error)
	Refund(ctx context.Context, id payment.RefundID) (payment.Refund, error)
	// Receipt reads the content of an attempt's fiscal receipts, encrypted; nil without receipts.
	Receipt(ctx context.Context, a payment.Attempt) ([]byte, error)
	// Disputes reads the disputes of an attempt, oldest first.
	Disputes(ctx context.Context, id payment.AttemptID) ([]payment.Dispute, error)
	// ReserveLookup reports whether no caller of any process has reserved a lookup of a final attempt less than
	// every ago, and reserves it then.
	ReserveLookup(ctx context.Context, id payment.AttemptID, every time.Duration) (bool, error)
	// DueAccounts lists the accounts that have due operations.
	DueAccounts(ctx context.Context) ([]string, error)
	// DueOperations lists the due operations of an account, the longest due first. It closes the operations that trail a
	// final attempt.
	DueOperations(ctx context.Context, account string, limit int) ([]payment.OperationName, error)
}

// Options configure a Runner.
type Options struct {
	Store Store
	changeset.Rules

	// ProviderTimeout bounds one call; all calls of one taking end within the lease.
	ProviderTimeout time.Duration
	// Seal encrypts the data for a resend of a charge or a complete. Open decrypts it. Without them no operation is sent
	// twice.
	Seal func(text string, of []byte) ([]byte, error)
	Open func(sealed, of []byte) (string, error)
	// Flushed is called with the number of call results that share each transaction; nil for no call.
	Flushed func(items int)
	// Now is the clock of permits; it must carry a monotonic reading.
	Now func() time.Time
}

// Runner takes operations and carries them out. It is safe for concurrent use.
type Runner struct {
	Options

	records *groupcommit.Group[*recording]
}

// New returns a runner.
func New(o Options) *Runner {
	r := &Runner{Options: o}
	r.records = groupcommit.Shared(r.recordAll, o.Flushed)
	return r
}

// Permit returns a permit for the lease that is taken next.
func (r *Runner) Permit() gateway.Permit {
	return gateway.NewPermit(r.Now(), r.Schedule.Lease, r.Now)
}

// DueAccounts lists accounts with operations that are due.
func (r *Runner) DueAccounts(ctx context.Context) ([]string, error) { return r.Store.DueAccounts(ctx) }

// Due lists operations of an account that are due.
func (r *Runner) Due(ctx context.Context, account string, limit int) ([]payment.OperationName, error) {
	return r.Store.DueOperations(ctx, account, limit)
}

// Execute takes an operation and executes it. It returns payment.ErrBusy while another runner has the attempt. It leaves
// a closed operation unchanged.
func (r *Runner) Execute(ctx context.Context, name payment.OperationName, cause payment.Cause) (payment.Attempt, error) {
	return r.run(context.WithoutCancel(ctx), name, cause, "")
}

func (r *Runner) run(ctx context.Context, name payment.OperationName, cause payment.Cause, request string) (payment.Attempt, error) {
	permit := r.Permit()
	t, err := r.take(ctx, name, request)
	if err != nil || !t.taken {
		return t.Attempt, err
	}
	return r.Record(ctx, t, r.Send(ctx, t, permit, cause), nil)
}

// Recheck executes the open operations of an attempt, due or not. The reconciler, a client's retry and support use it.
// It returns payment.ErrBusy while another runner has the attempt. It returns an attempt without open operations
// unchanged.
func (r *Runner) Recheck(ctx context.Context, id payment.AttemptID, cause payment.Cause) (payment.View, error) {
	return r.Resume(ctx, id, cause, "")
}

// RecheckOnce is Recheck, but an attempt with an operation that any process has tried less than every ago is returned as
// it is.
func (r *Runner) RecheckOnce(ctx context.Context, id payment.AttemptID, cause payment.Cause, every time.Duration) (payment.View, error) {
	return r.resume(context.WithoutCancel(ctx), id, cause, "", every)
}

// Resume is Recheck with the data that the pay carries (gateway.Details.Text). The attempt's own request has brought the
// data again.
func (r *Runner) Resume(ctx context.Context, id payment.AttemptID, cause payment.Cause, request string) (payment.View, error) {
	return r.resume(context.WithoutCancel(ctx), id, cause, request, 0)
}

func (r *Runner) resume(ctx context.Context, id payment.AttemptID, cause payment.Cause, request string, every time.Duration) (payment.View, error) {
	a, err := r.Store.Attempt(ctx, id)
	if err != nil {
		return payment.View{}, err
	}
	name, err := r.next(ctx, id, every)
	if err != nil || name == (payment.OperationName{}) {
		return r.shown(ctx, a, err)
	}
	if a, err = r.run(ctx, name, cause, request); err != nil {
		return payment.View{}, err
	}
	if o := a.OpenTake(); o != nil && o.Kind == payment.OperationComplete && o.Name() != name && o.Sends == 0 {
		a, err = r.run(ctx, o.Name(), cause, "")
	}
	return r.shown(ctx, a, err)
}

func (r *Runner) shown(ctx context.Context, a payment.Attempt, err error) (payment.View, error) {
	if err != nil {
		return payment.View{}, err
	}
	return r.View(ctx, a)
}

// next is the next operation of an attempt: a cancel before an operation that takes money. It is empty if that operation
// was tried less than every ago. An operation that the order withholds is cancelled.
func (r *Runner) next(ctx context.Context, id payment.AttemptID, every time.Duration) (name payment.OperationName, err error) {
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		name = payment.OperationName{}
		a, o, err := tx.AttemptLock(ctx, id)
		if err != nil {
			return err
		}
		s := changeset.New(tx, r.Rules)
		c := s.Change(a)
		if err := o.Withheld(a.ID); err != nil && !a.State.Final() && a.LeasedOperation(tx.Now()) == nil {
			s.RequestCancel(c, withheldBy(err))
		}
		for _, op := range []*payment.Operation{c.Attempt.OpenCancel(), c.Attempt.OpenTake(), c.Attempt.OpenOperation(string(payment.OperationCheck))} {
			if op != nil {
				if ago := tx.Now().Sub(r.Schedule.LastTried(op, c.Attempt.Began(op))); ago < 0 || ago >= every {
					name = op.Name()
				}
				break
			}
		}
		return s.Save(ctx)
	})
	return name, err
}

// withheldBy is the origin of the cancel of an attempt that its order withholds.
func withheldBy(err error) payment.OperationOrigin {
	if errors.Is(err, payment.ErrOrderCancelled) {
		return payment.OperationOriginOrderCancel
	}
	return payment.OperationOriginPolicy
}

// RecheckRefund is Recheck of a refund.
func (r *Runner) RecheckRefund(ctx context.Context, id payment.RefundID, cause payment.Cause) (payment.Refund, error) {
	ctx = context.WithoutCancel(ctx)
	open, err := r.Store.Refund(ctx, id)
	if err != nil || open.State.Final() {
		return open, err
	}
	var name payment.OperationName
	err = r.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		a, _, err := tx.AttemptLock(ctx, open.AttemptID)
		if o := a.RefundOperation(id); err == nil && o != nil {
			name = o.Name()
		}
		return err
	})
	if err != nil {
		return payment.Refund{}, err
	}
	if name != (payment.OperationName{}) {
		if _, err := r.Execute(ctx, name, cause); err != nil {
			return payment.Refund{}, err
		}
	}
	return r.Store.Refund(ctx, id)
}

// View adds the order's fields to an attempt, and its disputes where it was read without them.
func (r *Runner) View(ctx context.Context, a payment.Attempt) (payment.View, error) {
	if a.Disputes == nil {
		var err error
		if a.Disputes, err = r.Store.Disputes(ctx, a.ID); err != nil {
			return payment.View{}, err
		}
	}
	if !a.Failed() {
		return payment.View{Attempt: a}, nil
	}
	o, err := r.Store.Order(ctx, a.OrderID)
	if err != nil {
		return payment.View{}, err
	}
	return payment.ViewOf(a, o), nil
}

// Account is the account of an attempt. It reports whether the account's provider can be called about the attempt, see AccountOf.
func (r *Runner) Account(a payment.Attempt) (gateway.Account, bool) {
	account := r.AccountOf(a)
	return account, account.Provider != nil
}

// call bounds one call: by its own limit, and by the rest of the lease, so that all calls of one take end within it.
func (r *Runner) call(ctx context.Context, p gateway.Permit) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(r.ProviderTimeout, p.Left()))
}

// request is the data that an operation carries; empty without data.
func (r *Runner) request(t Task) (string, error) {
	switch {
	case t.Request != "", !t.Operation.Carries():
		return t.Request, nil
	case r.Open == nil || len(t.Operation.SealedRequest) == 0:
		return "", fmt.Errorf("%w: the request of %s is not stored any more", gateway.ErrNotSent, t.Operation.Key())
	}
	text, err := r.Open(t.Operation.SealedRequest, t.Attempt.ID[:])
	if err != nil {
		err = fmt.Errorf("%w: open a sealed request: %w", gateway.ErrNotSent, err)
	}
	return text, err
}

// data is the members of the provider's own request that a capture or a refund carries.
func (r *Runner) data(t Task) (gateway.Data, error) {
	text, err := r.request(t)
	if err != nil {
		return nil, err
	}
	return gateway.ParseData(text)
}

// Sealed is the sealed text for an attempt or an order, nil where no text is kept.
func (r *Runner) Sealed(text string, of []byte) ([]byte, error) {
	if r.Seal == nil {
		return nil, nil
	}
	return r.Seal(text, of)
}

// receipt is the content of the fiscal receipt for a part of an attempt's money; nil if there is no receipt. An unreadable
// receipt is an error: the call would be sent without a receipt.
func (r *Runner) receipt(ctx context.Context, a payment.Attempt, minor int64) (*gateway.Receipt, error) {
	sealed, err := r.Store.Receipt(ctx, a)
	if err != nil || len(sealed) == 0 || r.Open == nil {
		return nil, err
	}
	text, err := r.Open(sealed, a.ID[:])
	if err != nil {
		return nil, fmt.Errorf("open the receipt of %s: %w", a.ID, err)
	}
	var receipt gateway.Receipt
	if err := json.Unmarshal([]byte(text), &receipt); err != nil {
		return nil, fmt.Errorf("read the receipt of %s: %w", a.ID, err)
	}
	return receipt.Part(minor), nil
}

var lookedUp = []payment.OperationKind{payment.OperationCharge, payment.OperationComplete, payment.OperationCheck} //nolint:gochecknoglobals // a list

// looksUp reports whether an operation of a kind depends on the status of the payment.
func looksUp(k payment.OperationKind) bool { return slices.Contains(lookedUp, k) }
