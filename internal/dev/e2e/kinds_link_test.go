package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// TestALinkIsPaidByItsNotice: a pay at Robokassa makes no call. Its link is the payment, which the notice of its
// success names.
func TestALinkIsPaidByItsNotice(t *testing.T) {
	t.Parallel()
	r := newKindsRig(t)
	shop, order := r.service.customer().backend(), unique("o")
	shop.send(t.Context(), http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_id":%q,"amount":1999,"currency":"RUB"}`, order),
		"Idempotency-Key: "+order).is(t, http.StatusCreated)
	a := shop.send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/pay",
		`{"account":"robokassa","payment_method":{"token":"redirect"},"return_url":"https://shop.example/back"}`, "Idempotency-Key: pay-"+order).attempt(t, http.StatusCreated)
	require.NotNil(t, a.NextAction)
	to, err := url.Parse(a.NextAction.URL)
	require.NoError(t, err)
	link := to.Query()
	require.Equal(t, "19.99", link.Get("OutSum"))
	require.Equal(t, a.ID, link.Get("Shp_payment_attempt_id"))

	notice := url.Values{"OutSum": {"19.990000"}, "InvId": link["InvId"], "Shp_payment_attempt_id": link["Shp_payment_attempt_id"]}
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(notice.Encode())}
	require.NoError(t, r.accounts["robokassa"].sign(&d))
	said := r.service.redeliver(t.Context(), "robokassa", d)
	said.is(t, http.StatusOK)
	require.Equal(t, "OK"+link.Get("InvId"), string(said.text))
	now := shop.send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+a.ID, "").attempt(t, http.StatusOK)
	require.Equal(t, "succeeded", now.Status)
	require.Empty(t, r.api.unexpected(), "no call was made")
}
