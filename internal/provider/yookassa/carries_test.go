package yookassa_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), yookassa.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Locale = "one-time", true, "en-GB" },
		func(c *gateway.Charge) { c.Token, c.MethodType = "redirect", "sbp" },
	)
}

// described returns a client of the fake, checked against YooKassa's own description.
func described(t *testing.T) (*yookassa.Client, *fake, <-chan seen) {
	t.Helper()
	plain, ok := newFake(t).(*fake)
	require.True(t, ok)
	h := providertest.Described(t, "yookassa-v3.json", "/v3", plain)
	c, got := serve(t, h)
	return c, plain, got
}

// member returns a member of the sent body as JSON, or null if it is absent.
func member(t *testing.T, body, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	if all[name] == nil {
		return "null"
	}
	return string(all[name])
}

// ticket returns a charge of two tickets and their delivery, with a receipt.
func ticket(token string) gateway.Charge {
	ch := charge(token)
	ch.Customer = gateway.Customer{Reference: "u-1", Email: "jane@shop.example", Phone: "+79000000000", Name: "Jane Doe", IP: "203.0.113.9", Locale: "ru-RU"}
	on := &gateway.LineReceipt{VATCode: 1, PaymentSubject: "service", PaymentMode: "full_payment", Measure: "piece"}
	ch.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 750, Amount: 1500, Receipt: on},
		{Description: "Delivery", Quantity: "1", UnitAmount: 499, Amount: 499, Receipt: on},
	}
	return ch
}

func TestAReceiptIsSentWithThePayment(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	c.TaxSystem = 2
	require.Equal(t, fsm.EventSucceeded, charged(t, c, ticket("one-time")).Event)
	sent := (<-got).body
	require.JSONEq(t, `{"tax_system_code": 2, "customer": {"email": "jane@shop.example", "phone": "79000000000", "full_name": "Jane Doe"}, "items": [
		{"description": "Ticket", "quantity": 2, "amount": {"value": "7.50", "currency": "RUB"}, "vat_code": 1,
			"payment_subject": "service", "payment_mode": "full_payment", "measure": "piece"},
		{"description": "Delivery", "quantity": 1, "amount": {"value": "4.99", "currency": "RUB"}, "vat_code": 1,
			"payment_subject": "service", "payment_mode": "full_payment", "measure": "piece"}
	]}`, member(t, sent, "receipt"))
	require.JSONEq(t, `"u-1"`, member(t, sent, "merchant_customer_id"))
	require.JSONEq(t, `"203.0.113.9"`, member(t, sent, "client_ip"))
	require.JSONEq(t, `{"type": "redirect", "return_url": "https://shop.example/back", "locale": "ru_RU"}`, member(t, sent, "confirmation"))
}

// A capture and a refund have their own receipts, for their part of the money.
func TestAReceiptOfAPart(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	ch := ticket("one-time")
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	<-got
	whole := gateway.ReceiptOf(ch.Details)
	taken, err := c.Capture(t.Context(), gateway.Capture{
		ProviderPaymentID: held.ProviderPaymentID, Money: rub(1000), Receipt: whole.Part(1000), IdempotencyKey: "k-capture", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, rub(1000), *taken.Money)
	sent := (<-got).body
	require.Contains(t, member(t, sent, "receipt"), `"amount":{"value":"7.50","currency":"RUB"}`)
	require.Contains(t, member(t, sent, "receipt"), `"amount":{"value":"2.50","currency":"RUB"}`)

	r, err := c.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: held.ProviderPaymentID, Money: rub(100), Receipt: whole.Part(100), IdempotencyKey: "k-refund", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, r.Event)
	require.Contains(t, member(t, (<-got).body, "receipt"), `"amount":{"value":"0.75","currency":"RUB"}`)
}

// The token names the way of the confirmation or the method. With a token for the way, the type names the method.
func TestHowTheCustomerConfirms(t *testing.T) {
	t.Parallel()
	for token, c := range map[string]struct {
		method, confirmation, sent string
		next                       payment.ActionType
		data                       string
	}{
		"redirect": {"sbp", `{"type":"redirect","return_url":"https://shop.example/back"}`, `{"type":"sbp"}`, payment.ActionRedirect, ""},
		"embedded": {"", `{"type":"embedded"}`, `null`, payment.ActionSDK, `{"confirmation_token":"ct-ID"}`},
		"qr":       {"sbp", `{"type":"qr","return_url":"https://shop.example/back"}`, `{"type":"sbp"}`, payment.ActionDisplay, `{"type":"qr","confirmation_data":"https://qr.nspk.ru/ID"}`},
		"external": {"sberbank", `{"type":"external"}`, `{"type":"sberbank","phone":"79000000000"}`, payment.ActionDisplay, `{"type":"external"}`},
		"mobile_application": {
			"tinkoff_bank", `{"type":"mobile_application","return_url":"https://shop.example/back"}`, `{"type":"tinkoff_bank"}`, payment.ActionRedirect, "",
		},
		"sber_bnpl": {"", `{"type":"redirect","return_url":"https://shop.example/back"}`, `{"type":"sber_bnpl"}`, payment.ActionRedirect, ""},
		"3ds":       {"", `{"type":"redirect","return_url":"https://shop.example/back"}`, `null`, payment.ActionRedirect, ""},
	} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			client, f, got := described(t)
			ch := charge(token)
			ch.MethodType, ch.Customer.Phone = c.method, "+79000000000"
			o := charged(t, client, ch)
			require.Equal(t, fsm.EventActionRequired, o.Event)
			sent := (<-got).body
			require.JSONEq(t, c.confirmation, member(t, sent, "confirmation"))
			require.JSONEq(t, c.sent, member(t, sent, "payment_method_data"))
			require.Equal(t, c.next, o.NextAction.Type)
			if c.data != "" {
				require.JSONEq(t, strings.ReplaceAll(c.data, "ID", o.ProviderPaymentID), string(o.NextAction.Data))
			} else {
				require.NotEmpty(t, o.NextAction.URL)
			}
			f.confirm(o.ProviderPaymentID)
			now, err := client.Lookup(t.Context(), o.ProviderPaymentID)
			require.NoError(t, err)
			require.Equal(t, fsm.EventSucceeded, now.Event)
			require.Nil(t, now.NextAction)
		})
	}
}

