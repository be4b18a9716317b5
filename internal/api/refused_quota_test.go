package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api"
)

// TestRefusedCommandsCostQuota: each kind of invalid command counts against the quota of its user alone.
func TestRefusedCommandsCostQuota(t *testing.T) {
	t.Parallel()
	at := now
	b := newBench(t, func(o *api.Options) {
		o.Quota, o.Now = idempotency.Quota{NewKeys: 6, Per: time.Minute}, func() time.Time { return at }
	})
	b.payments.order, b.payments.result = order(), idempotency.Created
	send := func(user, body string, headers ...string) answer {
		return b.send(http.MethodPost, "/v1/orders", body, append([]string{
			"Authorization: Bearer service-1", "On-Behalf-Of: " + user, "Idempotency-Key: key-00000001",
		}, headers...)...)
	}
	const asJSON = "Content-Type: application/json"
	send("u1", "{", asJSON).is(t, 400, "malformed-request")
	send("u1", `{"amount":0,"currency":"EUR"}`, asJSON).is(t, 422, "validation-failed")
	send("u1", `{"amount":1,"currency":"EUR","description":"4111111111111111"}`, asJSON).is(t, 422, "card-number-refused")
	send("u1", goodOrder, "Content-Type: text/plain").is(t, 415, "unsupported-media-type")
	send("u1", string(make([]byte, 100_000)), asJSON).is(t, 413, "body-too-large")
	b.send(http.MethodPost, "/v1/orders/A-1/pay", `{"payment_method":{"token":"t"},"capture":"manual"}`, "Authorization: Bearer u1", "Idempotency-Key: key-00000001", asJSON).
		is(t, 403, "forbidden")
	got := send("u1", goodOrder, asJSON)
	got.is(t, 429, "quota-exceeded")
	require.Equal(t, "10", got.Header.Get("Retry-After"))
	require.Equal(t, 201, send("u2", goodOrder, asJSON).StatusCode)
	at = at.Add(10 * time.Second)
	for range 3 {
		require.Equal(t, 201, send("u1", goodOrder, asJSON).StatusCode, "what is taken costs nothing here")
	}
	send("u1", "{", asJSON).is(t, 400, "malformed-request")
	send("u1", "{", asJSON).is(t, 429, "quota-exceeded")
}
