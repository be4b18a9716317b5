package checkout_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// The description is older than payments by the merchant alone (Unscheduled), so such a charge is not checked against
// it.
func TestCarries(t *testing.T) {
	t.Parallel()
	s := suite()
	s.Fake = func(*testing.T) http.Handler {
		f := newFake()
		return f.handler(f)
	}
	providertest.Carries(t, s, checkout.Adapter(),
		func(c *gateway.Charge) {
			c.Token, c.Save, c.Customer.Reference = cardOK, true, instrumentOf
			c.ProviderData = map[string]json.RawMessage{"billing_descriptor": json.RawMessage(`{"city":"Berlin"}`)}
		},
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended, c.Customer.Reference = instrument, true, true, instrumentOf
		},
		func(c *gateway.Charge) { c.Token = "flow" },
		func(c *gateway.Charge) { c.Token = "bancontact" },
	)
}

// sent returns the body of a charge, and its outcome.
func sent(t *testing.T, h http.Handler, token string, change func(*gateway.Charge)) (map[string]json.RawMessage, gateway.Outcome) {
	t.Helper()
	c, seen := serve(t, h)
	ch := charge(token)
	change(&ch)
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-seen).body), &body))
	return body, o
}

func TestANewCardWithAChallenge(t *testing.T) {
	t.Parallel()
	body, o := sent(t, described(t), cardRedirect, func(c *gateway.Charge) {
		c.Customer = gateway.Customer{
			Reference: "u-1", Email: "jane@shop.example", Name: "Jane Doe", IP: "203.0.113.9",
			Billing:  &gateway.Address{Line1: "Street 1", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"},
			Shipping: &gateway.Address{Line1: "Street 2", City: "Hamburg", PostalCode: "20095", Country: "DE"},
		}
		c.StatementDescriptor = "SHOP A-1"
		c.ProviderData = map[string]json.RawMessage{
			"3ds": json.RawMessage(`{"enabled":false,"exemption":"low_value"}`), "billing_descriptor": json.RawMessage(`{"city":"Berlin"}`),
			"description": json.RawMessage(`"Order A-1"`),
		}
		c.Lines = []gateway.Line{
			{Description: "Ticket", Quantity: "2", UnitAmount: 800, Amount: 1600, SKU: "T-1"}, {Description: "Cloth", Quantity: "1.5", UnitAmount: 266, Amount: 399},
		}
	})
	providertest.RequireMembers(t, map[string]string{
		"customer": `{"email":"jane@shop.example","name":"Jane Doe"}`, "payment_ip": `"203.0.113.9"`,
		"source": `{"type":"token","token":"` + cardRedirect + `","store_for_future_use":false,"billing_address":
			{"address_line1":"Street 1","address_line2":"3rd floor","city":"Berlin","state":"BE","zip":"10115","country":"DE"}}`,
		"shipping":           `{"address":{"address_line1":"Street 2","city":"Hamburg","zip":"20095","country":"DE"}}`,
		"3ds":                `{"enabled":true,"attempt_n3d":true,"exemption":"low_value"}`,
		"billing_descriptor": `{"name":"SHOP A-1","city":"Berlin"}`, "description": `"Order A-1"`,
		"items": `[{"name":"Ticket","quantity":2,"unit_price":800,"reference":"T-1"},{"name":"Cloth","quantity":1,"unit_price":399}]`,
	}, body)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
}

func TestLinesWithADiscountHaveNoPlace(t *testing.T) {
	t.Parallel()
	body, _ := sent(t, described(t), cardOK, func(c *gateway.Charge) {
		c.Lines = []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 2000, Amount: 2000}, {Description: "Voucher", Quantity: "1", UnitAmount: -1, Amount: -1}}
	})
	require.NotContains(t, body, "items")
}

func TestAStoredInstrumentIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f.handler(f))
	ch := charge(cardOK)
	ch.Save = true
	o := charged(t, c, ch)
	want := &payment.SavedMethod{Token: instrument, Type: "card", Display: "Visa •••• 4242", Expires: "2030-03"}
	require.Equal(t, want, o.Saved)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, want, now.Saved)

	body, o := sent(t, f.handler(f), instrument, func(c *gateway.Charge) { c.Unattended, c.IdempotencyKey = true, "0124-pay" })
	providertest.RequireMembers(t, map[string]string{
		"payment_type": `"Unscheduled"`, "merchant_initiated": "true", "3ds": "", "success_url": "",
		"source": `{"type":"id","id":"` + instrument + `"}`, "customer": `{"id":"` + instrumentOf + `"}`,
	}, body)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	require.Nil(t, o.Saved, "it was stored before")
}

// Metadata of a payment that was begun elsewhere may have any form.
func TestMetadataOfOthersAreRead(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{`{"n":1}`, `[]`, `"x"`, `null`} {
		_, err := says(t, 200, `{"id":"pay_1","status":"Captured","amount":150,"currency":"EUR","metadata":`+metadata+`,"source":{"id":"src_1","expiry_month":"03"}}`).Lookup(t.Context(), "pay_1")
		require.NoError(t, err, metadata)
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(name, value string) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{name: json.RawMessage(value)} }
	}
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"a third decimal":        {money(1995, "KWD"), "amount"},
		"another's customer":     {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "u-1" }, "customer.reference"},
		"what is stored already": {func(c *gateway.Charge) { c.Token, c.Stored, c.Save = instrument, true, true }, "save_payment_method"},
		"3ds that is none":       {data("3ds", `true`), "provider_data.3ds"},
		"our marks":              {data("metadata", `{}`), "provider_data.metadata"},
		"another source":         {data("source", `{}`), "provider_data.source"},
		"another customer":       {data("customer", `{}`), "provider_data.customer"},
		"another time":           {data("capture_on", `"2030-01-01T00:00:00Z"`), "provider_data.capture_on"},
		"another end":            {data("expires_on", `"2030-01-01T00:00:00Z"`), "provider_data.expires_on"},
		"a session's member":     {data("enabled_payment_methods", `["card"]`), "provider_data.enabled_payment_methods"},
		"flow without a return":  {func(c *gateway.Charge) { c.Token, c.ReturnURL = "flow", "" }, "return_url"},
		"flow without a country": {func(c *gateway.Charge) { c.Token, c.Customer.Billing = "flow", &gateway.Address{City: "Berlin"} }, "customer.billing_address.country"},
		"flow that stores": {func(c *gateway.Charge) {
			c.Token, c.Save, c.Customer.Reference = "flow", true, instrumentOf
		}, "save_payment_method"},
		"a payment's member":        {both(token("flow"), data("marketplace", `{}`)), "provider_data.marketplace"},
		"ideal without a return":    {func(c *gateway.Charge) { c.Token, c.ReturnURL = "ideal", "" }, "return_url"},
		"ideal with a hold":         {both(token("ideal"), func(c *gateway.Charge) { c.Capture = payment.CaptureManual }), "capture"},
		"bancontact without a name": {token("bancontact"), "customer.name"},
		"paypal without items":      {token("paypal"), "lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge(cardOK)
			ch.Customer.Billing = &gateway.Address{Country: "DE"}
			tt.change(&ch)
			var invalid *payment.ValidationError
			require.ErrorAs(t, checkout.New("", secret, nil).Accepts(ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
}

func token(text string) func(*gateway.Charge) { return func(c *gateway.Charge) { c.Token = text } }

func both(a, b func(*gateway.Charge)) func(*gateway.Charge) {
	return func(c *gateway.Charge) { a(c); b(c) }
}
