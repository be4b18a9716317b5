package payment

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// Pay is the command. An empty Account means the default one; Amount and
// Currency, where given, must be the order's.
type Pay struct {
	OrderID OrderID
	Account string
	Token   string
	// MethodType, Stored and Customer are as those of Method. An empty Customer means
	// the user.
	MethodType, Customer string
	Stored               bool

	Capture   CaptureMode
	ReturnURL string
	Amount    *int64
	Currency  *Currency
}

// pollEvery is how often a duplicate looks whether another process is done.
const pollEvery = 100 * time.Millisecond

// Pay tries to pay an order: one attempt for each (order, user, request), for
// ever, and one call to the provider for each attempt. It returns the attempt
// whatever became of it. The errors are ErrForbidden, ErrUserMissing,
// ErrAccountNotOffered, ErrOrderNotFound, ErrOrderPaid, ErrOrderCancelled, an
// InProgressError, a ValidationError, ErrStoredMethod, ErrMethodNotYours,
// ErrProviderUnavailable, and those of idempotency.Take.
func (s *Service) Pay(ctx context.Context, actor Actor, req idempotency.Request, cmd Pay) (Reply, error) {
	if err := actor.mayAct(); err != nil {
		return Reply{}, err
	}
	if err := actor.mayUse(methodOf(actor, cmd)); err != nil {
		return Reply{}, err
	}
	if cmd.Account == "" {
		cmd.Account = s.opts.DefaultAccount
	}
	reply, shared, err := s.commands.Do(ctx, req, s.opts.Wait, func() (Reply, error) {
		return s.pay(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		reply.Result, reply.TookOver = idempotency.Reused, false
	}
	if shared && errors.Is(err, idempotency.ErrInProgress) {
		// Commit 1 of the first may still be on its way.
		if now, err := s.payAgain(ctx, actor, req, cmd, 0); !errors.Is(err, ErrAttemptNotFound) {
			return now, err
		}
	}
	return reply, err
}

func (s *Service) pay(ctx context.Context, actor Actor, req idempotency.Request, cmd Pay) (Reply, error) {
	reply, err := s.payAgain(ctx, actor, req, cmd, s.opts.Wait)
	if !errors.Is(err, ErrAttemptNotFound) {
		return reply, err
	}
	account, ok := s.account(cmd.Account)
	if actor.actsAs() == RoleCustomer && !account.Offered && cmd.Account != s.opts.DefaultAccount {
		return Reply{}, ErrAccountNotOffered
	}
	if !ok || account.Provider == nil {
		return Reply{}, invalid("account", "name a configured account that can be charged")
	}
	method := methodOf(actor, cmd)
	if err := s.checkMethod(ctx, account.Provider, method); err != nil {
		return Reply{}, err
	}
	licence := s.licence()
	a, err := s.begin(ctx, actor, req, cmd, method)
	if errors.Is(err, errAgain) {
		return s.payAgain(ctx, actor, req, cmd, s.opts.Wait)
	}
	if err != nil {
		return Reply{}, err
	}
	v, err := s.settle(ctx, a, s.charge(ctx, account.Provider, a, method, licence))
	return Reply{View: v, Result: idempotency.Created}, err
}

// payAgain answers a request whose attempt exists: with the attempt as it is
// now, after the runner that has it is done or wait is over. An attempt whose
// runner died is taken over. It returns ErrAttemptNotFound for a new request.
func (s *Service) payAgain(ctx context.Context, actor Actor, req idempotency.Request, cmd Pay, wait time.Duration) (Reply, error) {
	a, err := look(ctx, s.byRequest, RequestName{cmd.OrderID, actor.User(), RequestID(req.Key)})
	if err != nil {
		return Reply{}, err
	}
	if a.RequestHash != req.Hash {
		return Reply{}, idempotency.ErrKeyReused
	}
	if a.leased(a.ReadAt) && a.unheard() && wait > 0 {
		if a, err = s.await(ctx, a, wait); err != nil {
			return Reply{}, err
		}
	}
	if a.unheard() && a.LeaseUntil != nil && !a.leased(a.ReadAt) {
		v, err := s.recheck(ctx, a.ID, Cause{Kind: CausePay, ID: string(a.RequestID)}, methodOf(actor, cmd))
		if !errors.Is(err, ErrBusy) {
			return Reply{View: v, Result: idempotency.Reused, TookOver: true}, err
		}
	}
	v, err := s.show(ctx, a)
	return Reply{View: v, Result: idempotency.Reused}, err
}

// await looks again until nobody holds the attempt's lease or wait is over.
func (s *Service) await(ctx context.Context, a Attempt, wait time.Duration) (Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return a, nil
		case <-tick.C:
		}
		next, err := s.store.Attempt(ctx, a.ID)
		switch {
		case ctx.Err() != nil:
			return a, nil
		case err != nil:
			return a, err
		case !next.leased(next.ReadAt) || !next.unheard():
			return next, nil
		}
		a = next
	}
}
