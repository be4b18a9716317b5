package cloudpayments_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), cloudpayments.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save, c.Customer.Locale = cryptogram("good"), true, "ru" },
		func(c *gateway.Charge) { c.Token, c.Stored, c.Unattended = good, true, true },
		func(c *gateway.Charge) { c.Token = "redirect" },
		func(c *gateway.Charge) { c.Token = "tpay" },
	)
}

// ticket returns a charge of two tickets and their delivery, with a receipt.
func ticket(token string) gateway.Charge {
	ch := charge(token)
	ch.Customer.Email, ch.Customer.Phone, ch.Customer.Name, ch.Customer.IP = "jane@shop.example", "+79000000000", "Jane Doe", "203.0.113.9"
	on := &gateway.LineReceipt{VATCode: 11, PaymentSubject: "service", PaymentMode: "full_payment", Measure: "piece"}
	ch.Lines = []gateway.Line{
		{Description: "Ticket", Quantity: "2", UnitAmount: 750, Amount: 1500, Receipt: on},
		{Description: "Delivery", Quantity: "0.125", UnitAmount: 3992, Amount: 499, Receipt: &gateway.LineReceipt{VATCode: 1}},
	}
	return ch
}

// receiptOf returns the receipt in a request.
func receiptOf(t *testing.T, body string) string {
	t.Helper()
	var sent struct {
		Data struct {
			CloudPayments struct {
				Receipt json.RawMessage `json:"customerReceipt"`
			} `json:"cloudPayments"`
		} `json:"JsonData"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	return string(sent.Data.CloudPayments.Receipt)
}

func TestAReceiptIsSentWithThePayment(t *testing.T) {
	t.Parallel()
	for _, token := range []string{good, cryptogram("good"), "redirect"} {
		c, got := serve(t, newFake(t))
		c.Taxation = new(0)
		ch := ticket(token)
		o := charged(t, c, ch)
		require.False(t, o.Refused)
		sent := <-got
		require.JSONEq(t, `{"taxationSystem": 0, "email": "jane@shop.example", "phone": "+79000000000", "amounts": {"electronic": 19.99}, "Items": [
			{"label": "Ticket", "quantity": 2, "price": 7.50, "amount": 15.00, "vat": 22, "method": 4, "object": 4, "measurementUnit": "шт"},
			{"label": "Delivery", "quantity": 1, "price": 4.99, "amount": 4.99, "vat": null, "method": 0, "object": 0}
		]}`, receiptOf(t, sent.body))
		require.Contains(t, sent.body, `"payment_attempt_id":"`+ch.Attempt.String()+`"`)
	}
}

// A capture and a refund have their own receipts, and keep our ids.
func TestAReceiptOfAPart(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := ticket(cryptogram("good"))
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	<-got
	whole := gateway.ReceiptOf(ch.Details)
	taken, err := c.Capture(t.Context(), gateway.Capture{
		Attempt: ch.Attempt, ProviderPaymentID: held.ProviderPaymentID, Money: rub(1000), Receipt: whole.Part(1000), IdempotencyKey: "k-capture", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, rub(1000), *taken.Money)
	sent := <-got
	require.Contains(t, receiptOf(t, sent.body), `"electronic":10.00`)
	require.Contains(t, sent.body, `"payment_attempt_id":"`+ch.Attempt.String()+`"`)

	ref := gateway.RefundCall{
		Attempt: ch.Attempt, ProviderPaymentID: held.ProviderPaymentID, Money: rub(100), Receipt: whole.Part(100), IdempotencyKey: "k-refund", Permit: permit(),
	}
	r, err := c.Refund(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, r.Event)
	require.Contains(t, receiptOf(t, (<-got).body), `"electronic":1.00`)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: ref.Refund, ProviderPaymentID: held.ProviderPaymentID})
	require.NoError(t, err, "the receipt beside it leaves our name readable")
	require.Equal(t, r.ProviderRefundID, found.ProviderRefundID)
}

// A notification contains the data of the request: our id is read besides the receipt.
func TestWebhooksReadOurNameBesideAReceipt(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := ticket(good)
	charged(t, c, ch)
	var sent struct {
		Data json.RawMessage `json:"JsonData"`
	}
	require.NoError(t, json.Unmarshal([]byte((<-got).body), &sent))
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	body, err := json.Marshal(map[string]any{
		"TransactionId": 501, "Amount": "19.99", "Currency": "RUB", "Status": "Completed", "OperationType": "Payment", "Data": string(sent.Data),
	})
	require.NoError(t, err)
	events := v.Read(webhooks.Delivery{
		Method: http.MethodPost, URL: "https://pay.example/webhooks/x/pay", Topic: "pay", Header: http.Header{"Content-Type": {"application/json"}},
		Body: body, ReceivedAt: time.Unix(1, 0),
	})
	require.Equal(t, ch.Attempt.String(), events[0].References[0])
}

// A customer saves a card, and the merchant charges it alone.
func TestASavedCardIsChargedByTheMerchant(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge(cryptogram("good"))
	ch.Save, ch.Customer.IP = true, "203.0.113.9"
	o := charged(t, c, ch)
	require.Equal(t, &payment.SavedMethod{Token: "tk_saved", Type: "card", Display: "Visa **** 1111", Expires: "2029-05"}, o.Saved)
	require.Equal(t, gateway.TokenStored, c.TokenKind(o.Saved.Token))
	sent := <-got
	require.Equal(t, "POST /payments/cards/charge", sent.line)
	require.JSONEq(t, `{
		"Amount": 19.99, "Currency": "RUB", "InvoiceId": "`+ch.Attempt.String()+`", "AccountId": "u-1", "CardCryptogramPacket": "`+ch.Token+`",
		"IpAddress": "203.0.113.9", "SaveCard": true, "JsonData": {"payment_attempt_id": "`+ch.Attempt.String()+`", "order_id": "A-1"}
	}`, sent.body)

	for scheduled, want := range map[string]string{"": `"TrInitiatorCode":0,"PaymentScheduled":0`, "1": `"TrInitiatorCode":0,"PaymentScheduled":1`} {
		again := charge(good)
		again.Unattended = true
		if scheduled != "" {
			again.ProviderData = map[string]json.RawMessage{"PaymentScheduled": json.RawMessage(scheduled)}
		}
		require.Equal(t, fsm.EventSucceeded, charged(t, c, again).Event)
		require.Contains(t, (<-got).body, want)
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	c := cloudpayments.New("", publicID, secret, http.DefaultClient)
	for name, test := range map[string]struct {
		change func(*gateway.Charge)
		fields []string
	}{
		"a receipt":             {func(*gateway.Charge) {}, nil},
		"a receipt to nobody":   {func(c *gateway.Charge) { c.Customer.Email, c.Customer.Phone = "", "" }, []string{"customer.email"}},
		"a cryptogram of no IP": {func(c *gateway.Charge) { c.Customer.IP = "" }, []string{"customer.ip"}},
		"no way back":           {func(c *gateway.Charge) { c.ReturnURL = "" }, []string{"return_url"}},
		"a token of neither":    {func(c *gateway.Charge) { c.Token, c.Customer.IP, c.ReturnURL = good, "", "" }, nil},
		"a card of nobody":      {func(c *gateway.Charge) { c.Save, c.Customer.Reference = true, "" }, []string{"customer.reference"}},
		"words of none": {
			func(c *gateway.Charge) {
				c.Lines[0].Receipt = &gateway.LineReceipt{VATCode: 13, PaymentSubject: "a", PaymentMode: "b", Measure: "c"}
			},
			[]string{"lines[0].receipt.vat_code", "lines[0].receipt.payment_subject", "lines[0].receipt.payment_mode", "lines[0].receipt.measure"},
		},
		"their own members": {
			func(c *gateway.Charge) {
				c.Unattended = true
				c.ProviderData = map[string]json.RawMessage{"Description": json.RawMessage(`"x"`), "PaymentScheduled": json.RawMessage(`1`)}
			}, nil,
		},
		"a schedule with the customer": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"PaymentScheduled": json.RawMessage(`1`)}
			}, []string{"provider_data.PaymentScheduled"},
		},
		"a schedule of none": {
			func(c *gateway.Charge) {
				c.Unattended = true
				c.ProviderData = map[string]json.RawMessage{"PaymentScheduled": json.RawMessage(`{"Amount":1}`)}
			}, []string{"provider_data.PaymentScheduled"},
		},
		"the SBP holds nothing":    {func(c *gateway.Charge) { c.Token, c.Capture = "sbp", payment.CaptureManual }, []string{"capture"}},
		"the SBP":                  {func(c *gateway.Charge) { c.Token, c.ReturnURL = "sbp", "" }, nil},
		"T-Pay without a device":   {func(c *gateway.Charge) { c.Token = "tpay" }, []string{"browser.user_agent"}},
		"T-Pay without a way back": {func(c *gateway.Charge) { c.Token, c.ReturnURL, c.Browser = "tpay", "", mobile() }, []string{"return_url"}},
		"SberPay without a device": {func(c *gateway.Charge) { c.Token = "sberpay" }, []string{"browser.user_agent"}},
		"SberPay holds":            {func(c *gateway.Charge) { c.Token, c.Capture, c.Browser = "sberpay", payment.CaptureManual, mobile() }, nil},
		"ours": {
			func(c *gateway.Charge) {
				c.ProviderData = map[string]json.RawMessage{"Amount": nil, "AccountId": nil, "InvoiceId": nil, "JsonData": nil, "Token": nil}
			},
			[]string{"provider_data.AccountId", "provider_data.Amount", "provider_data.InvoiceId", "provider_data.JsonData", "provider_data.Token"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ch := ticket(cryptogram("good"))
			test.change(&ch)
			err := c.Accepts(ch)
			if test.fields == nil {
				require.NoError(t, err)
				return
			}
			var wrong *payment.ValidationError
			require.ErrorAs(t, err, &wrong)
			var got []string
			for _, f := range wrong.Fields {
				got = append(got, f.Field)
			}
			require.Equal(t, test.fields, got)
		})
	}
}
