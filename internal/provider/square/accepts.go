package square

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// maxDescriptor and maxEmail are in characters. minDigits and maxDigits limit the digits of a telephone number,
	// without the plus sign.
	maxDescriptor, maxEmail = 20, 255
	minDigits, maxDigits    = 9, 16
)

// allowed returns the members of Square's own request that provider_data may contain.
func allowed() []string { return []string{"team_member_id", "verification_token"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	n.If(ch.Token == "CASH" || ch.Token == "EXTERNAL", "payment_method.token", errNoMoney.Error())
	n.If(len([]rune(ch.StatementDescriptor)) > maxDescriptor, "statement_descriptor", fmt.Sprintf("may have at most %d characters at Square", maxDescriptor))
	n.If(len([]rune(ch.Customer.Email)) > maxEmail, "customer.email", fmt.Sprintf("may have at most %d characters at Square", maxEmail))
	digits := len(ch.Customer.Phone) - 1
	n.If(digits >= 0 && (digits < minDigits || digits > maxDigits), "customer.phone", fmt.Sprintf("must have %d to %d digits at Square", minDigits, maxDigits))
	n.If(ch.Stored && ch.Customer.Reference == "", "customer.reference", "is required for a card on file: the customer's id at Square")
	return n.Err()
}
