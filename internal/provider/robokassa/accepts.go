package robokassa

import (
	"fmt"
	"regexp"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// label is the form of a method's label (https://docs.robokassa.ru/ru/pay-interface, "IncCurrLabel").
var label = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// allowed returns the page's parameters that provider_data may contain. They are not signed.
func allowed() []string { return []string{"Description", "ExpirationDate"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	_, err := c.sum(ch.Money)
	n.If(err != nil, "amount", "must be in "+string(c.shop.Currency)+", the currency of the account")
	n.If(ch.Stored, "payment_method.token", "can't be a saved card: this provider charges only on its own page")
	n.If(!ch.Stored && !label.MatchString(ch.Token), "payment_method.token", "must be redirect, or the label of a method, such as BankCard")
	for _, name := range allowed() {
		if raw, given := ch.ProviderData[name]; given {
			n.If(text(raw) == "", "provider_data."+name, "must be a text")
		}
	}
	n.If(len([]rune(text(ch.ProviderData["Description"]))) > maxDescription, "provider_data.Description", fmt.Sprintf("may have at most %d characters", maxDescription))
	if gateway.HasReceipt(ch.Lines) {
		acceptsReceipt(&n, ch)
	}
	return n.Err()
}

func acceptsReceipt(n *kit.Needs, ch gateway.Charge) {
	n.Receipt(ch.Details)
	n.If(len(ch.Lines) > maxItems, "lines", fmt.Sprintf("may have at most %d items on a fiscal receipt", maxItems))
	for i := range ch.Lines {
		if on := ch.Lines[i].Receipt; on != nil {
			const none = "has no equivalent at Robokassa"
			member := fmt.Sprintf("lines[%d].receipt.", i)
			n.If(rates[on.VATCode] == "", member+"vat_code", none)
			n.If(methods[on.PaymentMode] == "", member+"payment_mode", none)
			n.If(objects[on.PaymentSubject] == "", member+"payment_subject", none)
		}
	}
}
