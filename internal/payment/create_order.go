package payment

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// CreateOrder is the command. An empty OrderID lets the service make one.
type CreateOrder struct {
	OrderID     OrderID
	Money       Money
	Description string
	Metadata    map[string]string
}

type createdOrder struct {
	Order
	result idempotency.Result
}

// CreateOrder creates what is to be paid. Who may is configured, since whoever does
// sets the price; a customer can't choose the order's id. The same request again gets the same
// answer, as it was; the same order under another key, the order as it is. It
// returns ErrForbidden, ErrUserMissing, a ValidationError, ErrOrderExists when the id is
// taken otherwise, and the errors of idempotency.Take.
func (s *Service) CreateOrder(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateOrder) (Order, idempotency.Result, error) {
	if err := actor.mayCreate(s.opts.OrdersBy); err != nil {
		return Order{}, "", err
	}
	if actor.actsAs() == RoleCustomer && cmd.OrderID != "" {
		return Order{}, "", invalid("order_id", "is the merchant's to choose: leave it out, and take the one of the answer")
	}
	made, shared, err := s.orders.Do(ctx, req, s.opts.Wait, func() (createdOrder, error) {
		return s.createOrder(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		made.result = idempotency.Reused
	}
	return made.Order, made.result, err
}

func (s *Service) createOrder(ctx context.Context, actor Actor, req idempotency.Request, cmd CreateOrder) (createdOrder, error) {
	rec, known, err := s.store.KeyRead(ctx, req)
	if err != nil {
		return createdOrder{}, err
	}
	if known && rec.Answer != nil && rec.Hash == req.Hash {
		return replayOrder(ctx, s.store.Order, req, *rec.Answer)
	}
	if err := s.opts.Quota.Take(ctx, s.store, req); err != nil {
		return createdOrder{}, err
	}
	if cmd.OrderID == "" {
		cmd.OrderID = OrderID("ord_" + uuid.Must(uuid.NewV7()).String())
	}
	var made createdOrder
	err = s.underKey(ctx, req, func(ctx context.Context, tx Tx) error {
		made = createdOrder{result: idempotency.Created}
		answer, rec, err := s.takeKey(ctx, tx, req, idempotency.KeepOther)
		if err != nil {
			return err
		}
		if answer != nil {
			made, err = replayOrder(ctx, tx.OrderRead, req, *answer)
			return err
		}
		made.Order, err = placeOrder(ctx, tx, actor, req, cmd)
		switch {
		case errors.Is(err, ErrOrderExists):
			return &refusal{err, rec}
		case err != nil:
			return err
		}
		made.Order = made.answerTo(req)
		return tx.KeyAnswer(ctx, req, rec.Fence,
			idempotency.Answer{Status: http.StatusCreated, Subject: string(made.ID)}, idempotency.KeepOther)
	})
	return made, err
}

func replayOrder(
	ctx context.Context, read func(context.Context, OrderID) (Order, error), req idempotency.Request, a idempotency.Answer,
) (createdOrder, error) {
	if err := replayed(a); err != nil {
		return createdOrder{}, err
	}
	o, err := read(ctx, OrderID(a.Subject))
	return createdOrder{Order: o.answerTo(req), result: idempotency.Reused}, err
}

// placeOrder inserts the order or finds the one that the same request, or the
// same content under another key, has made before.
func placeOrder(ctx context.Context, tx Tx, actor Actor, req idempotency.Request, cmd CreateOrder) (Order, error) {
	user := actor.User()
	o := Order{
		ID: cmd.OrderID, UserID: user, CreatedBy: actor.actsAs(), RequestID: RequestID(req.Key), RequestHash: req.Hash, Money: cmd.Money,
		Description: cmd.Description, Metadata: cmd.Metadata, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	inserted, err := tx.OrderInsert(ctx, o)
	if err != nil || inserted {
		return o, err
	}
	there, err := tx.OrderByRequest(ctx, user, o.RequestID)
	if err == nil && there.RequestHash != req.Hash {
		return Order{}, idempotency.ErrKeyReused
	}
	if errors.Is(err, ErrOrderNotFound) {
		there, err = tx.OrderRead(ctx, o.ID)
		if err == nil && (there.UserID != user || !there.sameContent(o)) {
			return Order{}, ErrOrderExists
		}
	}
	return there, err
}
