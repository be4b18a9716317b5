package robokassa_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// ticket returns a charge of two tickets and their delivery, with a receipt.
func ticket() gateway.Charge {
	ch := charge("redirect")
	ch.Customer = gateway.Customer{Email: "jane@shop.example"}
	on := &gateway.LineReceipt{VATCode: 4, PaymentSubject: "service", PaymentMode: "partial_prepayment"}
	ch.Lines = []gateway.Line{
		{Description: "Билет", Quantity: "2", UnitAmount: 750, Amount: 1500, Receipt: on},
		{Description: "Delivery", Quantity: "1", UnitAmount: 499, Amount: 499, Receipt: on},
	}
	return ch
}

// TestAReceiptIsSignedAsItIsSent: the receipt of a link is encoded once in its signature and once more in its transfer.
// The customer posts it with a form.
func TestAReceiptIsSignedAsItIsSent(t *testing.T) {
	t.Parallel()
	of := shop()
	of.Taxation = "osn"
	ch := ticket()
	o, err := client(t, "", of, nil).Charge(t.Context(), ch)
	require.NoError(t, err)
	require.Equal(t, payment.ActionPostForm, o.NextAction.Type)
	require.Equal(t, "https://auth.robokassa.ru/Merchant/Index.aspx", o.NextAction.URL)
	got := o.NextAction.Fields
	receipt, err := url.QueryUnescape(got["Receipt"])
	require.NoError(t, err)
	require.JSONEq(t, `{"sno": "osn", "items": [
		{"name": "Билет", "quantity": 2, "sum": 15.00, "tax": "vat20", "payment_method": "prepayment", "payment_object": "service"},
		{"name": "Delivery", "quantity": 1, "sum": 4.99, "tax": "vat20", "payment_method": "prepayment", "payment_object": "service"}
	]}`, receipt)
	require.Equal(t, url.QueryEscape(receipt), got["Receipt"])
	require.Equal(t, "jane@shop.example", got["Email"])
	require.Equal(t, signature(shopLogin, "19.99", o.ProviderPaymentID, got["Receipt"], ch.ReturnURL, "GET", ch.ReturnURL, "GET", password1,
		"Shp_payment_attempt_id="+ch.Attempt.String()), got["SignatureValue"])
}

// TestAReceiptToATelephone: a customer without an e-mail address enters one on the page.
func TestAReceiptToATelephone(t *testing.T) {
	t.Parallel()
	ch := ticket()
	ch.Customer = gateway.Customer{Phone: "+79000000000"}
	c := client(t, "", shop(), nil)
	require.NoError(t, c.Accepts(ch))
	o, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	require.NotContains(t, o.NextAction.Fields, "Email")
}

// TestReceiptsOfParts: a capture and a refund have their own receipts.
func TestReceiptsOfParts(t *testing.T) {
	t.Parallel()
	c, f := opened(t)
	ch := ticket()
	whole := gateway.ReceiptOf(ch.Details)
	ch.Lines, ch.Capture = nil, payment.CaptureManual
	id := visited(t, c, f, ch).ProviderPaymentID
	f.pay(id)
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: rub(1000), Receipt: whole.Part(1000), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: id, Money: &payment.Money{Minor: 1000, Currency: "RUB"}, References: o.References}, o)

	back := gateway.RefundCall{ProviderPaymentID: id, Money: rub(400), Left: rub(1000), Receipt: whole.Part(400), Permit: permit()}
	_, err = c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.JSONEq(t, `{"OpKey": "KEY-`+id+`", "RefundSum": 4.00, "InvoiceItems": [
		{"Name": "Билет", "Quantity": 1, "Cost": 3.00, "Tax": "vat20", "PaymentMethod": "prepayment", "PaymentObject": "service"},
		{"Name": "Delivery", "Quantity": 1, "Cost": 1.00, "Tax": "vat20", "PaymentMethod": "prepayment", "PaymentObject": "service"}
	]}`, f.created)
}