// A customer saves a method, and the merchant charges it alone.
func TestASavedMethodIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	ch := charge("one-time")
	ch.Save, ch.Customer.Reference = true, "u-1"
	o := charged(t, c, ch)
	require.Equal(t, &payment.SavedMethod{Token: o.ProviderPaymentID, Type: "bank_card", Display: "**** 4477", Expires: "2030-12"}, o.Saved)
	require.JSONEq(t, `true`, member(t, (<-got).body, "save_payment_method"))
	require.NoError(t, c.CheckOwner(t.Context(), o.Saved.Token, "u-1"))
	require.ErrorIs(t, c.CheckOwner(t.Context(), o.Saved.Token, "u-2"), payment.ErrMethodNotYours)
	<-got
	<-got

	again := charge(savedMethod)
	again.Unattended, again.Save, again.ReturnURL = true, true, ""
	require.Equal(t, fsm.EventSucceeded, charged(t, c, again).Event)
	sent := (<-got).body
	require.JSONEq(t, `"`+savedMethod+`"`, member(t, sent, "payment_method_id"))
	require.JSONEq(t, `null`, member(t, sent, "confirmation"))
	require.JSONEq(t, `null`, member(t, sent, "save_payment_method"), "it is saved already")
}

func TestProviderDataIsPassedOnByName(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	ch := charge("one-time")
	ch.ProviderData = map[string]json.RawMessage{
		"description": json.RawMessage(`"Order A-1"`), "airline": json.RawMessage(`{"booking_reference":"IIIKRV"}`), "amount": json.RawMessage(`{"value":"0.01"}`),
	}
	require.Equal(t, rub(1999), *charged(t, c, ch).Money)
	sent := (<-got).body
	require.JSONEq(t, `"Order A-1"`, member(t, sent, "description"))
	require.JSONEq(t, `{"booking_reference":"IIIKRV"}`, member(t, sent, "airline"))
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := yookassa.New("", shop, secret, http.DefaultClient)
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"a receipt":              {func(*gateway.Charge) {}, nil},
		"a receipt by telephone": {func(c *gateway.Charge) { c.Customer.Email = "" }, nil},
		"a receipt to nobody":    {func(c *gateway.Charge) { c.Customer.Email, c.Customer.Phone = "", "" }, []string{"customer.email"}},
		"a rate of none":         {func(c *gateway.Charge) { c.Lines[1].Receipt = &gateway.LineReceipt{VATCode: 13} }, []string{"lines[1].receipt.vat_code"}},
		"words of none": {
			func(c *gateway.Charge) {
				c.Lines[0].Receipt = &gateway.LineReceipt{VATCode: 1, PaymentSubject: "a", PaymentMode: "b", Measure: "c"}
			},
			[]string{"lines[0].receipt.payment_subject", "lines[0].receipt.payment_mode", "lines[0].receipt.measure"},
		},
		"a page without a way back": {func(c *gateway.Charge) { c.Token, c.ReturnURL = "sbp", "" }, []string{"return_url"}},
		"a widget without":          {func(c *gateway.Charge) { c.Token, c.ReturnURL = "embedded", "" }, nil},
		"a token without":           {func(c *gateway.Charge) { c.ReturnURL = "" }, nil},
		"a code of nothing":         {func(c *gateway.Charge) { c.Token = "qr" }, []string{"payment_method.type"}},
		"a method of none":          {func(c *gateway.Charge) { c.Token, c.MethodType = "redirect", "webmoney" }, []string{"payment_method.type"}},
		"a balance of no telephone": {func(c *gateway.Charge) { c.Token, c.Customer.Phone = "mobile_balance", "" }, []string{"customer.phone"}},
		"their own members": {func(c *gateway.Charge) {
			c.ProviderData = map[string]json.RawMessage{"airline": nil, "description": nil, "statements": nil}
		}, nil},
		"ours": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"amount": nil, "metadata": nil, "payment_method_id": nil, "recipient": nil}
			},
			[]string{"provider_data.amount", "provider_data.metadata", "provider_data.payment_method_id", "provider_data.recipient"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := ticket("one-time")
			test.change(&ch)
			requireFields(t, test.fields, c.Accepts(ch))
		})
	}
}

func requireFields(t *testing.T, want []string, err error) {
	t.Helper()
	if want == nil {
		require.NoError(t, err)
		return
	}
	var wrong *payment.ValidationError
	require.ErrorAs(t, err, &wrong)
	var got []string
	for _, f := range wrong.Fields {
		got = append(got, f.Field)
	}
	require.Equal(t, want, got)
}
