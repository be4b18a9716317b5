package tbank_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	s := suite()
	s.New = func(t *testing.T, base string, h *http.Client) gateway.Provider {
		t.Helper()
		c := client(t, base, "EUR", h)
		c.Taxation = "osn"
		return c
	}
	providertest.Carries(t, s, tbank.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Locale = "redirect", true, "en-GB" },
		func(c *gateway.Charge) { c.Token, c.Stored, c.Unattended = good, true, true },
		func(c *gateway.Charge) { c.Token = "tpay" },
	)
}

// described returns a client of the fake, checked against the bank's own description.
func described(t *testing.T) (*tbank.Client, *fake, <-chan seen) {
	t.Helper()
	f := serving(nil)
	h := providertest.Described(t, "tbank-eacq-v2.json", "", f)
	c, got := serve(t, h)
	c.Taxation = "osn"
	return c, f, got
}

// ticket returns a charge of two tickets and their delivery, with a receipt.
func ticket(token string) gateway.Charge {
	ch := charge(token)
	ch.Customer = gateway.Customer{Reference: "customer-1", Email: "jane@shop.example", Phone: "+79000000000", IP: "203.0.113.9", Locale: "ru-RU"}
	on := &gateway.LineReceipt{VATCode: 4, PaymentSubject: "service", PaymentMode: "partial_prepayment", Measure: "piece"}
	ch.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 750, Amount: 1500, Receipt: on},
		{Description: "Delivery", Quantity: "1", UnitAmount: 499, Amount: 499, Receipt: on},
	}
	return ch
}

// older changes the lines to format 1.05, which has no measure.
func older(ch gateway.Charge) gateway.Charge {
	for i := range ch.Lines {
		ch.Lines[i].Receipt = &gateway.LineReceipt{VATCode: 1}
	}
	return ch
}

func TestAReceiptIsSentWithThePayment(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	o := charged(t, c, ticket("redirect"))
	require.Equal(t, fsm.EventActionRequired, o.Event)
	in := scalars([]byte((<-got).body))
	require.JSONEq(t, `{"FfdVersion": "1.2", "Taxation": "osn", "Email": "jane@shop.example", "Phone": "+79000000000", "Items": [
		{"Name": "Ticket", "Price": 750, "Quantity": 2, "Amount": 1500, "Tax": "vat20", "PaymentMethod": "prepayment", "PaymentObject": "service", "MeasurementUnit": "шт"},
		{"Name": "Delivery", "Price": 499, "Quantity": 1, "Amount": 499, "Tax": "vat20", "PaymentMethod": "prepayment", "PaymentObject": "service", "MeasurementUnit": "шт"}
	]}`, in[objectName+"Receipt"])
	require.JSONEq(t, `{"Email": "jane@shop.example", "Phone": "+79000000000", "OperationInitiatorType": "0"}`, in[objectName+"DATA"])
	require.Equal(t, "ru", in["Language"])
	require.Equal(t, token(in), in["Token"], "objects are not signed")

	require.Equal(t, fsm.EventSucceeded, charged(t, c, older(ticket(good))).Event)
	require.Contains(t, scalars([]byte((<-got).body))[objectName+"Receipt"], `"FfdVersion":"1.05"`)
}

