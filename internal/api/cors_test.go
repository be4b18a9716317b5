package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
)

const shop = "https://shop.example"

func sharing(o *api.Options) { o.Origins = []string{shop} }

func TestPagesOfTheShopMayRead(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0, sharing)
	waits := w.ask("?wait=60", `If-None-Match: "2"`, "Origin: "+shop)
	s := w.follow("Origin: " + shop)
	w.wait(2)
	w.move(succeeded())
	w.payments.shows(succeeded())
	for _, h := range []http.Header{
		(<-waits).Header, s.Header, w.send(http.MethodGet, path, "", "Origin: "+shop).Header,
		w.send(http.MethodGet, path, "", "Origin: "+shop, "Authorization: -").Header, // a page can read why it was refused
	} {
		require.Equal(t, shop, h.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "ETag, Retry-After, Preference-Applied, X-Request-Id", h.Get("Access-Control-Expose-Headers"))
		require.Equal(t, []string{"Origin"}, h.Values("Vary"))
		require.Empty(t, h.Get("Access-Control-Allow-Credentials"), "no cookie means anything here")
	}
}

func TestOtherPagesMayNot(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0, sharing)
	for _, origin := range []string{"https://evil.example", "http://shop.example", "https://shop.example:8443", "null", "https://shop.example.evil.example"} {
		got := w.send(http.MethodGet, path, "", "Origin: "+origin)
		require.Equal(t, 200, got.StatusCode)
		require.Empty(t, got.Header.Get("Access-Control-Allow-Origin"), origin)
		require.Equal(t, "Origin", got.Header.Get("Vary"))
		require.Empty(t, w.send(http.MethodOptions, path, "", "Origin: "+origin).Header.Get("Access-Control-Allow-Headers"), origin)
	}
	for _, at := range []string{"/v1/orders/A-1", "/v1/orders/A-1/attempts", "/v1/refunds/" + refundID.String(), "/healthz"} {
		require.Empty(t, w.send(http.MethodGet, at, "", "Origin: "+shop).Header.Get("Access-Control-Allow-Origin"), "%s is for no page", at)
	}
	require.Empty(t, w.send(http.MethodOptions, "/v1/orders", "", "Origin: "+shop).Header.Get("Access-Control-Allow-Origin"))
}

func TestPreflights(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0, sharing)
	for _, at := range []string{path, path + "/stream"} {
		got := w.send(http.MethodOptions, at, "", "Authorization: -", "Origin: "+shop, "Access-Control-Request-Method: GET",
			"Access-Control-Request-Headers: authorization,if-none-match")
		require.Equal(t, http.StatusNoContent, got.StatusCode)
		require.Equal(t, shop, got.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "GET", got.Header.Get("Access-Control-Allow-Methods"))
		require.Equal(t, "Authorization, If-None-Match, Last-Event-ID, Prefer, X-Request-Id", got.Header.Get("Access-Control-Allow-Headers"))
		require.Equal(t, "600", got.Header.Get("Access-Control-Max-Age"))
	}
	check := w.send(http.MethodOptions, path+"/check", "", "Authorization: -", "Origin: "+shop, "Access-Control-Request-Method: POST")
	require.Equal(t, "POST", check.Header.Get("Access-Control-Allow-Methods"))
	require.Equal(t, "OPTIONS, POST", check.Header.Get("Allow"))
	require.Zero(t, w.payments.calls)
	b := newBench(t)
	b.payments.view = w.view
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		h := b.send(method, path, "", "Origin: "+shop).Header
		require.Empty(t, h.Values("Vary"), "by default there is nobody to share with")
		require.Empty(t, h.Get("Access-Control-Allow-Origin"))
	}
}
