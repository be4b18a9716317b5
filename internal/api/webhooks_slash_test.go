package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// TestASlashAtTheEnd: a delivery to /webhooks/x/ is answered and counted as a delivery to /webhooks/x.
func TestASlashAtTheEnd(t *testing.T) {
	t.Parallel()
	seen := make(chan metrics.Request, 1)
	b, v := newReceiver(t, func(o *api.Options) { o.Observe = func(s metrics.Request) { seen <- s } })
	v.ack = webhooks.Ack{Status: 200, ContentType: "text/plain", Body: []byte("[accepted]")}
	for _, address := range []string{
		"POST /webhooks/sandbox", "GET /webhooks/sandbox", "HEAD /webhooks/sandbox", "PUT /webhooks/sandbox", "OPTIONS /webhooks/sandbox", "POST /webhooks/other",
		"POST /webhooks/silent", "POST /webhooks/paused", "POST /webhooks/sandbox/pay%20me", "GET /webhooks/sandbox/pay", "POST /webhooks/a%2Fb",
	} {
		for _, query := range []string{"", "?a=1&b=/"} {
			method, path, _ := strings.Cut(address, " ")
			send := func(path string) (status int, header http.Header, body, topic string, counted metrics.Request) {
				v.seen = webhooks.Delivery{}
				got := b.send(method, path+query, "{}")
				got.Header.Del("Date")
				got.Header.Del("X-Request-Id")
				got.Header.Del("Content-Length")
				counted = <-seen
				counted.Took = 0
				text, _, _ := strings.Cut(string(got.text), `"request_id"`)
				if v.seen.Method != "" {
					require.Equal(t, b.server.URL+path+query, v.seen.URL, "the provider may have signed this")
				}
				return got.StatusCode, got.Header, text, v.seen.Topic, counted
			}
			status, header, body, topic, counted := send(path)
			slashStatus, slashHeader, slashBody, slashTopic, slashCounted := send(path + "/")
			require.Equal(t, status, slashStatus, address)
			require.Equal(t, header, slashHeader, address)
			require.Equal(t, body, slashBody, address)
			require.Equal(t, topic, slashTopic, address)
			require.Equal(t, counted, slashCounted, address)
		}
	}
	b.invented = true // the contract has no such path
	for _, path := range []string{"/healthz/", "/webhooks", "/webhooks/"} {
		require.Equal(t, 404, b.send(http.MethodGet, path, "").StatusCode, path)
		<-seen
	}
}

// TestASignedAddressWithASlash: Square signs the address that was registered with it, which public_url has. Braintree asks whether an
// address is the merchant's.
func TestASignedAddressWithASlash(t *testing.T) {
	t.Parallel()
	const body = `{"merchant_id":"M","type":"payment.updated","event_id":"e-1","created_at":"2026-03-01T09:30:00Z","data":{"type":"payment","id":"p","object":{}}}`
	accounts, headers := map[string]api.WebhookAccount{}, map[string][]string{}
	for name, public := range map[string]string{"bare": "https://shop.example/webhooks/square", "slash": "https://shop.example/webhooks/square/"} {
		square, err := all.New("square", webhooks.Config{Secrets: []string{"key"}, PublicURL: public})
		require.NoError(t, err)
		d := webhooks.Delivery{Method: http.MethodPost, URL: public, Header: http.Header{}, Body: []byte(body), ReceivedAt: now}
		require.NoError(t, square.(webhooks.Signer).Sign(&d))
		accounts[name] = api.WebhookAccount{Verifier: square, PublicURL: public}
		for header, values := range d.Header {
			headers[name] = append(headers[name], header+": "+values[0])
		}
	}
	braintree, err := all.New("braintree", webhooks.Config{Secrets: []string{"private"}, Params: map[string]string{"public_key": "public", "merchant_id": "m"}})
	require.NoError(t, err)
	accounts["braintree"] = api.WebhookAccount{Verifier: braintree}
	b := newBench(t, func(o *api.Options) { o.Accounts = current.Of(accounts) })
	for name, signed := range headers {
		for _, path := range []string{"/webhooks/" + name, "/webhooks/" + name + "/"} {
			got := b.send(http.MethodPost, path, body, signed...)
			require.Equal(t, 200, got.StatusCode, "%s: %s", path, got.text)
			b.send(http.MethodPost, path, body+" ", signed...).is(t, 401, "webhook-signature-invalid")
		}
	}
	challenged := b.send(http.MethodGet, "/webhooks/braintree/?bt_challenge=20f9f8ed05f77439fe955c977e4c8a53", "")
	require.Equal(t, 200, challenged.StatusCode)
	require.True(t, strings.HasPrefix(string(challenged.text), "public|"), "%s", challenged.text)
}
