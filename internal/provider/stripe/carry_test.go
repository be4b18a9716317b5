package stripe_test

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/stripe"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), stripe.Adapter(),
		func(c *gateway.Charge) { c.Token = "tok_visa" },
		func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Reference = "pm_card_visa", true, storedFor },
		func(c *gateway.Charge) { c.Token, c.MethodType = "pm_sepa", "sepa_debit" },
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended, c.Customer.Reference = storedCard, true, true, storedFor
		},
	)
}

func sent(t *testing.T, change func(*gateway.Charge)) (url.Values, gateway.Outcome) {
	t.Helper()
	c, seen := serve(t, newFake(t))
	ch := charge("pm_card_visa")
	change(&ch)
	require.NoError(t, c.Accepts(ch))
	o := charged(t, c, ch)
	form, err := url.ParseQuery((<-seen).body)
	require.NoError(t, err)
	return form, o
}

// A method that the customer stores is later charged by the merchant alone.
func TestAStoredMethodIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	form, o := sent(t, func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, storedFor })
	require.Equal(t, "off_session", form.Get("setup_future_usage"))
	require.Equal(t, storedFor, form.Get("customer"))
	require.Equal(t, &payment.SavedMethod{Token: "pm_card_visa", Type: "card", Display: "visa •••• 4242", Expires: "2030-08"}, o.Saved)

	form, o = sent(t, func(c *gateway.Charge) {
		c.Token, c.Stored, c.Unattended, c.Customer.Reference = storedCard, true, true, storedFor
	})
	require.Equal(t, "true", form.Get("off_session"))
	require.Equal(t, storedFor, form.Get("customer"))
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Nil(t, o.Saved)
}

// A card with a challenge in Stripe.js waits, and its action has the data for Stripe.js.
func TestAChallengeIsStripeJS(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	o := charged(t, c, charge("pm_card_challenge"))
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionSDK, o.NextAction.Type)
	require.JSONEq(t, `{"client_secret":"`+o.ProviderPaymentID+`_secret_x","payment_intent":"`+o.ProviderPaymentID+`"}`, string(o.NextAction.Data))

	step := gateway.Completion{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "0123-complete-0", Permit: permit()}
	now, err := c.Complete(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, o, now, "it waits on until Stripe.js is through")
	act(t, f, o.ProviderPaymentID)
	now, err = c.Complete(t.Context(), step)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)
}

func TestARedirectStaysOne(t *testing.T) {
	t.Parallel()
	_, o := sent(t, func(c *gateway.Charge) { c.Token = "pm_card_authenticationRequired" })
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)
}

func TestAVoucherIsDisplayed(t *testing.T) {
	t.Parallel()
	_, o := sent(t, func(c *gateway.Charge) { c.Token = "pm_oxxo" })
	require.Equal(t, payment.ActionDisplay, o.NextAction.Type)
	require.Equal(t, "https://payments.stripe.com/oxxo/voucher/x", o.NextAction.URL)
	require.Equal(t, time.Unix(1801000000, 0).UTC(), o.NextAction.ExpiresAt)
	var shown map[string]any
	require.NoError(t, json.Unmarshal(o.NextAction.Data, &shown))
	require.Equal(t, "12345678901234657890123456789012", shown["number"])
}

// The lines are sent so that their sums equal the payment's amount.
func TestLines(t *testing.T) {
	t.Parallel()
	form, _ := sent(t, func(c *gateway.Charge) {
		c.MethodType = "klarna"
		c.Lines = []gateway.Line{
			{Description: "Ticket", Quantity: "2", UnitAmount: 1000, Amount: 2000, SKU: "T-1"},
			{Description: "Cable", Quantity: "1.5", UnitAmount: 100, Amount: 150},
			{Description: "Voucher", Quantity: "1", UnitAmount: -151, Amount: -151},
		}
	})
	for name, want := range map[string]string{
		"[enforce_arithmetic_validation]": "false", "[discount_amount]": "151",
		"[line_items][0][product_name]": "Ticket", "[line_items][0][quantity]": "2", "[line_items][0][unit_cost]": "1000", "[line_items][0][product_code]": "T-1",
		"[line_items][1][product_name]": "Cable", "[line_items][1][quantity]": "1", "[line_items][1][unit_cost]": "150", "[line_items][2][product_name]": "",
	} {
		require.Equal(t, want, form.Get("amount_details"+name), name)
	}
}

