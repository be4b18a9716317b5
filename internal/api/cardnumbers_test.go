package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

const (
	visa = "4111111111111111"
	amex = "378282246310005"
)

// A card number in clear is refused in every place, and is neither repeated in the response nor written into the log.
func TestCardNumberRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const orders, pay = "/v1/orders", "/v1/orders/A-1/pay"
	refunds := attemptPath + "/refunds"
	for name, c := range map[string]struct{ path, body, header, field string }{
		"token":            {pay, `{"payment_method":{"token":"` + visa + `"}}`, "", "payment_method.token"},
		"token spaced":     {pay, `{"payment_method":{"token":"4111 1111 1111 1111"}}`, "", "payment_method.token"},
		"token dashed":     {pay, `{"payment_method":{"token":"3782-822463-10005"}}`, "", "payment_method.token"},
		"token dotted":     {pay, `{"payment_method":{"token":"4111.1111.1111.1111"}}`, "", "payment_method.token"},
		"token by digits":  {pay, `{"payment_method":{"token":"4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}}`, "", "payment_method.token"},
		"token full-width": {pay, `{"payment_method":{"token":"４１１１１１１１１１１１１１１１"}}`, "", "payment_method.token"},
		"phone":            {pay, `{"payment_method":{"token":"t"},"customer":{"phone":"+378282246310005"}}`, "", "customer.phone"},
		"metadata's sku":   {orders, `{"amount":1,"currency":"EUR","metadata":{"sku":"` + visa + `"}}`, "", "metadata.sku"},
		"token escaped":    {pay, `{"payment_method":{"token":"\u0034111111111111111"}}`, "", "payment_method.token"},
		"token in JSON":    {pay, `{"payment_method":{"token":"{\"number\":\"` + visa + `\"}"}}`, "", "payment_method.token"},
		"unknown member":   {pay, `{"payment_method":{"token":"t"},"card":{"number":"` + visa + `"}}`, "", "card.number"},
		"a number":         {pay, `{"payment_method":{"token":"t"},"card":` + visa + `}`, "", "card"},
		"in a list":        {pay, `{"payment_method":{"token":"t"},"cards":["x","` + visa + `"]}`, "", "cards"},
		"return_url":       {pay, `{"payment_method":{"token":"t"},"return_url":"https://a.example/?pan=` + visa + `"}`, "", "return_url"},
		"amount":           {orders, `{"amount":` + visa + `,"currency":"EUR"}`, "", "amount"},
		"order_id":         {orders, `{"amount":1,"currency":"EUR","order_id":"` + visa + `"}`, "", "order_id"},
		"order_id within":  {orders, `{"amount":1,"currency":"EUR","order_id":"A-` + visa + `"}`, "", "order_id"},
		"description":      {orders, `{"amount":1,"currency":"EUR","description":"Card ` + visa + `, thanks"}`, "", "description"},
		"metadata":         {orders, `{"amount":1,"currency":"EUR","metadata":{"card":"` + amex + `"}}`, "", "metadata.card"},
		"metadata's name":  {orders, `{"amount":1,"currency":"EUR","metadata":{"` + visa + `":"x"}}`, "", "metadata"},
		"a member's name":  {orders, `{"amount":1,"currency":"EUR","` + visa + `":"x"}`, "", "body"},
		"within metadata":  {orders, `{"amount":1,"currency":"EUR","metadata":{"provider_payment_id":"` + visa + `"}}`, "", "metadata.provider_payment_id"},
		"reason":           {refunds, `{"reason":"to ` + visa + `"}`, "", "reason"},
		"order in path":    {orders + "/" + visa + "/pay", goodPay, "", "order_id"},
		"order escaped":    {orders + "/%34111111111111111/pay", goodPay, "", "order_id"},
		"query":            {pay + "?note=" + visa, goodPay, "", "note"},
		"query's name":     {pay + "?" + visa + "=1", goodPay, "", "query"},
		"query of a twice": {pay + "?note=a&note=4111+1111+1111+1111", goodPay, "", "note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := *b
			b.t = t
			headers := []string{"Authorization: Bearer service-1"}
			if c.header != "" {
				headers = append(headers, c.header)
			}
			got := b.command(c.path, c.body, headers...)
			p := got.is(t, 422, "card-number-refused")
			require.False(t, p.Retryable)
			require.Len(t, p.Errors, 1)
			require.Equal(t, c.field, p.Errors[0].Field)
			whole, err := json.Marshal(got.Header)
			require.NoError(t, err)
			require.False(t, redact.CardNumberIn(string(whole)+string(got.text)), "%s %s", whole, got.text)
		})
	}
	t.Run("never echoed by what can't be read", func(t *testing.T) {
		t.Parallel()
		b := *b
		b.t = t
		got := b.command(orders, `{"`+visa+`":1,"`+visa+`":2}`)
		got.is(t, 400, "malformed-request")
		require.NotContains(t, string(got.text), visa)
		got = b.command(pay, `{}`, "X-Request-Id: "+visa)
		require.NotEqual(t, visa, got.Header.Get("X-Request-Id"))
	})
	t.Cleanup(func() {
		require.False(t, redact.CardNumberIn(b.log.String()), "%s", b.log)
	})
}

