package commands

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateRefund is the command. Without an Amount all that is left is refunded.
type CreateRefund struct {
	AttemptID payment.AttemptID
	Amount    *int64
	Reason    string
	// Expected is how much the caller believes is left, in minor units.
	Expected *int64
	// ProviderPaymentID is the payment of the attempt to refund, or one of several captures of it; empty if the caller names none.
	ProviderPaymentID string
	// ProviderData are members of the provider's own request.
	ProviderData gateway.Data
	// AcknowledgeDispute is set if the caller refunds in spite of an open dispute.
	AcknowledgeDispute bool
	// With, if set, is called in the transaction that makes the refund. Its error undoes the refund. It may be called
	// again. A refusal of such a refund leaves the key unused.
	With func(ctx context.Context, tx Tx, r payment.Refund) error
}

// RefundReply is the result of a refund.
type RefundReply struct {
	payment.Refund
	Result idempotency.Result
}

// Refund refunds money, in every state of the attempt. There is one refund for each (attempt, user, request), for ever.
// It returns payment's ErrNotRefundable, ErrRefundExceeds, ErrRefundableChanged, ErrPaymentAmbiguous, ErrDisputeOpen,
// ErrForbidden, ErrAttemptNotFound, ErrPaysHeld, and the errors of idempotency.Take. It returns a ValidationError for data
// that must not be sent to the provider, and for a split payment if the data does not say who bears the refund.
func (c *Commands) Refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateRefund) (RefundReply, error) {
	if err := actor.MayRefund(); err != nil {
		return RefundReply{}, err
	}
	done, shared, err := c.refunds.Do(ctx, req, c.Wait, func() (RefundReply, error) {
		return c.refund(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		done.Result = idempotency.Reused
	}
	return done, err
}

func (c *Commands) refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateRefund) (RefundReply, error) {
	again, err := c.Store.RefundByRequest(ctx, cmd.AttemptID, payment.UserID(req.User), payment.RequestID(req.Key))
	if err == nil {
		if err = req.Same(again.RequestHash); err == nil {
			return c.refundAgain(ctx, again)
		}
	}
	if !errors.Is(err, payment.ErrRefundNotFound) {
		return RefundReply{}, err
	}
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return RefundReply{}, err
	}
	disputed := c.undisputed(ctx, cmd)
	permit := c.Runner.Permit()
	t, err := c.beginRefund(ctx, actor, req, cmd, disputed)
	if errors.Is(err, errReplay) {
		return c.refund(ctx, actor, req, cmd)
	}
	if err != nil {
		return RefundReply{}, err
	}
	if _, err := c.Runner.Record(ctx, t, c.Runner.Send(ctx, t, permit, payment.Cause{}), nil); err != nil {
		return RefundReply{}, err
	}
	r, err := c.Store.Refund(ctx, t.Refund.ID)
	return RefundReply{r, idempotency.Created}, err
}

// undisputed returns payment.ErrDisputeOpen beside an open dispute that the caller has not acknowledged: the key stays unused.
func (c *Commands) undisputed(ctx context.Context, cmd CreateRefund) error {
	if cmd.AcknowledgeDispute {
		return nil
	}
	disputes, err := c.Runner.Store.Disputes(ctx, cmd.AttemptID)
	if err == nil && slices.ContainsFunc(disputes, func(d payment.Dispute) bool { return !d.State.Closed() }) {
		err = payment.ErrDisputeOpen
	}
	return err
}

// beginRefund is commit 1 of a refund: under the attempt's lock pending refunds count, so
// two can't take the same money. Disputed refuses the refund to an actor who may make it.
func (c *Commands) beginRefund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateRefund, disputed error) (t runner.Task, err error) {
	done, err := c.underKey(ctx, req, idempotency.KeepMoney, func(ctx context.Context, tx Tx, _ idempotency.Record) (*idempotency.Response, error) {
		a, _, err := tx.AttemptLock(ctx, cmd.AttemptID)
		switch {
		case errors.Is(err, payment.ErrAttemptNotFound):
			return nil, idempotency.Refused(err)
		case err != nil:
			return nil, err
		}
		if err := actor.MayRefundOf(a.UserID); err != nil {
			return nil, err
		}
		if disputed != nil {
			return nil, disputed
		}
		if err := c.callable(a); err != nil {
			return nil, err
		}
		if c.Runner.HoldsRefunds(a.Account) {
			return nil, c.Runner.Waits()
		}
		account, _ := c.Runner.Account(a) // callable has found it
		if err := account.Further.AcceptsRefund(cmd.ProviderData, a.Split); err != nil {
			return nil, err
		}
		t, err = c.makeRefund(ctx, tx, a, req, cmd)
		switch {
		case errors.Is(err, payment.ErrRefundExceeds) && cmd.With == nil:
			return nil, idempotency.Refused(err)
		case err != nil:
			return nil, err
		}
		return &idempotency.Response{Status: http.StatusCreated, Subject: t.Refund.ID.String()}, nil
	})
	if err == nil && done.Replay != nil {
		err = errReplay
	}
	return t, err
}

