package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// orderDetails are the lines and the customer of an order: each pay without its own details carries them.
type orderDetails struct {
	Lines    []gateway.Line   `json:"lines,omitempty"`
	Customer gateway.Customer `json:"customer,omitzero"`
}

func (d orderDetails) none() bool {
	return len(d.Lines) == 0 && d.Customer == gateway.Customer{}
}

func (d orderDetails) text() string {
	text, _ := json.Marshal(d) //nolint:errchkjson // texts and numbers always marshal
	return string(text)
}

// detailed is the pay with the details of its order, and the revision of the order that has them.
func (c *Commands) detailed(ctx context.Context, actor authz.Actor, cmd Pay) (Pay, int, error) {
	sealed, revision, err := c.Store.OrderDetails(ctx, cmd.OrderID)
	if err != nil {
		return cmd, 0, err
	}
	of, err := c.opened(cmd.OrderID, sealed)
	if err != nil {
		return cmd, 0, err
	}
	return cmd.with(of, actor), revision, nil
}

// opened decrypts the details of an order. An order without details has none.
func (c *Commands) opened(id payment.OrderID, sealed []byte) (of orderDetails, err error) {
	if len(sealed) == 0 || c.Runner.Open == nil {
		return of, nil
	}
	text, err := c.Runner.Open(sealed, []byte(id))
	if err != nil {
		return of, fmt.Errorf("open the details of order %s: %w", id, err)
	}
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		return of, fmt.Errorf("read the details of order %s: %w", id, err)
	}
	return of, nil
}

// sealedDetails encrypts the details of an order; nil without details.
func (c *Commands) sealedDetails(id payment.OrderID, of orderDetails) ([]byte, error) {
	if of.none() {
		return nil, nil
	}
	return c.Runner.Sealed(of.text(), []byte(id))
}

// with adds the details of the order. A customer's lines don't replace the lines of a fiscal receipt.
func (p Pay) with(of orderDetails, actor authz.Actor) Pay {
	if len(p.Lines) == 0 || gateway.HasReceipt(of.Lines) && !actor.Has(payment.RoleService) {
		p.Lines = of.Lines
	}
	if !p.ownCustomer && of.Customer != (gateway.Customer{}) {
		of.Customer.Reference = cmp.Or(of.Customer.Reference, p.Customer.Reference)
		p.Customer = of.Customer
	}
	return p
}

// receipt is the content of the attempt's fiscal receipts, sealed; nil without receipts.
func (c *Commands) receipt(d gateway.Details, id payment.AttemptID) ([]byte, error) {
	receipt := gateway.ReceiptOf(d)
	if receipt == nil {
		return nil, nil
	}
	text, err := json.Marshal(receipt)
	if err != nil {
		return nil, fmt.Errorf("encode a receipt: %w", err)
	}
	return c.Runner.Sealed(string(text), id[:])
}