// TestCardNumbersBothWays: usual ids of shops and providers are not card numbers. Ids that a shop can't choose are accepted, even if they
// look like a card number.
func TestCardNumbersBothWays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), "created"
	for _, id := range []string{
		"411111111111", "A-20261124-0001", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "0a4111111111111111f0", "cart-77-1796000000002", "1796000000002", "490154203237518",
	} {
		got := b.command("/v1/orders", `{"amount":1000000000000,"currency":"EUR","order_id":"`+id+`"}`, "Idempotency-Key: "+id)
		require.Equal(t, http.StatusCreated, got.StatusCode, "%s: %s", id, got.text)
	}
	const seventeen = "62000000000000000"
	require.True(t, redact.CardNumberIn(seventeen), "an id that looks like a card number")
	got := b.command("/v1/orders", `{"amount":999,"currency":"EUR","customer":{"reference":"`+seventeen+`","phone":"+4915771234569"},"lines":[{"description":"Book","quantity":"1","unit_amount":999,"amount":999,"sku":"4006381333931"}]}`,
		"Idempotency-Key: order-"+seventeen, "On-Behalf-Of: "+seventeen, "Authorization: Bearer service-1")
	require.Equal(t, http.StatusCreated, got.StatusCode, "%s", got.text)
	require.Equal(t, "order-"+seventeen, got.Header.Get("Idempotency-Key"), "a key is echoed")
	b.payments.reply = commands.Reply{View: payment.View{Attempt: pending()}, Result: "created"}
	b.payments.refund = commands.RefundReply{Refund: pendingRefund(), Result: "created"}
	for path, body := range map[string]string{
		"/v1/orders/A-1/attempts": `{"account":"sandbox","provider_payment_id":"` + seventeen + `","references":["` + seventeen + `"]}`,
		attemptPath + "/report":   `{"provider_payment_id":"` + seventeen + `","references":["r","` + seventeen + `"]}`,
		attemptPath + "/refunds":  `{"provider_payment_id":"` + seventeen + `"}`,
		"/v1/support/discrepancies/" + attemptID.String() + "/resolve": `{"reason":"x","resolution":"paid","provider_payment_id":"` + seventeen + `"}`,
	} {
		got = b.command(path, body)
		require.NotEqual(t, http.StatusUnprocessableEntity, got.StatusCode, "%s: %s", path, got.text)
	}
	got = b.send(http.MethodGet, "/v1/orders?user_id="+seventeen, "", "Authorization: Bearer service-1")
	require.NotEqual(t, http.StatusUnprocessableEntity, got.StatusCode, "%s", got.text)
}

func FuzzCardNumberRefused(f *testing.F) {
	for _, seed := range []string{goodOrder, `{"a":{"b":["` + visa + `"]}}`, `{"4111 1111-1111 1111":1}`, `{"a":378282246310005}`, `{"a":"\u0034111111111111111"`} {
		f.Add(seed)
	}
	p := &payments{order: order(), result: "created"}
	log := &journal{}
	handler := api.New(api.Options{Payments: p, Reads: p, Deliveries: p, Auth: tokens{}, Log: zerolog.New(log)})
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/orders", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer u1")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "key-00000001")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.False(t, redact.CardNumberIn(w.Body.String()), "%s", w.Body)
		if w.Code == http.StatusCreated {
			require.False(t, redact.CardNumberIn(string(p.created.OrderID)+" , "+p.created.Description))
		}
	})
}