// A capture has its own receipt, and so has a partial refund. The bank creates the receipt for the refund of the whole
// payment. A refund of the rest is a refund of the whole payment only if there was no earlier refund.
func TestAReceiptOfAPart(t *testing.T) {
	t.Parallel()
	c, f, got := described(t)
	ch := older(ticket(good))
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	whole := gateway.ReceiptOf(ch.Details)
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: rub(1000), Receipt: whole.Part(1000), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, "CONFIRMED", f.payments[held.ProviderPaymentID].status)
	for len(got) > 1 {
		<-got
	}
	require.Contains(t, scalars([]byte((<-got).body))[objectName+"Receipt"], `"Amount":250`)

	refund := func(key string, minor, left int64) map[string]string {
		r, err := c.Refund(t.Context(), gateway.RefundCall{
			ProviderPaymentID: held.ProviderPaymentID, Money: rub(minor), Left: rub(left), Receipt: whole.Part(minor), IdempotencyKey: key, Permit: permit(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, r.Event)
		var last seen
		for len(got) > 0 {
			last = <-got
		}
		require.Equal(t, "POST /v2/Cancel", last.line)
		return scalars([]byte(last.body))
	}
	require.Contains(t, refund("k-1", 400, 1000)[objectName+"Receipt"], `"Amount":300`)
	require.Contains(t, refund("k-2", 600, 600)[objectName+"Receipt"], `"Amount":450`, "the rest of it")

	paid := charged(t, c, older(ticket(good)))
	held = paid
	require.NotContains(t, refund("k-3", 1999, 1999), objectName+"Receipt")
}

// If the payment can't be looked up first, nothing is refunded.
func TestARefundWithAReceiptLooksFirst(t *testing.T) {
	t.Parallel()
	c, got := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	_, err := c.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: "1", Money: rub(1999), Left: rub(1999), Receipt: gateway.ReceiptOf(ticket(good).Details), Permit: permit(),
	})
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.Equal(t, "POST /v2/GetState", (<-got).line)
	require.Empty(t, got)
}

// A customer saves a card on the page. Later the customer or the merchant alone charges it.
func TestWhoInitiatesAPayment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		want   string
	}{
		"on the page": {func(c *gateway.Charge) { c.Token, c.Stored = "redirect", false }, "0"},
		"saved there": {func(c *gateway.Charge) { c.Token, c.Stored, c.Save = "redirect", false, true }, "1"},
		"by customer": {func(*gateway.Charge) {}, "2"},
		"by merchant": {func(c *gateway.Charge) { c.Unattended = true }, "R"},
		"instalments": {
			func(c *gateway.Charge) {
				c.Unattended = true
				c.ProviderData = map[string]json.RawMessage{"OperationInitiatorType": json.RawMessage(`"I"`)}
			}, "I",
		},
		"saved again": {func(c *gateway.Charge) { c.Save = true }, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, got := described(t)
			ch := charge(good)
			ch.Customer.Reference = "customer-1"
			test.change(&ch)
			require.Contains(t, []fsm.Event{fsm.EventSucceeded, fsm.EventActionRequired}, charged(t, c, ch).Event)
			in := scalars([]byte((<-got).body))
			require.JSONEq(t, `{"OperationInitiatorType":"`+test.want+`"}`, in[objectName+"DATA"])
			require.Equal(t, test.want == "1", in["Recurrent"] == "Y" && in["CustomerKey"] == "customer-1")
		})
	}
}

