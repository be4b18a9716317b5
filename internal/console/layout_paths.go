package console

import (
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
)

// AttemptPath is the page of a payment.
func AttemptPath(id payment.AttemptID) string { return "/support/attempts/" + id.String() }

// OrderPath is the page of an order. It names the order in the query, since the name may contain characters that a path can't hold.
func OrderPath(id payment.OrderID) string { return "/support/orders?id=" + url.QueryEscape(string(id)) }

// CustomerPath is the page of a customer.
func CustomerPath(id payment.UserID) string {
	return "/support/customers?id=" + url.QueryEscape(string(id))
}
