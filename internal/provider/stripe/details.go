package stripe

import (
	"slices"
	"strings"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
)

// customerPrefix is the prefix of the ids of Stripe's customers.
const customerPrefix = "cus_"

// carry sets the charge's details other than the amount and the method.
func carry(p *stripe.PaymentIntentCreateParams, ch gateway.Charge) {
	d := ch.Details
	p.ReceiptEmail = text(d.Customer.Email)
	if a := d.Customer.Shipping; a != nil && d.Customer.Name != "" && a.Line1 != "" {
		p.Shipping = &stripe.ShippingDetailsParams{Address: address(a), Name: &d.Customer.Name, Phone: text(d.Customer.Phone)}
	}
	if kind := methodType(d); kind == "" || kind == "card" {
		p.StatementDescriptorSuffix = text(d.StatementDescriptor)
	} else {
		p.StatementDescriptor = text(d.StatementDescriptor)
	}
	p.AmountDetails = lines(ch)
	keep(p, d)
	p.MandateData = mandate(d)
}

// keep sets the customer of a method that is stored or is to be stored.
func keep(p *stripe.PaymentIntentCreateParams, d gateway.Details) {
	if d.Stored || d.Save && strings.HasPrefix(d.Customer.Reference, customerPrefix) {
		p.Customer = text(d.Customer.Reference)
	}
	if d.Save {
		p.SetupFutureUsage = new(string(stripe.PaymentIntentSetupFutureUsageOffSession))
	}
	if d.Unattended {
		p.OffSession = new(true)
	}
}

// debits are the method types that need a mandate.
var debits = []string{"acss_debit", "au_becs_debit", "bacs_debit", "nz_bank_account", "sepa_debit", "us_bank_account"} //nolint:gochecknoglobals // a list

// mandate returns the customer's acceptance of a debit, or of later charges of a wallet. Cards need no acceptance
// (https://docs.stripe.com/api/payment_intents/create#create_payment_intent-mandate_data).
func mandate(d gateway.Details) *stripe.PaymentIntentCreateMandateDataParams {
	kind := methodType(d)
	wanted := slices.Contains(debits, kind) || d.Save && kind != "" && kind != "card"
	if !wanted || d.Unattended || d.Customer.IP == "" || d.Browser == nil || d.Browser.UserAgent == "" {
		return nil
	}
	return &stripe.PaymentIntentCreateMandateDataParams{CustomerAcceptance: &stripe.PaymentIntentCreateMandateDataCustomerAcceptanceParams{
		Type:   new("online"),
		Online: &stripe.PaymentIntentCreateMandateDataCustomerAcceptanceOnlineParams{IPAddress: &d.Customer.IP, UserAgent: &d.Browser.UserAgent},
	}}
}

// bill adds the customer to a payment method that is created together with the payment.
func bill(p *stripe.PaymentIntentCreateParams, c gateway.Customer) {
	add := func(name, value string) {
		if value != "" {
			p.AddExtra("payment_method_data[billing_details]"+name, value)
		}
	}
	add("[email]", c.Email)
	add("[name]", c.Name)
	add("[phone]", c.Phone)
	if a := c.Billing; a != nil {
		add("[address][line1]", a.Line1)
		add("[address][line2]", a.Line2)
		add("[address][city]", a.City)
		add("[address][postal_code]", a.PostalCode)
		add("[address][state]", a.State)
		add("[address][country]", a.Country)
	}
}

func address(a *gateway.Address) *stripe.AddressParams {
	return &stripe.AddressParams{
		Line1: text(a.Line1), Line2: text(a.Line2), City: text(a.City), PostalCode: text(a.PostalCode), State: text(a.State), Country: text(a.Country),
	}
}

// text returns nil for an empty string, because an empty value would unset a member.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
