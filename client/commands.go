package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/client/api"
)

// Command is how a command is sent.
type Command struct {
	// Key names the intention, 8 to 200 characters of A-Z a-z 0-9 - _ . : ~. The same key with the
	// same request gets the same response, for ever for payments and refunds. Empty, one is made.
	Key string
	// OnBehalfOf is the user that a token of role service acts for. It must be set for such a
	// token, and empty for others.
	OnBehalfOf string
}

func (c Command) key() string {
	if c.Key == "" {
		return NewKey()
	}
	return c.Key
}

func (c Command) user() *string {
	if c.OnBehalfOf == "" {
		return nil
	}
	return &c.OnBehalfOf
}

// NewKey makes a key. Store it with its purpose before you use it.
func NewKey() string { return uuid.NewString() }

// read returns the content of a response, or the ProblemError.
func read[T any](what string, r *http.Response, body []byte) (*T, error) {
	if r.StatusCode >= http.StatusMultipleChoices {
		return nil, problem(r.StatusCode, body)
	}
	v := new(T)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, fmt.Errorf("client: the response to %s: %w", what, err)
	}
	return v, nil
}

// CreateOrder creates an order, the amount that a customer owes.
func (c *Client) CreateOrder(ctx context.Context, order api.CreateOrder, cmd Command) (*api.Order, error) {
	r, err := c.API.CreateOrderWithResponse(ctx, &api.CreateOrderParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}, order)
	if err != nil {
		return nil, fmt.Errorf("client: create an order: %w", err)
	}
	return read[api.Order]("create an order", r.HTTPResponse, r.Body)
}

// Order reads an order with its attempts.
func (c *Client) Order(ctx context.Context, id string) (*api.Order, error) {
	r, err := c.API.ReadOrderWithResponse(ctx, id, nil)
	if err != nil {
		return nil, fmt.Errorf("client: read order %s: %w", id, err)
	}
	return read[api.Order]("read order "+id, r.HTTPResponse, r.Body)
}

// AmendOrder changes the terms of an order while no payment of it is under way or done.
func (c *Client) AmendOrder(ctx context.Context, id string, amendment api.AmendOrder, cmd Command) (*api.Order, error) {
	r, err := c.API.AmendOrderWithResponse(ctx, id, &api.AmendOrderParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}, amendment)
	if err != nil {
		return nil, fmt.Errorf("client: amend order %s: %w", id, err)
	}
	return read[api.Order]("amend order "+id, r.HTTPResponse, r.Body)
}

// CancelOrder takes no further pay for an order; a pending attempt is cancelled at its provider.
func (c *Client) CancelOrder(ctx context.Context, id string, cmd Command) (*api.Order, error) {
	r, err := c.API.CancelOrderWithResponse(ctx, id, &api.CancelOrderParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}, api.NoMembers{})
	if err != nil {
		return nil, fmt.Errorf("client: cancel order %s: %w", id, err)
	}
	return read[api.Order]("cancel order "+id, r.HTTPResponse, r.Body)
}

// Pay tries to pay an order and returns the attempt, also a pending or failed one.
func (c *Client) Pay(ctx context.Context, orderID string, pay api.Pay, cmd Command) (*api.Attempt, error) {
	r, err := c.API.PayWithResponse(ctx, orderID, &api.PayParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}, pay)
	if err != nil {
		return nil, fmt.Errorf("client: pay order %s: %w", orderID, err)
	}
	return read[api.Attempt]("pay order "+orderID, r.HTTPResponse, r.Body)
}

// Register makes the attempt of a payment that is begun elsewhere.
func (c *Client) Register(ctx context.Context, orderID string, attempt api.RegisterAttempt, cmd Command) (*api.Attempt, error) {
	params := &api.RegisterAttemptParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}
	r, err := c.API.RegisterAttemptWithResponse(ctx, orderID, params, attempt)
	if err != nil {
		return nil, fmt.Errorf("client: register an attempt of order %s: %w", orderID, err)
	}
	return read[api.Attempt]("register an attempt of order "+orderID, r.HTTPResponse, r.Body)
}

// Report reports the backend's knowledge of a payment that began elsewhere.
func (c *Client) Report(ctx context.Context, attemptID string, report api.ReportAttempt, cmd Command) (*api.Attempt, error) {
	params := &api.ReportAttemptParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}
	r, err := c.API.ReportAttemptWithResponse(ctx, attemptID, params, report)
	if err != nil {
		return nil, fmt.Errorf("client: report of attempt %s: %w", attemptID, err)
	}
	return read[api.Attempt]("report of attempt "+attemptID, r.HTTPResponse, r.Body)
}

// Attempt reads an attempt.
func (c *Client) Attempt(ctx context.Context, id string) (*api.Attempt, error) {
	r, err := c.API.ReadAttemptWithResponse(ctx, id, nil)
	if err != nil {
		return nil, fmt.Errorf("client: read attempt %s: %w", id, err)
	}
	return read[api.Attempt]("read attempt "+id, r.HTTPResponse, r.Body)
}

// Confirm captures an authorized attempt, all of it or confirm.Amount.
func (c *Client) Confirm(ctx context.Context, attemptID string, confirm api.Confirm, cmd Command) (*api.Attempt, error) {
	r, err := c.API.ConfirmWithResponse(ctx, attemptID, &api.ConfirmParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}, confirm)
	if err != nil {
		return nil, fmt.Errorf("client: confirm attempt %s: %w", attemptID, err)
	}
	return read[api.Attempt]("confirm attempt "+attemptID, r.HTTPResponse, r.Body)
}

// Cancel cancels a pending attempt at its provider; it has failed once the provider reports that.
func (c *Client) Cancel(ctx context.Context, attemptID string, cmd Command) (*api.Attempt, error) {
	params := &api.CancelAttemptParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}
	r, err := c.API.CancelAttemptWithResponse(ctx, attemptID, params, api.NoMembers{})
	if err != nil {
		return nil, fmt.Errorf("client: cancel attempt %s: %w", attemptID, err)
	}
	return read[api.Attempt]("cancel attempt "+attemptID, r.HTTPResponse, r.Body)
}

// CreateRefund refunds money of an attempt: payment.Amount, or all that is left.
func (c *Client) CreateRefund(ctx context.Context, attemptID string, refund api.CreateRefund, cmd Command) (*api.Refund, error) {
	params := &api.CreateRefundParams{IdempotencyKey: cmd.key(), OnBehalfOf: cmd.user()}
	r, err := c.API.CreateRefundWithResponse(ctx, attemptID, params, refund)
	if err != nil {
		return nil, fmt.Errorf("client: refund attempt %s: %w", attemptID, err)
	}
	return read[api.Refund]("refund attempt "+attemptID, r.HTTPResponse, r.Body)
}

// Refund reads a refund.
func (c *Client) Refund(ctx context.Context, id string) (*api.Refund, error) {
	r, err := c.API.ReadRefundWithResponse(ctx, id, nil)
	if err != nil {
		return nil, fmt.Errorf("client: read refund %s: %w", id, err)
	}
	return read[api.Refund]("read refund "+id, r.HTTPResponse, r.Body)
}
