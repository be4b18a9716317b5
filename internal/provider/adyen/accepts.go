package adyen

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

var statement = regexp.MustCompile(`^[a-zA-Z0-9 .,'_?+*/-]*$`)

// maxReturnURL is Adyen's limit for the length of a return_url.
const maxReturnURL = 1024

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	acceptsData(&n, ch.Details)
	_, err := digits.Units(ch.Money)
	n.If(err != nil, "amount", "has more decimals than Adyen accepts in this currency")
	n.If(c.captures != (ch.Capture != payment.CaptureManual), "capture", "differs from the account's capture setting, which Adyen uses for all payments of the account")
	n.If((ch.Save || ch.Stored) && utf8.RuneCountInString(ch.Customer.Reference) < minShopper, "customer.reference",
		"must have at least three characters for a stored payment method at Adyen")
	n.If(ch.ReturnURL == "", "return_url", "is required by Adyen")
	n.If(len(ch.ReturnURL) > maxReturnURL, "return_url", "is longer than 1,024 characters")
	n.If(!statement.MatchString(ch.StatementDescriptor), "statement_descriptor", "may have only letters, digits, blanks and . , ' _ - ? + * / at Adyen")
	acceptsMethod(&n, ch)
	return n.Err()
}

// acceptsMethod checks the payment method and the requirements of its type.
func acceptsMethod(n *kit.Needs, ch gateway.Charge) {
	if !strings.HasPrefix(ch.Token, "{") {
		needsLines(n, ch, ch.MethodType)
		return
	}
	kind, err := readMethod(ch.Token)
	n.If(err != nil, "payment_method.token", "must be a payment method from Adyen's components: a JSON object in which cards are encrypted")
	needsLines(n, ch, cmp.Or(kind, ch.MethodType))
}