// Klarna needs no token of Stripe.js: the customer confirms on Klarna's page, and the hold is captured like a card's.
func TestKlarna(t *testing.T) {
	t.Parallel()
	ticket := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 1999, Amount: 1999, TaxRate: "0.19", TaxAmount: 319}}
	form, o := sent(t, func(c *gateway.Charge) {
		c.Token, c.Lines, c.StatementDescriptor, c.Capture = "klarna", ticket, "SHOP A-1", payment.CaptureManual
		c.Customer = gateway.Customer{Email: "jane@shop.example", Name: "Jane Doe", Billing: &gateway.Address{Line1: "Street 1", City: "Berlin", PostalCode: "10115", Country: "DE"}}
	})
	for name, want := range map[string]string{
		"payment_method_data[type]": "klarna", "payment_method_data[billing_details][email]": "jane@shop.example", "payment_method": "", "confirmation_token": "",
		"payment_method_data[billing_details][address][country]": "DE", "automatic_payment_methods[allow_redirects]": "always", "capture_method": "manual",
		"statement_descriptor": "SHOP A-1", "statement_descriptor_suffix": "", "amount_details[line_items][0][unit_cost]": "1999", "payment_method_data[card][token]": "",
	} {
		require.Equal(t, want, form.Get(name), name)
	}
	require.Equal(t, fsm.EventActionRequired, o.Event)
	require.Equal(t, payment.ActionRedirect, o.NextAction.Type)

	f, c := client(t)
	ch := charge("klarna")
	ch.Lines = ticket
	require.Equal(t, gateway.TokenSingleUse, c.TokenKind(ch.Token))
	waits := charged(t, c, ch)
	f.acted(waits.ProviderPaymentID)
	paid, err := c.Lookup(t.Context(), waits.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, paid.Event)
}

func TestProviderDataIsAForm(t *testing.T) {
	t.Parallel()
	form, _ := sent(t, func(c *gateway.Charge) {
		c.ProviderData = map[string]json.RawMessage{
			"transfer_data":          json.RawMessage(`{"destination":"acct_1"}`),
			"application_fee_amount": json.RawMessage(`123`),
			"payment_method_types":   json.RawMessage(`["card","klarna"]`),
			"payment_method_options": json.RawMessage(`{"card":{"request_three_d_secure":"any"}}`),
			"use_stripe_sdk":         json.RawMessage(`true`),
		}
	})
	for name, want := range map[string]string{
		"transfer_data[destination]": "acct_1", "application_fee_amount": "123", "payment_method_types[0]": "card", "payment_method_types[1]": "klarna",
		"payment_method_options[card][request_three_d_secure]": "any", "use_stripe_sdk": "true", "automatic_payment_methods[enabled]": "",
	} {
		require.Equal(t, want, form.Get(name), name)
	}
}

// Members that Stripe would refuse, or that the merchant may not set here, are refused by name before anything is sent.
func TestAccepts(t *testing.T) {
	t.Parallel()
	data := func(name, value string) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.ProviderData = map[string]json.RawMessage{name: json.RawMessage(value)} }
	}
	for name, tt := range map[string]struct {
		change func(*gateway.Charge)
		field  string
	}{
		"a third decimal":                {money(1995, "KWD"), "amount"},
		"half of a whole unit":           {money(1950, "MGA"), "amount"},
		"a customer that is not theirs":  {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "u-1" }, "customer.reference"},
		"a descriptor with a quote":      {func(c *gateway.Charge) { c.StatementDescriptor = `JANE'S` }, "statement_descriptor"},
		"another amount":                 {data("amount", "1"), "provider_data.amount"},
		"our marks":                      {data("metadata", "{}"), "provider_data.metadata"},
		"another customer":               {data("customer", `"cus_2"`), "provider_data.customer"},
		"another account":                {data("stripe_account", `"acct_2"`), "provider_data.stripe_account"},
		"another way to capture":         {data("payment_method_options", `{"card":{"capture_method":"manual"}}`), "provider_data.payment_method_options"},
		"several captures":               {data("payment_method_options", `{"card":{"request_multicapture":"if_available"}}`), "provider_data.payment_method_options"},
		"another customer's Link wallet": {data("payment_method_options", `{"link":{"persistent_token":"x"}}`), "provider_data.payment_method_options"},
		"klarna without lines":           {func(c *gateway.Charge) { c.Token = "klarna" }, "lines"},
		"klarna without a page": {func(c *gateway.Charge) {
			c.Token, c.ReturnURL, c.Lines = "klarna", "", []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 1999, Amount: 1999}}
		}, "return_url"},
		"what is no JSON": {data("transfer_data", `{`), "provider_data.transfer_data"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := charge("pm_card_visa")
			tt.change(&ch)
			c, _ := serve(t, newFake(t))
			var invalid *payment.ValidationError
			require.ErrorAs(t, c.Accepts(ch), &invalid)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
	c, _ := serve(t, newFake(t))
	require.NoError(t, c.Accepts(charge("pm_card_visa")))
}
