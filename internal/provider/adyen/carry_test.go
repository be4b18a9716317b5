package adyen_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), adyen.Adapter(),
		func(c *gateway.Charge) { c.Token = methodRedirect },
		func(c *gateway.Charge) { c.Token, c.Save = methodChallenge, true },
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended, c.MethodType = cardOK, true, true, "sepadirectdebit"
		},
	)
}

// sent returns the body of a charge that was checked against Adyen's own description, and the outcome.
func sent(t *testing.T, change func(*gateway.Charge)) (map[string]json.RawMessage, gateway.Outcome) {
	t.Helper()
	h := providertest.Described(t, document, "/v72", newFake())
	base, hc, seen := serve(t, h)
	c, ch := client(base, "automatic", hc), charge(methodRedirect)
	change(&ch)
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-seen).body), &body))
	return body, o
}

func TestANewCardWithAChallenge(t *testing.T) {
	t.Parallel()
	body, o := sent(t, func(c *gateway.Charge) {
		c.Token = methodChallenge
		c.Customer = gateway.Customer{
			Reference: "c-7", Email: "jane@shop.example", Name: "Jane Mary Doe", Phone: "+4930901820", IP: "203.0.113.9", Locale: "de-DE",
			Billing:  &gateway.Address{Line1: "Street 12a", Line2: "3rd floor", City: "Berlin", PostalCode: "10115", State: "Berlin", Country: "DE"},
			Shipping: &gateway.Address{Line1: "The Old Mill", City: "York", PostalCode: "YO1", State: "YOR", Country: "GB"},
		}
		c.Browser = &gateway.Browser{
			UserAgent: "Mozilla/5.0", AcceptHeader: "text/html", Language: "de", ColorDepth: 24, ScreenHeight: 900, ScreenWidth: 1440, TimeZoneOffset: -60,
		}
		c.StatementDescriptor = "SHOP A-1"
		c.ProviderData = map[string]json.RawMessage{
			"origin": json.RawMessage(`"https://shop.example"`), "authenticationData": json.RawMessage(`{"attemptAuthentication":"always"}`),
		}
	})
	providertest.RequireMembers(t, map[string]string{
		"paymentMethod": methodChallenge, "shopperReference": `"c-7"`, "shopperEmail": `"jane@shop.example"`, "shopperIP": `"203.0.113.9"`,
		"shopperName": `{"firstName":"Jane Mary","lastName":"Doe"}`, "telephoneNumber": `"+4930901820"`, "shopperLocale": `"de-DE"`, "countryCode": `"DE"`,
		"billingAddress":  `{"street":"Street","houseNumberOrName":"12a 3rd floor","city":"Berlin","postalCode":"10115","country":"DE"}`,
		"deliveryAddress": `{"street":"The Old Mill","houseNumberOrName":"N/A","city":"York","postalCode":"YO1","stateOrProvince":"YOR","country":"GB"}`,
		"browserInfo": `{"userAgent":"Mozilla/5.0","acceptHeader":"text/html","language":"de","colorDepth":24,"screenHeight":900,"screenWidth":1440,
			"timeZoneOffset":-60,"javaEnabled":false}`,
		"channel": `"Web"`, "origin": `"https://shop.example"`, "shopperStatement": `"SHOP A-1"`, "authenticationData": `{"attemptAuthentication":"always"}`,
		"storePaymentMethod": "", "shopperInteraction": "", "lineItems": "",
	}, body)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionSDK, o.NextAction.Type)
	require.JSONEq(t, `{"action":{"type":"threeDS2","subtype":"fingerprint","token":"eyJ0","paymentMethodType":"scheme"}}`, string(o.NextAction.Data))
}

func TestHowTheCustomerGoesOn(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]payment.ActionType{
		methodRedirect: payment.ActionRedirect, methodPosted: payment.ActionPostForm, methodVoucher: payment.ActionDisplay, methodApp: payment.ActionSDK,
	} {
		_, o := sent(t, func(c *gateway.Charge) { c.Token = token })
		require.Equal(t, fsm.EventActionRequired, o.Event, token)
		require.Equal(t, want, o.NextAction.Type, token)
	}
}

