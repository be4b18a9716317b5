package commands

import (
	"context"
	"errors"
	"net/http"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/cell"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// CreateOrder is the command. An empty OrderID lets the service make one.
type CreateOrder struct {
	OrderID     payment.OrderID
	Money       payment.Money
	Description string
	Metadata    map[string]string
}

// CreateOrder creates what is to be paid. The roles that may are configured, since they set
// the price; a customer can't choose the order's id. The same request again gets the same
// response, as it was; the same order under another key, the order as it is. It
// returns ErrForbidden, ErrUserMissing, a ValidationError, payment.ErrOrderExists when the id is
// taken otherwise, and the errors of idempotency.Take.
func (c *Commands) CreateOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd CreateOrder) (payment.Order, idempotency.Result, error) {
	if err := actor.MayCreate(c.OrdersBy); err != nil {
		return payment.Order{}, "", err
	}
	if actor.ActsAs() == payment.RoleCustomer && cmd.OrderID != "" {
		return payment.Order{}, "", payment.Invalid("order_id", "is the merchant's to choose: leave it out, and take the one of the answer")
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
	if known && rec.Answer != nil && rec.Hash == req.Hash {
		return replayOrder(ctx, c.Store.Order, req, *rec.Answer)
	}
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return orderReply{}, err
	}
	if cmd.OrderID == "" {
		cmd.OrderID = payment.OrderID("ord_" + cell.Only.NewID().String())
	}
	var made orderReply
	err = c.underKey(ctx, req, func(ctx context.Context, tx Tx) error {
		made = orderReply{result: idempotency.Created}
		response, rec, err := c.takeKey(ctx, tx, req, idempotency.KeepOther)
		if err != nil {
			return err
		}
		if response != nil {
			made, err = replayOrder(ctx, tx.OrderRead, req, *response)
			return err
		}
		made.Order, err = placeOrder(ctx, tx, actor, req, cmd)
		switch {
		case errors.Is(err, payment.ErrOrderExists):
			return &refusal{err, rec}
		case err != nil:
			return err
		}
		made.Order = made.ResponseTo(req)
		return tx.KeyAnswer(ctx, req, rec.Fence,
			idempotency.Answer{Status: http.StatusCreated, Subject: string(made.ID)}, idempotency.KeepOther)
	})
	return made, err
}

func replayOrder(
	ctx context.Context, read func(context.Context, payment.OrderID) (payment.Order, error), req idempotency.Request, a idempotency.Answer,
) (orderReply, error) {
	if err := replayed(a); err != nil {
		return orderReply{}, err
	}
	o, err := read(ctx, payment.OrderID(a.Subject))
	return orderReply{Order: o.ResponseTo(req), result: idempotency.Reused}, err
}

// placeOrder inserts the order or finds the one that the same request, or the
// same content under another key, has made before.
func placeOrder(ctx context.Context, tx Tx, actor authz.Actor, req idempotency.Request, cmd CreateOrder) (payment.Order, error) {
	user := actor.User()
	o := payment.Order{
		ID: cmd.OrderID, UserID: user, CreatedBy: actor.ActsAs(), RequestID: payment.RequestID(req.Key), RequestHash: req.Hash, Money: cmd.Money,
		Description: cmd.Description, Metadata: cmd.Metadata, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	inserted, err := tx.OrderInsert(ctx, o)
	if err != nil || inserted {
		return o, err
	}
	there, err := tx.OrderByRequest(ctx, user, o.RequestID)
	if err == nil && there.RequestHash != req.Hash {
		return payment.Order{}, idempotency.ErrKeyReused
	}
	if errors.Is(err, payment.ErrOrderNotFound) {
		there, err = tx.OrderRead(ctx, o.ID)
		if err == nil && (there.UserID != user || !there.SameContent(o)) {
			return payment.Order{}, payment.ErrOrderExists
		}
	}
	return there, err
}
