package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/inbox"
)

// The types of events that change the stock. What a shop shows to people needs others; what it owes needs these alone.
const (
	orderPaid       = "order.paid"
	orderCancelled  = "order.cancelled"
	refundSucceeded = "refund.succeeded"
)

// errData is returned for an event that lacks what it is about.
var errData = errors.New("the event has no order_id, or no payment_attempt_id")

// changesStock reports whether an event is to be acted on. Others are passed over, those of types that are yet to come included.
func changesStock(e client.Event) bool {
	return e.Type == orderPaid || e.Type == orderCancelled || e.Type == refundSucceeded
}

// act acts on an event unless that was done before. Acknowledge the event once tx is committed.
func act(ctx context.Context, tx pgx.Tx, e client.Event) error {
	if !changesStock(e) {
		return nil
	}
	_, err := inbox.Consumer("stock").Once(ctx, tx, e.ID, func(ctx context.Context) error {
		if err := apply(ctx, tx, e); err != nil {
			return fmt.Errorf("%s of %s: %w", e.Type, e.Subject, err)
		}
		return nil
	})
	return err
}

// eventData has what is needed of an order or a refund.
type eventData struct {
	OrderID          string `json:"order_id"`
	PaymentAttemptID string `json:"payment_attempt_id"`
	Status           string `json:"status"`
	Amount           int64  `json:"amount"`
}

// apply writes down what an event states, and then settles the order. Events of one subject come in order, unless somebody has an old one
// delivered again; an order and its refunds are different subjects, and come in any order.
func apply(ctx context.Context, tx pgx.Tx, e client.Event) error {
	var d eventData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return fmt.Errorf("read its data: %w", err)
	}
	if d.OrderID == "" || d.PaymentAttemptID == "" && e.Type != orderCancelled {
		return errData
	}
	if err := lock(ctx, tx, d.OrderID); err != nil {
		return err
	}
	var err error
	if e.Type == refundSucceeded {
		err = addRefund(ctx, tx, d)
	} else {
		err = setOrder(ctx, tx, d, e.Version)
	}
	if err != nil {
		return err
	}
	return settle(ctx, tx, d.OrderID)
}

// lock locks the order, so that its events are applied one after the other, and adds it where it is not there.
func lock(ctx context.Context, tx pgx.Tx, orderID string) error {
	_, err := tx.Exec(ctx, `INSERT INTO orders (order_id) VALUES ($1) ON CONFLICT (order_id) DO UPDATE SET order_id = excluded.order_id`, orderID)
	if err != nil {
		return fmt.Errorf("lock the order: %w", err)
	}
	return nil
}

// setOrder sets the order to what a version of it was. An older one than was applied changes nothing: a cancelled order may be paid
// after all, by money that was late, and its cancellation may be delivered again after that.
func setOrder(ctx context.Context, tx pgx.Tx, d eventData, version int) error {
	_, err := tx.Exec(ctx, `UPDATE orders SET status = $2, amount = $3, payment_attempt_id = nullif($4, ''), version = $5
		WHERE order_id = $1 AND version < $5`, d.OrderID, d.Status, d.Amount, d.PaymentAttemptID, version)
	if err != nil {
		return fmt.Errorf("set the order: %w", err)
	}
	return nil
}

// addRefund adds a refund to those of its attempt. A sum needs the inbox: it can't tell that a refund is in it already.
func addRefund(ctx context.Context, tx pgx.Tx, d eventData) error {
	_, err := tx.Exec(ctx, `INSERT INTO refunded VALUES ($1, $2)
		ON CONFLICT (payment_attempt_id) DO UPDATE SET amount = refunded.amount + excluded.amount`, d.PaymentAttemptID, d.Amount)
	if err != nil {
		return fmt.Errorf("add the refund: %w", err)
	}
	return nil
}

// settle takes a piece out of the stock for an order that is paid, and returns it once the attempt that paid was refunded in full.
// Refunds of another attempt, to which the customer sent money as well, do not count.
func settle(ctx context.Context, tx pgx.Tx, orderID string) error {
	var sku string
	var taken bool
	err := tx.QueryRow(ctx, `UPDATE orders o SET taken = NOT taken WHERE order_id = $1 AND taken <> (status = 'paid' AND
		amount > coalesce((SELECT r.amount FROM refunded r WHERE r.payment_attempt_id = o.payment_attempt_id), 0)) RETURNING sku, taken`, orderID).
		Scan(&sku, &taken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it is as it should be
	}
	if err != nil {
		return fmt.Errorf("settle the order: %w", err)
	}
	moved := 1
	if taken {
		moved = -1
	}
	if _, err = tx.Exec(ctx, `UPDATE stock SET pieces = pieces + $2 WHERE sku = $1`, sku, moved); err != nil {
		return fmt.Errorf("move a piece: %w", err)
	}
	return nil
}
