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
	n.If(err != nil, "amount", "has digits that Adyen has none for in this currency")
	n.If(c.captures != (ch.Capture != payment.CaptureManual), "capture", "is another one than the account's, which has one way only at Adyen")
	n.If((ch.Save || ch.Stored) && utf8.RuneCountInString(ch.Customer.Reference) < minShopper, "customer.reference",
		"must have three characters at least for a stored payment method at Adyen")
	n.If(ch.ReturnURL == "", "return_url", "is required by Adyen")
	n.If(len(ch.ReturnURL) > maxReturnURL, "return_url", "is longer than 1,024 characters")
	n.If(!statement.MatchString(ch.StatementDescriptor), "statement_descriptor", "must have letters, digits, blanks and . , ' _ - ? + * / only at Adyen")
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
	n.If(err != nil, "payment_method.token", "must be a payment method as Adyen's components make it: a JSON object with encrypted cards only")
	needsLines(n, ch, cmp.Or(kind, ch.MethodType))
}
