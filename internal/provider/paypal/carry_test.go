package paypal_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), paypal.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save = "paypal", true },
		func(c *gateway.Charge) { c.Token, c.Stored, c.Unattended = "card:8kk8451t", true, true },
	)
}

// sent returns the body of an order that was checked against PayPal's own description.
func sent(t *testing.T, token string, change func(*gateway.Charge)) (map[string]any, gateway.Outcome) {
	t.Helper()
	var h http.Handler = newFake(t)
	described := providertest.Described(t, "paypal-checkout-orders-v2.json", "", h)
	c, got := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2/checkout/") {
			described.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	ch := charge(token)
	change(&ch)
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &body))
	return body, o
}

func requireJSON(t *testing.T, want string, got any) {
	t.Helper()
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, want, string(raw))
}

func TestAWalletCarriesItsCustomer(t *testing.T) {
	t.Parallel()
	body, o := sent(t, "paypal", func(c *gateway.Charge) {
		c.Customer = gateway.Customer{
			Reference: "c-7", Email: "jane@shop.example", Name: "Jane Mary Doe", Phone: "+4930901820", IP: "203.0.113.9", Locale: "de-DE",
			Billing:  &gateway.Address{Line1: "Street 1", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "BE", Country: "DE"},
			Shipping: &gateway.Address{Line1: "Street 2", City: "Hamburg", PostalCode: "20095", Country: "DE"},
		}
		c.StatementDescriptor = "SHOP A-1"
		c.ProviderData = map[string]json.RawMessage{"brand_name": json.RawMessage(`"The Shop"`), "description": json.RawMessage(`"Order A-1"`)}
	})
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
	requireJSON(t, `{"paypal":{
		"email_address":"jane@shop.example","name":{"given_name":"Jane Mary","surname":"Doe"},
		"address":{"address_line_1":"Street 1","address_line_2":"3rd floor","admin_area_1":"BE","admin_area_2":"Berlin","postal_code":"10115","country_code":"DE"},
		"experience_context":{"brand_name":"The Shop","shipping_preference":"SET_PROVIDED_ADDRESS","locale":"de-DE","user_action":"PAY_NOW",
			"return_url":"https://shop.example/back","cancel_url":"https://shop.example/back"}}}`, body["payment_source"])
	unit := body["purchase_units"].([]any)[0].(map[string]any)
	delete(unit, "custom_id")
	requireJSON(t, `{"amount":{"currency_code":"EUR","value":"19.99"},"soft_descriptor":"SHOP A-1","description":"Order A-1",
		"shipping":{"name":{"full_name":"Jane Mary Doe"},"address":{"address_line_1":"Street 2","admin_area_2":"Hamburg","postal_code":"20095","country_code":"DE"}}}`, unit)
}

// The parts of the amount must add up to it, or PayPal refuses the order.
func TestLines(t *testing.T) {
	t.Parallel()
	lines := []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 800, Amount: 1600, SKU: "T-1", Type: gateway.LineDigital},
		{Description: "Cloth", Quantity: "1.5", UnitAmount: 100, Amount: 150, Type: gateway.LinePhysical},
		{Description: "Shipping", Quantity: "1", UnitAmount: 499, Amount: 499, Type: gateway.LineShipping},
		{Description: "Voucher", Quantity: "1", UnitAmount: -250, Amount: -250, Type: gateway.LineGiftCard},
	}
	body, _ := sent(t, "paypal", func(c *gateway.Charge) { c.Lines = lines })
	unit := body["purchase_units"].([]any)[0].(map[string]any)
	eur := func(value string) string { return `{"currency_code":"EUR","value":"` + value + `"}` }
	requireJSON(t, `{"currency_code":"EUR","value":"19.99","breakdown":{"item_total":`+eur("17.50")+`,"shipping":`+eur("4.99")+`,"discount":`+eur("2.50")+`}}`, unit["amount"])
	requireJSON(t, `[{"name":"Ticket","quantity":"2","unit_amount":`+eur("8.00")+`,"sku":"T-1","category":"DIGITAL_GOODS"},
		{"name":"Cloth","quantity":"1","unit_amount":`+eur("1.50")+`,"category":"PHYSICAL_GOODS"}]`, unit["items"])

	body, _ = sent(t, "paypal", func(c *gateway.Charge) { c.Lines = lines[:1] })
	require.NotContains(t, body["purchase_units"].([]any)[0], "items", "what does not add up is left out")
}

func TestAStoredWalletIsKeptAndChargedAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	ch := charge("paypal")
	ch.Save, ch.Customer.Reference = true, "c-7"
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	require.Nil(t, o.Saved)
	require.Contains(t, (<-got).body, `"attributes":{"customer":{"merchant_customer_id":"c-7"},"vault":{"store_in_vault":"ON_SUCCESS","usage_type":"MERCHANT"}}`)
	f.approve(o.Container)
	done := completed(t, c, completion(ch, o.Container))
	require.Equal(t, &payment.SavedMethod{Token: "paypal:8kk8451t", Type: "paypal", Display: "jane@shop.example"}, done.Saved)
	require.NoError(t, c.CheckOwner(t.Context(), done.Saved.Token, "c-7"), "it is found again by the merchant's id")
	require.ErrorIs(t, c.CheckOwner(t.Context(), done.Saved.Token, "c-8"), payment.ErrMethodNotYours)
}

func TestACardInTheVaultIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	body, o := sent(t, "card:8kk8451t", func(c *gateway.Charge) { c.Unattended, c.ReturnURL = true, "" })
	requireJSON(t, `{"card":{"vault_id":"8kk8451t","stored_credential":{"payment_initiator":"MERCHANT","payment_type":"UNSCHEDULED","usage":"SUBSEQUENT"}}}`, body["payment_source"])
	require.Equal(t, fsm.EventSucceeded, o.Event)
}

// An order that its customer has not approved yet continues to wait, and can be completed later.
func TestAnOrderThatIsNotApprovedWaitsOn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	ch := charge("paypal")
	waits := charged(t, c, ch)
	o := completed(t, c, completion(ch, waits.Container))
	require.Equal(t, waits, o)
	require.False(t, o.Refused)
	f.approve(waits.Container)
	step := completion(ch, waits.Container)
	step.IdempotencyKey += "-2"
	require.Equal(t, fsm.EventSucceeded, completed(t, c, step).Event)
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(name string) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{name: json.RawMessage(`"x"`)} }
	}
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"no fraction":               {func(c *gateway.Charge) { c.Money = payment.Money{Minor: 199950, Currency: "HUF"} }, "amount"},
		"another token":             {func(c *gateway.Charge) { c.Token = "tok_visa" }, "payment_method.token"},
		"what is stored already":    {func(c *gateway.Charge) { c.Token, c.Stored, c.Save, c.Customer.Reference = "card:1", true, true, "c" }, "save_payment_method"},
		"nobody's wallet":           {func(c *gateway.Charge) { c.Save = true }, "customer.reference"},
		"a descriptor with a quote": {func(c *gateway.Charge) { c.StatementDescriptor = "JANE'S" }, "statement_descriptor"},
		"a page's name without one": {func(c *gateway.Charge) { data("brand_name")(c); c.ReturnURL = "" }, "provider_data.brand_name"},
		"our mark":                  {data("custom_id"), "provider_data.custom_id"},
		"another payee":             {data("payee"), "provider_data.payee"},
		"another amount":            {data("amount"), "provider_data.amount"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge("paypal")
			tt.change(&ch)
			var invalid *payment.ValidationError
			require.ErrorAs(t, paypal.New("", "", "", nil, nil).Accepts(ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
}
