package cloudpayments

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// name is the id of a payment: a transaction, or an order with the invoice of its
// transactions, "<order>:<invoice>".
type name struct {
	transaction    json.Number
	order, invoice string
}

// String returns the form that parseName parses.
func (n name) String() string {
	if n.order != "" {
		return n.order + ":" + n.invoice
	}
	return string(n.transaction)
}

// parseName parses the form of String. Any other id is never sent.
func parseName(id string) (name, error) {
	if order, invoice, ok := strings.Cut(id, ":"); ok && order != "" && invoice != "" {
		return name{order: order, invoice: invoice}, nil
	}
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return name{}, fmt.Errorf("%w: %w", gateway.ErrUnfit, errNoID)
	}
	return name{transaction: json.Number(id)}, nil
}