// makeRefund inserts the refund of a command, with its operation. The operation has begun.
func (c *Commands) makeRefund(ctx context.Context, tx Tx, a payment.Attempt, req idempotency.Request, cmd CreateRefund) (runner.Task, error) {
	s := changeset.New(tx, c.Runner.Rules)
	if err := s.LoadRefunds(ctx, a.ID); err != nil {
		return runner.Task{}, err
	}
	account, _ := c.Runner.Account(a)
	money, err := cmd.of(a, s.Refunds(a.ID), account.Provider.Capabilities())
	if err != nil {
		return runner.Task{}, err
	}
	now := tx.Now()
	r := payment.NewRefund(a, payment.RefundByRequest, money, now)
	r.UserID, r.RequestID, r.RequestHash, r.Reason = payment.UserID(req.User), payment.RequestID(req.Key), req.Hash, cmd.Reason
	r.ProviderPaymentID = cmp.Or(cmd.ProviderPaymentID, a.OnlyCapture(account.Provider.Capabilities()))
	change := s.Change(a)
	made := s.Insert(change, r)
	op := a.NewOperation(payment.OperationRefund, payment.OperationOriginRequest, now)
	op.OriginID, op.RefundID, op.Amount = string(req.Key), r.ID, money.Minor
	carries := cmd.ProviderData.Text()
	if op.HasData = carries != ""; op.HasData {
		if op.SealedRequest, err = c.Runner.Sealed(carries, a.ID[:]); err != nil {
			return runner.Task{}, err
		}
	}
	end := now.Add(c.Runner.Schedule.Lease)
	op.Begin(now, end, end)
	change.Add(op)
	if err := s.Save(ctx); err != nil {
		return runner.Task{}, err
	}
	if cmd.With != nil {
		if err := cmd.With(ctx, tx, *made); err != nil {
			return runner.Task{}, err
		}
	}
	t := runner.TaskOf(change.Attempt, op, payment.Send, carries)
	t.Refund = made
	return t, nil
}

// of is how much a command refunds.
func (cmd CreateRefund) of(a payment.Attempt, refunds []payment.Refund, can payment.Capabilities) (payment.Money, error) {
	if a.Refundable() == 0 || a.ProviderPaymentID == "" {
		return payment.Money{}, payment.ErrNotRefundable
	}
	left, err := cmd.left(a, refunds, can)
	if err != nil {
		return payment.Money{}, err
	}
	if cmd.Expected != nil && *cmd.Expected != left {
		return payment.Money{}, payment.ErrRefundableChanged
	}
	amount := left
	if cmd.Amount != nil {
		amount = *cmd.Amount
	}
	if amount > left || amount <= 0 {
		return payment.Money{}, payment.ErrRefundExceeds
	}
	return payment.Money{Minor: amount, Currency: a.Money.Currency}, nil
}

// left is the refundable amount of the payment that the command names, or of the attempt's only payment that holds
// money. Where the provider refunds captures, it is that of the named one of several captures, or of the only one.
func (cmd CreateRefund) left(a payment.Attempt, refunds []payment.Refund, can payment.Capabilities) (int64, error) {
	if can.Refunds == payment.RefundsOfCaptures && a.Capture == payment.CaptureSeveral && a.NamedCaptures() > 1 {
		m, named := a.CaptureNamed(cmd.ProviderPaymentID)
		if !named {
			return 0, payment.ErrPaymentAmbiguous
		}
		return payment.RefundLeftOfCapture(a, m, refunds), nil
	}
	if cmd.ProviderPaymentID != "" {
		p := a.Payment(cmd.ProviderPaymentID)
		if p == nil || p.Held() == 0 {
			return 0, payment.ErrNotRefundable
		}
		return payment.RefundLeftOf(a, *p, refunds), nil
	}
	if len(a.Holders()) > 1 {
		return 0, payment.ErrPaymentAmbiguous
	}
	return payment.RefundLeft(a, refunds), nil
}

// refundAgain is the response to a repeated request that has made its refund. It returns the refund as it is after its
// runner is done. It continues a refund of a process that died. It returns idempotency.ErrInProgress when the runner is
// not done after the wait.
func (c *Commands) refundAgain(ctx context.Context, r payment.Refund) (RefundReply, error) {
	r, err := c.awaitRefund(ctx, r)
	switch {
	case err != nil:
		return RefundReply{}, err
	case r.State.Final(), r.LeaseUntil == nil:
		return RefundReply{r, idempotency.Reused}, nil
	case r.Leased():
		return RefundReply{}, idempotency.ErrInProgress
	}
	r, err = c.Runner.RecheckRefund(ctx, r.ID, payment.Cause{Kind: payment.CauseCheck, ID: "retry"})
	return RefundReply{r, idempotency.Reused}, err
}

// awaitRefund looks again until no runner has the refund or the wait is over.
func (c *Commands) awaitRefund(ctx context.Context, r payment.Refund) (payment.Refund, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for r.Leased() {
		select {
		case <-ctx.Done():
			return r, nil
		case <-tick.C:
		}
		next, err := c.Store.Refund(ctx, r.ID)
		if ctx.Err() != nil {
			return r, nil // the wait is over: the last read counts
		}
		if err != nil {
			return r, err
		}
		r = next
	}
	return r, nil
}
