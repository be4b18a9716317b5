package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

// raw sends bytes as they are. It may be called from any goroutine.
func (s *service) raw(text string) answer {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		return answer{err: err}
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(soon))
	_, _ = io.WriteString(conn, text) // a server that has seen enough hangs up
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, text: body, err: err}
}

// TestOddBytes: bytes that are no HTTP, or too much of it, are refused by 4xx at once and cost nothing but their connection.
func TestOddBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	head := "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token("shop", "service") + "\r\nOn-Behalf-Of: u1\r\nContent-Type: application/json\r\n" + key + "\r\n"
	for name, text := range map[string]string{
		"garbage":         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"no host":         "GET /healthz HTTP/1.1\r\n\r\n",
		"header name":     "GET /healthz HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n",
		"header value":    "GET /healthz HTTP/1.1\r\nHost: a\r\nA: \x00\r\n\r\n",
		"huge header":     "GET /healthz HTTP/1.1\r\nHost: a\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
		"many headers":    "GET /healthz HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: b\r\n", 100_000) + "\r\n",
		"two lengths":     head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
		"negative length": head + "Content-Length: -1\r\n\r\n{}",
		"odd chunks":      head + "Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
		"odd encoding":    head + "Transfer-Encoding: gzip\r\n\r\n{}",
	} {
		a := s.raw(text)
		if a.err == nil {
			require.True(t, a.status >= 400 && a.status < 500 || a.status == http.StatusNotImplemented, "%s: %d", name, a.status)
		}
	}
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(goodOrder))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(conn, head+length+goodOrder[:10])
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Empty(t, column[string](t, r, `SELECT order_id FROM orders`))
	a := again(t.Context(), false, func() answer {
		return s.raw(head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(goodOrder), goodOrder))
	})
	a.is(t, http.StatusCreated)
	a = s.raw(strings.ReplaceAll(head, "00000001", "00000002") + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 2<<20, strings.Repeat(" ", 2<<20)))
	a.problem(t, http.StatusRequestEntityTooLarge, "body-too-large")
}

// TestSlowBodies: a client that stops sending gets an error, and delays no other client.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	done := make(chan answer, 20)
	text := "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + token("u1", "customer") + "\r\nContent-Type: application/json\r\n" +
		key + "\r\nContent-Length: 100\r\n\r\n{"
	for range cap(done) {
		go func() { done <- s.raw(text) }()
	}
	s.customer().order(t)
	for range cap(done) {
		(<-done).problem(t, http.StatusRequestTimeout, "request-timeout")
	}
	require.Len(t, column[string](t, r, `SELECT order_id FROM orders`), 1)
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	c := newRig(t).serve().customer().backend()
	for id, kept := range map[string]bool{
		"abc": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "a b": false, "\u00fc": false, "": false,
	} {
		got := c.send(t.Context(), http.MethodGet, "/v1/orders/none", "", "X-Request-Id: "+id)
		p := got.problem(t, http.StatusNotFound, "not-found")
		require.Equal(t, kept, p.RequestID == id, id)
		require.Equal(t, p.RequestID, got.header.Get("X-Request-Id"))
	}
}

func TestBadWebhooks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	good := stripeSigner(t)
	wrong, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_wrong"}})
	require.NoError(t, err)
	const body = `{"id":"evt_1","type":"x"}`
	signed := func(by *stripe.Verifier, body string, age time.Duration) webhooks.Delivery {
		d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body), ReceivedAt: time.Now().Add(-age)}
		require.NoError(t, by.Sign(&d))
		return d
	}
	changed, malformed := signed(good, body, 0), signed(good, body, 0)
	changed.Body = append(changed.Body, ' ')
	malformed.Header.Set("Stripe-Signature", "v1")
	for name, c := range map[string]struct {
		account string
		d       webhooks.Delivery
		status  int
		code    string
	}{
		"unknown account":  {"nobody", signed(good, body, 0), 404, "unknown-account"},
		"odd account":      {"%00", signed(good, body, 0), 404, "unknown-account"},
		"no signature":     {"stripe-eu", webhooks.Delivery{Body: []byte(body), Header: http.Header{}}, 401, "webhook-signature-missing"},
		"another's scheme": {"partner", signed(good, body, 0), 401, "webhook-signature-missing"},
		"from elsewhere":   {"stripe-fenced", signed(good, body, 0), 403, "webhook-sender-refused"},
		"malformed":        {"stripe-eu", malformed, 400, "webhook-signature-malformed"},
		"wrong secret":     {"stripe-eu", signed(wrong, body, 0), 401, "webhook-signature-invalid"},
		"a byte more":      {"stripe-eu", changed, 401, "webhook-signature-invalid"},
		"old":              {"stripe-eu", signed(good, body, 10*time.Minute), 400, "webhook-too-old"},
		"of the future":    {"stripe-eu", signed(good, body, -2*time.Hour), 400, "webhook-too-new"},
		"old and wrong":    {"stripe-eu", signed(wrong, body, 10*time.Minute), 401, "webhook-signature-invalid"},
		"too large":        {"stripe-eu", signed(good, strings.Repeat(" ", 1<<19+1), 0), 413, "body-too-large"},
	} {
		got := s.redeliver(t.Context(), c.account, c.d)
		require.Equal(t, c.status, got.status, "%s: %s", name, got.text)
		got.problem(t, c.status, c.code)
		require.Empty(t, got.header.Get("Webhook-Result"), name)
	}
	require.Empty(t, column[string](t, r, `SELECT provider_event_id FROM provider_events`), "nothing of it is kept")
	require.Equal(t, "ignored", s.redeliver(t.Context(), "stripe-eu", signed(good, body, 2*time.Minute)).header.Get("Webhook-Result"))
	for name, body := range map[string]string{
		"not JSON": "a=b", "empty": "", "no id": `{}`, "amount with a half": intentSucceeded("evt", "pi", "a", "1.5"),
	} {
		got := s.redeliver(t.Context(), "stripe-eu", signed(good, body, 0))
		require.Equal(t, http.StatusOK, got.status, "%s: %s", name, got.text)
		require.Equal(t, "unreadable", got.header.Get("Webhook-Result"), "%s is genuine", name)
	}
	require.Equal(t, []string{"unreadable"}, column[string](t, r, `SELECT DISTINCT verdict FROM provider_events WHERE kind = 'unreadable'`))
	require.Equal(t, []string{"unreadable_event", "unreadable_event"}, column[string](t, r, `SELECT kind FROM discrepancies`), "one an hour for each type")
	rolled, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_one_that_is_rolled"}})
	require.NoError(t, err)
	require.Equal(t, "duplicate", s.redeliver(t.Context(), "stripe-eu", signed(rolled, body, 0)).header.Get("Webhook-Result"), "either secret is good")
}
