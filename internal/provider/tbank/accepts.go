package tbank

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	// maxCustomer and maxEmail are in bytes. maxItems is a number of lines.
	maxCustomer, maxEmail, maxItems = 36, 64, 100
)

// allowed returns the members of the bank's own request that provider_data may contain.
func allowed() []string {
	return []string{"Description", "Descriptor", "OperationInitiatorType", dueDate}
}

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	n.If(saves(ch.Details) && (ch.Customer.Reference == "" || len(ch.Customer.Reference) > maxCustomer), "customer.reference",
		fmt.Sprintf("is required to save a card, with at most %d characters", maxCustomer))
	if _, given := ch.ProviderData["OperationInitiatorType"]; given {
		by := named(ch.Details)
		n.If(!ch.Unattended || by != byMerchant && by != byInstalments, "provider_data.OperationInitiatorType", "must be R or I, with `initiator: merchant`")
	}
	n.If(ch.Token == sbp && ch.Capture == payment.CaptureManual, "capture", "must be automatic with "+sbp+": the bank holds no money of the SBP")
	n.If(ch.Save && apps[ch.Token], "save_payment_method", "is not possible with "+ch.Token+": the bank stores cards only")
	n.If(ch.Token == sberPay && device(ch.Browser) == "", "browser.user_agent", "is required with "+sberPay)
	if due, given := ch.ProviderData[dueDate]; given {
		n.If(expiry(due).IsZero(), "provider_data."+dueDate, "must be a time with its zone, such as 2026-03-01T12:28:00+03:00")
	}
	if gateway.HasReceipt(ch.Lines) {
		c.acceptsReceipt(&n, ch)
	}
	return n.Err()
}

func (c *Client) acceptsReceipt(n *kit.Needs, ch gateway.Charge) {
	n.Receipt(ch.Details)
	n.If(c.Taxation == "", "lines", "can't be on a fiscal receipt: the account has no taxation")
	n.If(len(ch.Lines) > maxItems, "lines", fmt.Sprintf("may have at most %d items on a fiscal receipt", maxItems))
	n.If(len(ch.Customer.Email) > maxEmail, "customer.email", fmt.Sprintf("may have at most %d characters at T-Bank", maxEmail))
	newer := format(ch.Lines) == formatNew
	for i := range ch.Lines {
		if on := ch.Lines[i].Receipt; on != nil {
			accepts(n, fmt.Sprintf("lines[%d].receipt.", i), *on, newer)
		}
	}
}

// accepts adds the values for which the bank has no word in the format of the line.
func accepts(n *kit.Needs, member string, r gateway.LineReceipt, newer bool) {
	const none = "has no equivalent at T-Bank"
	n.If(rates[r.VATCode] == "", member+"vat_code", none)
	n.If(methods[r.PaymentMode] == "", member+"payment_mode", none)
	fits := old[r.PaymentSubject] || newer != (r.PaymentSubject == composite)
	n.If(objects[r.PaymentSubject] == "" || !fits, member+"payment_subject", none+" in the format of its lines: 1.2 with a measure, otherwise 1.05")
	_, unit := units[r.Measure]
	n.If(!unit || newer && r.Measure == "", member+"measure", none+", or is missing: all lines must have a measure, or no line")
}
