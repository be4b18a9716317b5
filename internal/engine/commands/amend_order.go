package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// AmendOrder is the command. Fields that are nil leave the order's terms as they are.
type AmendOrder struct {
	OrderID     payment.OrderID
	Amount      *int64
	Currency    *payment.Currency
	Description *string
	// Metadata are merged into the order's; an empty value removes its name.
	Metadata map[string]string
	// Lines replace the order's, and an empty list removes them. Customer replaces the order's.
	Lines    *[]gateway.Line
	Customer *gateway.Customer
	// ExpectedVersion is the version of the order that the caller has seen; nil for any.
	ExpectedVersion *int
	// Body renders the response, which is stored with the key.
	Body func(payment.Order) []byte
}

// AmendedOrder is the result of an amendment. Body is the stored response to a repeat; empty where the order as it is now is
// the response.
type AmendedOrder struct {
	payment.Order
	Body   []byte
	Result idempotency.Result
}

// Amendment is a change of a locked order, with the entry of it in the activity log.
type Amendment struct {
	Order payment.Order
	// Details is set where the lines or the customer change; they are in the order, sealed.
	Details bool
	// Actor and Key are of the request. Prices are the amounts before and after, in words; empty where they are the same.
	Actor  string
	Key    idempotency.Key
	Prices string
}

const (
	maxMetadata = 50
	// AmendName is the name of the command in the activity log.
	AmendName = "amend_order"
)

// AmendOrder changes the terms of an order while none of its attempts is pending, holds money or may hold money. It locks the
// order, as the first commit of a pay does, so that each pay charges the terms before the amendment or after it. A patch that
// changes nothing leaves the version. It returns payment's ErrForbidden, ErrUserMissing, ErrOrderNotFound, ErrOrderPaid,
// ErrOrderCancelled, ErrOrderChanged, InProgressError, ValidationError, and the errors of idempotency.Take.
func (c *Commands) AmendOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd AmendOrder) (AmendedOrder, error) {
	if err := actor.Require(payment.RoleService); err != nil {
		return AmendedOrder{}, err
	}
	if err := actor.MayAct(); err != nil {
		return AmendedOrder{}, err
	}
	if cmd.empty() {
		return AmendedOrder{}, payment.Invalid("body", "must have at least one member to change: amount, currency, lines, customer, description or metadata")
	}
	done, shared, err := c.amended.Do(ctx, req, c.Wait, func() (AmendedOrder, error) {
		return c.amendOrder(context.WithoutCancel(ctx), actor, req, cmd)
	})
	if shared {
		done.Result = idempotency.Reused
	}
	return done, err
}

func (cmd AmendOrder) empty() bool {
	return cmd.Amount == nil && cmd.Currency == nil && cmd.Description == nil && cmd.Metadata == nil && cmd.Lines == nil && cmd.Customer == nil
}

func (c *Commands) amendOrder(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd AmendOrder) (amended AmendedOrder, err error) {
	if err := c.Quota.Take(ctx, c.Store, req); err != nil {
		return amended, err
	}
	var done idempotency.Execution
	err = idempotency.InTurn(ctx, c.Wait, func() (err error) {
		done, err = c.underKey(ctx, req, idempotency.KeepOther, func(ctx context.Context, tx Tx, _ idempotency.Record) (*idempotency.Response, error) {
			o, err := c.amendIn(ctx, tx, actor, req, cmd)
			if err != nil {
				return nil, err
			}
			amended = AmendedOrder{o, cmd.Body(o), idempotency.Created}
			return &idempotency.Response{Status: http.StatusOK, Subject: string(o.ID), Body: amended.Body}, nil
		})
		return err
	})
	if err == nil && done.Replay != nil {
		amended = AmendedOrder{Body: done.Replay.Body, Result: idempotency.Reused}
		amended.Order, err = c.Store.Order(ctx, cmd.OrderID)
	}
	return amended, err
}

// amendIn amends an order under its lock and returns it as it is then.
func (c *Commands) amendIn(ctx context.Context, tx Tx, actor authz.Actor, req idempotency.Request, cmd AmendOrder) (payment.Order, error) {
	o, err := tx.OrderLock(ctx, cmd.OrderID)
	switch {
	case errors.Is(err, payment.ErrOrderNotFound):
		return o, unseen(actor, err)
	case err != nil:
		return o, err
	case o.UserID != actor.User():
		return o, payment.ErrForbidden
	}
	switch err := o.TakesPay(); {
	case errors.Is(err, payment.ErrOrderPaid), errors.Is(err, payment.ErrOrderCancelled):
		return o, idempotency.Refused(err)
	case err != nil:
		return o, err
	case cmd.ExpectedVersion != nil && *cmd.ExpectedVersion != o.Version():
		return o, payment.ErrOrderChanged
	}
	amendment, changes, err := c.amendment(ctx, tx, o, cmd)
	if err != nil {
		return o, err
	}
	if changes {
		amendment.Actor, amendment.Key = actor.Name(), req.Key
		if err := tx.OrderAmend(ctx, amendment); err != nil {
			return o, err
		}
	}
	return tx.OrderRead(ctx, o.ID)
}

// amendment is the change of an order that a patch asks for; false if the patch changes nothing.
func (c *Commands) amendment(ctx context.Context, tx Tx, o payment.Order, cmd AmendOrder) (change Amendment, changes bool, err error) {
	terms, err := cmd.terms(o)
	if err != nil {
		return change, false, err
	}
	sealed, _, err := tx.OrderDetails(ctx, o.ID)
	if err != nil {
		return change, false, err
	}
	was, err := c.opened(o.ID, sealed)
	if err != nil {
		return change, false, err
	}
	details := was
	if cmd.Lines != nil {
		details.Lines = *cmd.Lines
	}
	if cmd.Customer != nil {
		details.Customer = *cmd.Customer
	}
	if err := addUp(details.Lines, terms.Money); err != nil {
		if cmd.Lines == nil {
			return change, false, payment.Invalid("lines", fmt.Sprintf("must be sent, too, because the amounts of the order's lines don't add up to %d; [] removes the lines", terms.Money.Minor))
		}
		return change, false, err
	}
	change.Details = details.text() != was.text()
	if !change.Details && terms.Equal(o.Terms()) {
		return change, false, nil
	}
	if terms.Money != o.Money {
		change.Prices = "from " + o.Money.String() + " to " + terms.Money.String()
	}
	o = o.Amended(terms, tx.Now())
	if change.Details {
		if o.SealedDetails, err = c.sealedDetails(o.ID, details); err != nil {
			return change, false, err
		}
		o.Detailed = o.SealedDetails != nil
	}
	change.Order = o
	return change, true, nil
}

// terms returns the order's terms after the patch.
func (cmd AmendOrder) terms(o payment.Order) (payment.Terms, error) {
	t := o.Terms()
	t.Money.Minor = *cmp.Or(cmd.Amount, &t.Money.Minor)
	t.Money.Currency = *cmp.Or(cmd.Currency, &t.Money.Currency)
	t.Description = *cmp.Or(cmd.Description, &t.Description)
	t.Metadata = maps.Clone(t.Metadata)
	for name, value := range cmd.Metadata {
		if value == "" {
			delete(t.Metadata, name)
			continue
		}
		if t.Metadata == nil {
			t.Metadata = map[string]string{}
		}
		t.Metadata[name] = value
	}
	if len(t.Metadata) > maxMetadata {
		return t, payment.Invalid("metadata", fmt.Sprintf("would give the order %d members; at most %d are allowed", len(t.Metadata), maxMetadata))
	}
	return t, nil
}