func TestPayLaterHasLines(t *testing.T) {
	t.Parallel()
	body, _ := sent(t, func(c *gateway.Charge) {
		c.Token = `{"type":"klarna"}`
		c.Lines = []gateway.Line{
			{Description: "Ticket", Quantity: "2", UnitAmount: 1190, Amount: 2380, TaxRate: "0.19", TaxAmount: 380, SKU: "T-1"},
			{Description: "Cloth", Quantity: "1.5", UnitAmount: 100, Amount: 150, TaxRate: "0.075", TaxAmount: 10},
			{Description: "Voucher", Quantity: "1", UnitAmount: -531, Amount: -531},
		}
	})
	require.JSONEq(t, `[
		{"id":"T-1","sku":"T-1","description":"Ticket","quantity":2,"amountIncludingTax":1190,"amountExcludingTax":1000,"taxAmount":190,"taxPercentage":1900},
		{"id":"2","description":"Cloth","quantity":1,"amountIncludingTax":150,"amountExcludingTax":140,"taxAmount":10,"taxPercentage":750},
		{"id":"3","description":"Voucher","quantity":1,"amountIncludingTax":-531,"amountExcludingTax":-531,"taxAmount":0,"taxPercentage":0}
	]`, string(body["lineItems"]))
}

func TestAStoredMethodIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	body, o := sent(t, func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Reference = methodSaved, true, stored.Owner })
	providertest.RequireMembers(t, map[string]string{
		"storePaymentMethod": "true", "recurringProcessingModel": `"CardOnFile"`, "shopperInteraction": `"Ecommerce"`, "shopperReference": `"shopper-1"`,
	}, body)
	require.Equal(t, &payment.SavedMethod{Token: stored.Token, Type: "scheme", Display: "visa •••• 1111", Expires: "2030-03"}, o.Saved)

	body, o = sent(t, func(c *gateway.Charge) {
		c.Token, c.Stored, c.Unattended, c.MethodType, c.Customer.Reference, c.ReturnURL = stored.Token, true, true, "scheme", stored.Owner, "https://s/x"
	})
	providertest.RequireMembers(t, map[string]string{
		"recurringProcessingModel": `"UnscheduledCardOnFile"`, "shopperInteraction": `"ContAuth"`,
		"paymentMethod": `{"type":"scheme","storedPaymentMethodId":"8415698462516992"}`,
	}, body)
	require.Equal(t, fsm.EventSucceeded, o.Event)
}

func completion(ch gateway.Charge, details string) gateway.Completion {
	return gateway.Completion{
		Attempt: ch.Attempt, Order: ch.Order, Money: ch.Money, Capture: ch.Capture, Details: json.RawMessage(details),
		IdempotencyKey: "0123-complete-0", Permit: permit(),
	}
}

func TestASecondStepSendsTheDetails(t *testing.T) {
	t.Parallel()
	for details, want := range map[string]string{
		`{"redirectResult":"eyJ0"}`:                                  `{"details":{"redirectResult":"eyJ0"}}`,
		`{"details":{"threeDSResult":"eyJ0"},"paymentData":"Ab02"}`:  `{"details":{"threeDSResult":"eyJ0"},"paymentData":"Ab02"}`,
		`{"details":{"threeDSResult":"eyJ0"},"merchantAccount":"x"}`: `{"details":{"threeDSResult":"eyJ0"}}`,
	} {
		h := providertest.Described(t, document, "/v72", newFake())
		base, hc, seen := serve(t, h)
		c, ch := client(base, "automatic", hc), charge(methodChallenge)
		charged(t, c, ch)
		<-seen
		o, err := c.Complete(t.Context(), completion(ch, details))
		require.NoError(t, err)
		sent := <-seen
		require.Equal(t, "POST /v72/payments/details", sent.line)
		require.Equal(t, "0123-complete-0", sent.header.Get("Idempotency-Key"))
		require.JSONEq(t, want, sent.body)
		require.Equal(t, fsm.EventSucceeded, o.Event)
	}
}

