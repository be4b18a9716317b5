package razorpay

import (
	"encoding/json"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// allowed returns the members of Razorpay's own request that provider_data may contain.
func allowed() []string { return []string{"description"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, allowed()...)
	_, limits := methods()[ch.Token]
	n.If(!limits && ch.Token != page && ch.Token != checkout && ch.Token != intent && !ch.Stored, "payment_method.token", errToken.Error())
	n.If(ch.Capture == payment.CaptureManual, "capture", "must be automatic at Razorpay")
	if ch.Token == intent {
		n.If(ch.Money.Currency != "INR", "currency", "must be INR with "+intent)
		n.If(ch.Customer.Email == "", "customer.email", "is required with "+intent)
		n.If(ch.Customer.Phone == "", "customer.phone", "is required with "+intent)
	}
	if text, given := ch.ProviderData["description"]; given {
		var s string
		n.If(json.Unmarshal(text, &s) != nil, "provider_data.description", "must be a text")
	}
	return n.Err()
}