func TestProviderDataIsPassedOnByName(t *testing.T) {
	t.Parallel()
	c, _, got := described(t)
	ch := charge("redirect")
	ch.ProviderData = map[string]json.RawMessage{"Description": json.RawMessage(`"Order A-1"`), "Descriptor": json.RawMessage(`"678451"`), "Amount": json.RawMessage(`1`)}
	charged(t, c, ch)
	in := scalars([]byte((<-got).body))
	require.Equal(t, []string{"Order A-1", "678451", "1999"}, []string{in["Description"], in["Descriptor"], in["Amount"]})
	require.Equal(t, token(in), in["Token"])
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	word := func(r gateway.LineReceipt) func(*gateway.Charge) {
		return func(c *gateway.Charge) { c.Lines = c.Lines[:1]; c.Lines[0].Receipt = &r }
	}
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"a receipt":             {func(*gateway.Charge) {}, nil},
		"a receipt to nobody":   {func(c *gateway.Charge) { c.Customer.Email, c.Customer.Phone = "", "" }, []string{"customer.email"}},
		"a long address":        {func(c *gateway.Charge) { c.Customer.Email = strings.Repeat("j", 60) + "@shop.example" }, []string{"customer.email"}},
		"a measure too few":     {func(c *gateway.Charge) { c.Lines[1].Receipt = &gateway.LineReceipt{VATCode: 1} }, []string{"lines[1].receipt.measure"}},
		"a rate of none":        {word(gateway.LineReceipt{VATCode: 13}), []string{"lines[0].receipt.vat_code"}},
		"words of none":         {word(gateway.LineReceipt{VATCode: 12, PaymentSubject: "a", PaymentMode: "b"}), []string{"lines[0].receipt.payment_mode", "lines[0].receipt.payment_subject"}},
		"of the newer format":   {word(gateway.LineReceipt{VATCode: 11, PaymentSubject: "resort_fee"}), []string{"lines[0].receipt.payment_subject"}},
		"in the newer format":   {word(gateway.LineReceipt{VATCode: 11, PaymentSubject: "resort_fee", Measure: "day"}), nil},
		"of the older format":   {word(gateway.LineReceipt{VATCode: 1, PaymentSubject: "composite", Measure: "day"}), []string{"lines[0].receipt.payment_subject"}},
		"in the older format":   {word(gateway.LineReceipt{VATCode: 1, PaymentSubject: "composite"}), nil},
		"a card of nobody":      {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "" }, []string{"customer.reference"}},
		"a card of a long name": {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, strings.Repeat("u", 37) }, []string{"customer.reference"}},
		"a long name":           {func(c *gateway.Charge) { c.Customer.Reference = strings.Repeat("u", 37) }, nil},
		"initiated by nobody": {
			func(c *gateway.Charge) {
				c.Unattended, c.ProviderData = true, map[string]json.RawMessage{"OperationInitiatorType": json.RawMessage(`"0"`)}
			}, []string{"provider_data.OperationInitiatorType"},
		},
		"initiated by a customer": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"OperationInitiatorType": json.RawMessage(`"R"`)}
			}, []string{"provider_data.OperationInitiatorType"},
		},
		"the SBP holds nothing":          {func(c *gateway.Charge) { c.Token, c.Capture = "sbp", payment.CaptureManual }, []string{"capture"}},
		"T-Pay and SberPay hold":         {func(c *gateway.Charge) { c.Token, c.Capture = "tpay", payment.CaptureManual }, nil},
		"SberPay without the device":     {func(c *gateway.Charge) { c.Token = "sberpay" }, []string{"browser.user_agent"}},
		"SberPay":                        {func(c *gateway.Charge) { c.Token, c.Browser = "sberpay", &gateway.Browser{UserAgent: "Mozilla/5.0"} }, nil},
		"a QR code of half an hour":      {func(c *gateway.Charge) { c.Token, c.ProviderData = "sbp", due(`"2026-03-01T12:28:00+03:00"`) }, nil},
		"a QR code until some other day": {func(c *gateway.Charge) { c.Token, c.ProviderData = "sbp", due(`"tomorrow"`) }, []string{"provider_data.RedirectDueDate"}},
		"ours": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"Amount": nil, "CustomerKey": nil, "DATA": nil, "OrderId": nil, "Shops": nil}
			},
			[]string{"provider_data.Amount", "provider_data.CustomerKey", "provider_data.DATA", "provider_data.OrderId", "provider_data.Shops"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := described(t)
			ch := ticket("redirect")
			test.change(&ch)
			requireFields(t, test.fields, c.Accepts(ch))
		})
	}
	c := client(t, "", "", http.DefaultClient)
	requireFields(t, []string{"lines"}, c.Accepts(ticket("redirect")))
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

func TestATaxationOfNoneIsNoConfiguration(t *testing.T) {
	t.Parallel()
	_, err := tbank.Adapter().New(kit.Settings{Params: map[string]string{"webhook_secret": password, "taxation": "flat"}})
	require.ErrorIs(t, err, webhooks.ErrConfig)
	_, err = tbank.Adapter().New(kit.Settings{Params: map[string]string{"webhook_secret": password, "taxation": "patent"}})
	require.NoError(t, err)
}
