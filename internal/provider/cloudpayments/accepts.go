package cloudpayments

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// allowed returns the members of CloudPayments' own request that provider_data may contain.
func allowed() []string { return []string{"Description", "PaymentScheduled"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	secret := isCryptogram(ch.Token)
	n.If(secret && ch.Customer.IP == "", "customer.ip", "is required to charge a card's cryptogram")
	n.If(secret && ch.ReturnURL == "", "return_url", "is required for 3-D Secure: the bank posts its response to this address")
	n.If(ch.Token == sbp && ch.Capture == payment.CaptureManual, "capture", "must be automatic with "+sbp+": the SBP holds no money")
	n.If(ch.Save && links[ch.Token] != "", "save_payment_method", "is not possible with "+ch.Token+": only cards are stored")
	n.If(ch.Token == tPay && ch.ReturnURL == "", "return_url", "is required with "+tPay)
	_, known := kit.DeviceOf(ch.Browser)
	n.If((ch.Token == tPay || ch.Token == sberPay) && !known, "browser.user_agent", "is required with "+tPay+" and "+sberPay)
	n.If(ch.Save && ch.Customer.Reference == "", "customer.reference", "is required to save a card")
	if scheduled := string(ch.ProviderData["PaymentScheduled"]); scheduled != "" {
		n.If(scheduled != "0" && scheduled != "1", "provider_data.PaymentScheduled", "must be 0 or 1")
		n.If(!ch.Unattended, "provider_data.PaymentScheduled", "is only for a payment without the customer (`initiator: merchant`)")
	}
	n.Receipt(ch.Details)
	for i := range ch.Lines {
		accepts(&n, fmt.Sprintf("lines[%d].receipt.", i), ch.Lines[i].Receipt)
	}
	return n.Err()
}

// accepts adds the values for which CloudPayments' cash registers have no number.
func accepts(n *kit.Needs, member string, r *gateway.LineReceipt) {
	if r == nil {
		return
	}
	const none = "has no code at CloudPayments"
	_, rate := rates[r.VATCode]
	_, object := objects[r.PaymentSubject]
	_, method := methods[r.PaymentMode]
	_, unit := units[r.Measure]
	n.If(!rate, member+"vat_code", none)
	n.If(!object, member+"payment_subject", none)
	n.If(!method, member+"payment_mode", none)
	n.If(!unit, member+"measure", none)
}
