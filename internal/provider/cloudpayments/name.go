package cloudpayments

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// name is what a payment is called: a transaction, or an order with the invoice
// whose transactions pay it, "<order>:<invoice>".
type name struct {
	transaction    json.Number
	order, invoice string
}

// String returns what parseName reads.
func (n name) String() string {
	if n.order != "" {
		return n.order + ":" + n.invoice
	}
	return string(n.transaction)
}

// parseName reads what String writes. Nobody is asked about anything else.
func parseName(id string) (name, error) {
	if order, invoice, ok := strings.Cut(id, ":"); ok && order != "" && invoice != "" {
		return name{order: order, invoice: invoice}, nil
	}
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return name{}, fmt.Errorf("%w: %w", payment.ErrUnfit, errNoID)
	}
	return name{transaction: json.Number(id)}, nil
}
