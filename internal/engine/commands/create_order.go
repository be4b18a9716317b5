package commands

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateOrder is the command. An empty OrderID lets the service make one.
type CreateOrder struct {
	OrderID     payment.OrderID
	Money       payment.Money
	Description string
	Metadata    map[string]string
	// Lines and Customer count for each pay without its own; nil and zero without.
	Lines    []gateway.Line
	Customer gateway.Customer
}

// details returns the details that the order's pays carry by default.
func (cmd CreateOrder) details() orderDetails { return orderDetails{cmd.Lines, cmd.Customer} }

// CreateOrder creates an order. The configuration names the roles that may create orders, since they set the price. A
// customer can't choose the order's id. The same request again gets the stored response. The same order under another
// key gets the order as it is now. It returns ErrForbidden, ErrUserMissing, a ValidationError, payment.ErrOrderExists
// when another order has the id, and the errors of idempotency.Take.
func (c *Commands) CreateOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateOrder) (payment.Order, idempotency.Result, error) {
	if err := actor.MayCreate(c.OrdersBy); err != nil {
		return payment.Order{}, "", err
	}
	if actor.ActsAs() == payment.RoleCustomer && cmd.OrderID != "" {
		return payment.Order{}, "", payment.Invalid("order_id", "may be set only by the merchant: leave it out, and use the order_id of the response")
	}
	of := gateway.Details{Lines: cmd.Lines, Customer: cmd.Customer}
	of.Customer.Reference = cmp.Or(of.Customer.Reference, string(actor.User()))
	if err := errors.Join(actor.MayUse(of), addUp(cmd.Lines, cmd.Money)); err != nil {
		return payment.Order{}, "", err
	}
	made, shared, err := c.orders.Do(ctx, req, c.Wait, func() (orderReply, error) {
		return c.createOrder(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		made.result = idempotency.Reused
	}
	return made.Order, made.result, err
}

func (c *Commands) createOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateOrder) (orderReply, error) {
	rec, known, err := c.Store.KeyRead(ctx, req)
	if err != nil {
		return orderReply{}, err
	}
	if known && rec.Response != nil && rec.Hash == req.Hash {
		return c.replayOrder(ctx, req, *rec.Response)
	}
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return orderReply{}, err
	}
	if cmd.OrderID == "" {
		cmd.OrderID = payment.OrderID(payment.OwnOrderPrefix + c.Runner.Cell.NewID().String())
	}
	var made payment.Order
	done, err := c.underKey(ctx, req, idempotency.KeepOther, func(ctx context.Context, tx Tx, _ idempotency.Record) (*idempotency.Response, error) {
		var err error
		made, err = c.placeOrder(ctx, tx, actor, req, cmd)
		switch {
		case errors.Is(err, payment.ErrOrderExists):
			return nil, idempotency.Refused(err)
		case err != nil:
			return nil, err
		}
		made = made.ResponseTo(req)
		return &idempotency.Response{Status: http.StatusCreated, Subject: string(made.ID)}, nil
	})
	switch {
	case err != nil:
		return orderReply{}, err
	case done.Replay != nil:
		return c.replayOrder(ctx, req, *done.Replay)
	}
	return orderReply{made, idempotency.Created}, nil
}

func (c *Commands) replayOrder(ctx context.Context, req idempotency.Request, r idempotency.Response) (orderReply, error) {
	if err := r.Err(); err != nil {
		return orderReply{}, err
	}
	o, err := c.Store.Order(ctx, payment.OrderID(r.Subject))
	return orderReply{o.ResponseTo(req), idempotency.Reused}, err
}

// placeOrder inserts the order, or finds the order of an earlier equal request, or of equal content under another key.
func (c *Commands) placeOrder(ctx context.Context, tx Tx, actor authz.Actor, req idempotency.Request, cmd CreateOrder) (payment.Order, error) {
	user := actor.User()
	o := payment.Order{
		ID: cmd.OrderID, UserID: user, CreatedBy: actor.ActsAs(), RequestID: payment.RequestID(req.Key), RequestHash: req.Hash, Money: cmd.Money, Revision: 1,
		Description: cmd.Description, Metadata: cmd.Metadata, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	var err error
	if o.SealedDetails, err = c.sealedDetails(o.ID, cmd.details()); err != nil {
		return o, err
	}
	o.Detailed = o.SealedDetails != nil
	inserted, err := tx.OrderInsert(ctx, o)
	if err != nil || inserted {
		return o, err
	}
	there, err := tx.OrderByRequest(ctx, user, o.RequestID)
	if err == nil {
		err = req.Same(there.RequestHash)
	}
	if errors.Is(err, payment.ErrOrderNotFound) {
		there, err = tx.OrderRead(ctx, o.ID)
		erased := errors.Is(err, payment.ErrOrderNotFound) // the request made an order, and its user was erased
		if erased || err == nil && (there.UserID != user || !there.SameContent(o)) {
			return payment.Order{}, payment.ErrOrderExists
		}
	}
	return there, err
}