// With the details of another payment, Adyen would report this payment as paid.
func TestTheDetailsOfAnotherPaymentAreRefused(t *testing.T) {
	t.Parallel()
	base, hc, _ := serve(t, newFake())
	c, ch := client(base, "automatic", hc), charge(methodChallenge)
	charged(t, c, ch)
	o, err := c.Complete(t.Context(), completion(ch, `{"redirectResult":"another"}`))
	require.NoError(t, err)
	require.True(t, o.RefusesCall())
	require.Nil(t, o.Money)
	require.Empty(t, o.ProviderPaymentID)

	o, err = says(t, 200, `{"resultCode":"RedirectShopper","pspReference":"88K","merchantReference":"0199-another","action":{"type":"redirect","method":"GET","url":"https://bank.example/"}}`).
		Complete(t.Context(), completion(ch, `{"redirectResult":"x"}`))
	require.NoError(t, err)
	require.True(t, o.RefusesCall(), "nor does the other's action become this one's")
	require.Nil(t, o.NextAction)

	_, err = says(t, 200, `{"resultCode":"Authorised","pspReference":"88K"}`).Complete(t.Context(), completion(ch, `{"redirectResult":"x"}`))
	unknown(t, err)
}

func TestWhatASecondStepComesTo(t *testing.T) {
	t.Parallel()
	base, hc, seen := serve(t, newFake())
	c, ch := client(base, "automatic", hc), charge(methodChallenge)
	charged(t, c, ch)
	<-seen
	for _, details := range []string{"", "null", "[]", "{}", `"x"`} {
		_, err := c.Complete(t.Context(), completion(ch, details))
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, details)
	}
	require.Empty(t, seen)
	step := completion(ch, `{"odd":"x"}`)
	o, err := c.Complete(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "14_017")}, o)
	step = completion(ch, `{"redirectResult":"refused"}`)
	step.IdempotencyKey = "0123-complete-1"
	o, err = c.Complete(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, o.Event)
	require.Equal(t, "card_declined", o.Failure.Code)
	require.False(t, o.RefusesCall(), "it is how the payment stands")
}

// If a customer never returns from the bank's page, the payment has no pspReference.
func TestACancelByReference(t *testing.T) {
	t.Parallel()
	h := providertest.Described(t, document, "/v72", newFake())
	base, hc, seen := serve(t, h)
	c := client(base, "automatic", hc)
	require.Equal(t, payment.CancelsByReference, c.Capabilities().Cancels)
	id := payment.AttemptID(uuid.New())
	o, err := c.Cancel(t.Context(), gateway.Cancel{Attempt: id, IdempotencyKey: "0123-cancel-0", Permit: permit()})
	require.NoError(t, err)
	require.NotEmpty(t, o.ProviderRef)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderRef: o.ProviderRef}, o)
	sent := <-seen
	require.Equal(t, "POST /v72/cancels", sent.line)
	require.Equal(t, "0123-cancel-0", sent.header.Get("Idempotency-Key"))
	require.JSONEq(t, `{"merchantAccount":"PaylatchECOM","reference":"`+id.String()+`","paymentReference":"`+id.String()+`"}`, sent.body)
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
		"no digits":                {money(1950, "IDR"), "amount"},
		"the other capture":        {func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, "capture"},
		"nowhere to return to":     {func(c *gateway.Charge) { c.ReturnURL = "" }, "return_url"},
		"nowhere, of a stored one": {func(c *gateway.Charge) { c.Token, c.Stored, c.ReturnURL = cardOK, true, "" }, "return_url"},
		"a short reference":        {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "u1" }, "customer.reference"},
		"pay later without lines":  {func(c *gateway.Charge) { c.Token = `{"type":"klarna_account"}` }, "lines"},
		"a number in the clear":    {func(c *gateway.Charge) { c.Token = `{"type":"scheme","number":"4111"}` }, "payment_method.token"},
		"a descriptor with a hash": {func(c *gateway.Charge) { c.StatementDescriptor = "SHOP #1" }, "statement_descriptor"},
		"another amount":           {data("amount", `{"value":1}`), "provider_data.amount"},
		"another shopper":          {data("shopperReference", `"c-8"`), "provider_data.shopperReference"},
		"another capture":          {data("additionalData", `{"manualCapture":"true"}`), "provider_data.additionalData"},
		"an authentication alone":  {data("authenticationData", `{"authenticationOnly":true}`), "provider_data.authenticationData"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge(methodRedirect)
			tt.change(&ch)
			var invalid *payment.ValidationError
			require.ErrorAs(t, client("", "automatic", nil).Accepts(ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
}
