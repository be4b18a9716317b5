package cloudpayments

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// container names an order and its page: "<order>:<invoice>". The order's id cancels the page. Only the invoice, our
// reference, finds the page's transactions.
type container struct{ order, invoice string }

// String returns the form that parseContainer parses.
func (n container) String() string { return n.order + ":" + n.invoice }

func parseContainer(id string) (container, bool) {
	order, invoice, ok := strings.Cut(id, ":")
	return container{order: order, invoice: invoice}, ok && order != "" && invoice != ""
}

// transactionOf parses the id of a payment, which is a transaction's number. Any other id is never sent.
func transactionOf(id string) (json.Number, error) {
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return "", fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errNoID)
	}
	return json.Number(id), nil
}
