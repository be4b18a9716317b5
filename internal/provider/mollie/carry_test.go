package mollie_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

const customer = "cst_8wmqcHMN4U"

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), mollie.Adapter(),
		func(c *gateway.Charge) { c.Token = "ideal" },
		func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Reference = "tkn_1", true, customer },
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended, c.Customer.Reference = customer, true, true, customer
		},
	)
}

// sent returns the body of a charge that was checked against Mollie's own description.
func sent(t *testing.T, token string, change func(*gateway.Charge)) (map[string]json.RawMessage, gateway.Outcome) {
	t.Helper()
	h := providertest.Described(t, "mollie-payments.json", "", newFake(t))
	c, got := serve(t, h)
	ch := charge(token)
	change(&ch)
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &body))
	return body, o
}

func jane(c *gateway.Charge) {
	c.Customer = gateway.Customer{
		Reference: "c-7", Email: "jane@shop.example", Name: "Jane Mary Doe", Phone: "+4930901820", IP: "203.0.113.9", Locale: "de-DE",
		Billing:  &gateway.Address{Line1: "Street 1", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"},
		Shipping: &gateway.Address{Line1: "Street 2", City: "Hamburg", PostalCode: "20095", Country: "DE"},
	}
}

func tickets(c *gateway.Charge) {
	c.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 1000, Amount: 2000, TaxRate: "0.19", TaxAmount: 319, SKU: "T-1", Type: gateway.LineDigital},
		{Description: "Cloth", Quantity: "1.5", UnitAmount: 100, Amount: 150, TaxRate: "0.07", Type: gateway.LinePhysical},
		{Description: "Voucher", Quantity: "1", UnitAmount: -151, Amount: -151, TaxRate: "0.19"},
	}
}

func TestPayLaterCarriesTheCustomerAndTheLines(t *testing.T) {
	t.Parallel()
	eur := func(value string) string { return `{"currency":"EUR","value":"` + value + `"}` }
	body, o := sent(t, "klarna", func(c *gateway.Charge) {
		jane(c)
		tickets(c)
		c.StatementDescriptor = "SHOP A-1"
		c.ProviderData = map[string]json.RawMessage{"cancelUrl": json.RawMessage(`"https://shop.example/cart"`)}
	})
	providertest.RequireMembers(t, map[string]string{
		"method": `"klarna"`, "description": `"SHOP A-1"`, "locale": `"de_DE"`, "cancelUrl": `"https://shop.example/cart"`,
		"billingAddress": `{"givenName":"Jane Mary","familyName":"Doe","streetAndNumber":"Street 1","streetAdditional":"3rd floor","postalCode":"10115",
			"email":"jane@shop.example","phone":"+4930901820","city":"Berlin","region":"BE","country":"DE"}`,
		"shippingAddress": `{"givenName":"Jane Mary","familyName":"Doe","streetAndNumber":"Street 2","postalCode":"20095","city":"Hamburg","country":"DE"}`,
		"lines": `[
			{"type":"digital","description":"Ticket","quantity":2,"unitPrice":` + eur("10.00") + `,"totalAmount":` + eur("20.00") + `,"vatRate":"19.00","vatAmount":` + eur("3.19") + `,"sku":"T-1"},
			{"type":"physical","description":"Cloth","quantity":1,"unitPrice":` + eur("1.50") + `,"totalAmount":` + eur("1.50") + `,"vatRate":"7.00","vatAmount":` + eur("0.10") + `},
			{"type":"discount","description":"Voucher","quantity":1,"unitPrice":` + eur("-1.51") + `,"totalAmount":` + eur("-1.51") + `,"vatRate":"19.00","vatAmount":` + eur("-0.24") + `}]`,
		"sequenceType": "", "customerId": "",
	}, body)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
}

func TestAMandateIsMadeAndCharged(t *testing.T) {
	t.Parallel()
	body, o := sent(t, "tkn_1", func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, customer })
	providertest.RequireMembers(t, map[string]string{"sequenceType": `"first"`, "customerId": `"` + customer + `"`, "cardToken": `"tkn_1"`}, body)
	require.Equal(t, &payment.SavedMethod{Token: customer + ":mdt_h3gAaD5zP", Type: "creditcard", Display: "Visa •••• 6787", Expires: "2030-03"}, o.Saved)

	body, o = sent(t, o.Saved.Token, func(c *gateway.Charge) { c.Unattended = true })
	providertest.RequireMembers(t, map[string]string{"sequenceType": `"recurring"`, "customerId": `"` + customer + `"`, "mandateId": `"mdt_h3gAaD5zP"`}, body)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Nil(t, o.Saved)
}

func TestALanguageThatMollieHasNotIsLeftOut(t *testing.T) {
	t.Parallel()
	body, _ := sent(t, "ideal", func(c *gateway.Charge) { c.Customer.Locale = "ja-JP" })
	require.NotContains(t, body, "locale")
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(name string) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{name: json.RawMessage(`"x"`)} }
	}
	klarna := func(change func(*gateway.Charge)) func(*gateway.Charge) {
		return func(c *gateway.Charge) {
			c.Token = "klarna"
			jane(c)
			tickets(c)
			change(c)
		}
	}
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"a currency of nobody's": {func(c *gateway.Charge) { c.Money = payment.Money{Minor: 1, Currency: "XYZ"} }, "amount"},
		"nowhere to return to":   {func(c *gateway.Charge) { c.ReturnURL = "" }, "return_url"},
		"another's customer":     {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "u-1" }, "customer.reference"},
		"what is stored already": {func(c *gateway.Charge) {
			c.Token, c.Stored, c.Save, c.Customer.Reference = customer, true, true, customer
		}, "save_payment_method"},
		"pay later without lines":     {klarna(func(c *gateway.Charge) { c.Lines = nil }), "lines"},
		"pay later without an email":  {klarna(func(c *gateway.Charge) { c.Customer.Email = "" }), "customer.email"},
		"pay later without a name":    {klarna(func(c *gateway.Charge) { c.Customer.Name = "Jane" }), "customer.name"},
		"pay later without a street":  {klarna(func(c *gateway.Charge) { c.Customer.Billing.Line1 = "" }), "customer.billing_address"},
		"vouchers without lines":      {func(c *gateway.Charge) { c.Token = "voucher" }, "lines"},
		"our marks":                   {data("metadata"), "provider_data.metadata"},
		"another customer's mandate":  {data("mandateId"), "provider_data.mandateId"},
		"another customer":            {data("customerId"), "provider_data.customerId"},
		"another amount":              {data("amount"), "provider_data.amount"},
		"a payment of no real money":  {data("testmode"), "provider_data.testmode"},
		"another time of the capture": {data("captureDelay"), "provider_data.captureDelay"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge("ideal")
			tt.change(&ch)
			var invalid *payment.ValidationError
			require.ErrorAs(t, mollie.New("", key, "", nil).Accepts(ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
	ch := charge("klarna")
	klarna(func(*gateway.Charge) {})(&ch)
	require.NoError(t, mollie.New("", key, "", nil).Accepts(ch))
}
