package commands

import (
	"context"
	"errors"
	"net/http"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// CancelOrder stops further pays of an order and cancels its pending attempt at the provider. The order is cancelled
// once that attempt has failed. If the attempt succeeds nevertheless, the order is paid. It returns payment's
// ErrOrderPaid, ErrBusy while a capture is under way, ErrForbidden (for a customer also where money is on hold),
// ErrOrderNotFound, and the errors of idempotency.Take.
func (c *Commands) CancelOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID) (payment.Order, idempotency.Result, error) {
	if err := actor.MayAct(); err != nil {
		return payment.Order{}, "", err
	}
	looked, err := c.lookForHoldOf(ctx, actor, id)
	if err != nil {
		return payment.Order{}, "", err
	}
	done, shared, err := c.orders.Do(ctx, req, c.Wait, func() (orderReply, error) {
		return c.cancelOrder(context.WithoutCancel(ctx), actor, req, id, looked)
	})
	if shared {
		done.result = idempotency.Reused
	}
	return done.Order, done.result, err
}

func (c *Commands) cancelOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID, looked payment.AttemptID) (orderReply, error) {
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return orderReply{}, err
	}
	var r orderCancel
	err := idempotency.InTurn(ctx, c.Wait, func() (err error) {
		r, err = c.requestCancel(ctx, actor, req, id, looked)
		return err
	})
	switch {
	case err != nil:
		return orderReply{}, err
	case r.replay:
		o, err := c.Store.Order(ctx, id)
		return orderReply{o, idempotency.Reused}, err
	}
	o, err := c.cancelLive(ctx, id, r.live)
	response := idempotency.Response{Status: http.StatusOK, Subject: string(id)}
	if errors.Is(err, payment.ErrOrderPaid) {
		response = req.Refusal(err)
	} else if err != nil {
		return orderReply{}, errors.Join(err, c.Store.KeyRelease(ctx, req, r.fence))
	}
	stored := c.Runner.Patiently(func() error {
		return c.Store.InCommandTx(ctx, func(ctx context.Context, tx Tx) error {
			return c.claim(req, idempotency.KeepOther).Respond(ctx, tx, r.fence, response)
		})
	})
	switch {
	case errors.Is(stored, idempotency.ErrFenced): // the response is another runner's by now
		return orderReply{o, idempotency.Reused}, err
	case stored != nil:
		err = stored
	}
	return orderReply{o, idempotency.Created}, err
}

// cancelLive cancels the order's live attempt at the provider, and returns the order after that. live may be nil.
func (c *Commands) cancelLive(ctx context.Context, id payment.OrderID, live *payment.Attempt) (payment.Order, error) {
	if live != nil {
		if a, err := c.await(ctx, *live, c.Wait); err == nil && !a.State.Final() {
			_, err = c.Runner.Recheck(ctx, a.ID, payment.Cause{Kind: payment.CauseCheck, ID: "cancel"})
			if err != nil && !errors.Is(err, payment.ErrBusy) {
				return payment.Order{}, err
			}
		}
	}
	o, err := c.Store.Order(ctx, id)
	if err == nil && o.Status() == payment.OrderPaid {
		err = payment.ErrOrderPaid
	}
	return o, err
}

// orderCancel is the result of a cancel request: a replay, or the live attempt with the fence of the key that waits for
// its response.
type orderCancel struct {
	live   *payment.Attempt
	fence  int64
	replay bool
}

// requestCancel puts the cancel request on disk, with a cancel for the live attempt.
func (c *Commands) requestCancel(ctx context.Context, actor authz.Actor, req idempotency.Request, id payment.OrderID, looked payment.AttemptID) (r orderCancel, err error) {
	done, err := c.underKey(ctx, req, idempotency.KeepOther, func(ctx context.Context, tx Tx, rec idempotency.Record) (*idempotency.Response, error) {
		live, err := c.cancelIn(ctx, tx, actor, id, looked)
		r = orderCancel{live: live, fence: rec.Fence}
		return nil, err
	})
	if done.Replay != nil {
		return orderCancel{replay: true}, err
	}
	return r, err
}

// cancelIn writes the cancel request under the order's lock and returns the order's live
// attempt.
func (c *Commands) cancelIn(ctx context.Context, tx Tx, actor authz.Actor, id payment.OrderID, looked payment.AttemptID) (*payment.Attempt, error) {
	o, err := tx.OrderLock(ctx, id)
	switch {
	case errors.Is(err, payment.ErrOrderNotFound):
		return nil, unseen(actor, err)
	case err != nil:
		return nil, err
	case o.UserID != actor.User():
		return nil, payment.ErrForbidden
	case o.Status() == payment.OrderCancelled:
		return nil, nil
	case o.Status() == payment.OrderPaid:
		return nil, idempotency.Refused(payment.ErrOrderPaid)
	case o.HoldsMoney() && o.Live() == nil:
		return nil, idempotency.Refused(o.LateMoney())
	}
	if err := c.mayRelease(actor, looked, o.Attempts...); err != nil {
		return nil, err
	}
	live, cancelled := o.Live(), outbox.Order(outbox.OrderCancelled, o, payment.AttemptID{}, tx.Now())
	if live == nil {
		return nil, tx.OrderCancel(ctx, o.ID, cancelled)
	}
	if err := c.callable(*live); err != nil && live.Origin != payment.OriginExternal {
		return nil, err
	}
	if take := live.OpenTake(); take != nil && take.Kind == payment.OperationCapture {
		return nil, payment.ErrBusy
	}
	s := changeset.New(tx, c.Runner.Rules)
	change := s.Change(*live)
	s.RequestCancel(change, payment.OperationOriginOrderCancel).Tries = 0 // a command restarts the schedule
	if err := tx.OrderCancel(ctx, o.ID, cancelled); err != nil {
		return nil, err
	}
	return &change.Attempt, s.Save(ctx)
}
