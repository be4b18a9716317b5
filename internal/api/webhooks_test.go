package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// verifier accepts every delivery, returns the test's results, and keeps the delivery.
type verifier struct {
	err  error
	ack  webhooks.Ack
	seen webhooks.Delivery
	// unsigned marks the events as unsigned.
	unsigned bool
	// unreadable marks the events as unreadable.
	unreadable bool
}

func (v *verifier) Verify(_ context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	v.seen = d
	events := []webhooks.Event{{ID: "evt_1"}, {ID: "evt_2"}}
	if v.unreadable {
		events[0].Kind = webhooks.KindUnreadable
	}
	if v.unsigned {
		events[1].SecretIndex = -1
	}
	return events, v.err
}

func (v *verifier) Ack(webhooks.Delivery, []webhooks.Event) webhooks.Ack { return v.ack }

func newReceiver(t *testing.T, change ...func(*api.Options)) (*bench, *verifier) {
	t.Helper()
	v := &verifier{ack: webhooks.OK()}
	b := newBench(t, append([]func(*api.Options){func(o *api.Options) {
		o.Accounts = current.Of(map[string]api.WebhookAccount{
			"sandbox": {Verifier: v}, "public": {Verifier: v, PublicURL: "https://shop.example/hooks/public", Fingerprint: []byte("by these secrets")}, "silent": {},
			"paused": {Verifier: v, Paused: true},
		})
	}}, change...)...)
	b.payments.intake = func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error) {
		return []fsm.Verdict{fsm.Applied, payment.VerdictDuplicate}, nil
	}
	return b, v
}

func TestReceive(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	v.ack = webhooks.Ack{Status: 200, ContentType: "text/plain", Body: []byte("[accepted]")}
	body := "{\"a\": 1,\r\n \xff}"
	got := b.send(http.MethodPost, "/webhooks/sandbox?x=1", body, "Content-Type: application/x-odd", "Webhook-Id: m1", "Cookie: c=1", "Stripe-Signature: a", "Stripe-Signature: b")
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, "applied,duplicate", got.Header.Get("Webhook-Result"))
	require.Equal(t, "[accepted]", string(got.text))
	require.Equal(t, body, string(v.seen.Body))
	require.Equal(t, b.server.URL+"/webhooks/sandbox?x=1", v.seen.URL)
	require.Equal(t, netip.MustParseAddr("127.0.0.1"), v.seen.RemoteAddr)
	require.Equal(t, now, v.seen.ReceivedAt)
	require.Len(t, b.payments.received, 2)
	first := b.payments.received[0]
	require.Equal(t, "sandbox", first.Account)
	require.Equal(t, "evt_1", first.Event.ID)
	require.Equal(t, body, string(first.Body))
	require.Equal(t, now, first.At)
	require.Equal(t, map[string]string{
		"content-type": "application/x-odd", "user-agent": "Go-http-client/1.1", "webhook-id": "m1", "stripe-signature": "a, b",
	}, first.Headers)
}

func TestReceiveWithARealSignature(t *testing.T) {
	t.Parallel()
	genuine, err := all.New("sandbox", webhooks.Config{Secrets: []string{"whsec_" + strings.Repeat("MDEy", 8)}})
	require.NoError(t, err)
	b := newBench(t, func(o *api.Options) {
		o.Accounts = current.Of(map[string]api.WebhookAccount{"sandbox": {Verifier: genuine}})
	})
	body := `{"id":"evt_1","type":"charge.succeeded","created":"2026-03-01T09:30:00Z","data":{"charge_id":"ch_1","refund_id":null,` +
		`"reference":"` + attemptID.String() + `","amount":1999,"currency":"EUR","failure_code":null}}`
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {"evt_1"}}, Body: []byte(body), ReceivedAt: now}
	require.NoError(t, genuine.(webhooks.Signer).Sign(&d))
	var headers []string
	for name, values := range d.Header {
		headers = append(headers, name+": "+values[0])
	}
	got := b.send(http.MethodPost, "/webhooks/sandbox", body, headers...)
	require.Equal(t, 200, got.StatusCode, "%s", got.text)
	require.Equal(t, "applied", got.Header.Get("Webhook-Result"))
	require.Equal(t, webhooks.KindSucceeded, b.payments.received[0].Event.Kind)
	b.send(http.MethodPost, "/webhooks/sandbox", body+" ", headers...).is(t, 401, "webhook-signature-invalid")
	b.send(http.MethodPost, "/webhooks/sandbox", body).is(t, 401, "webhook-signature-missing")
}

// A genuine delivery that can't be parsed is accepted: its provider would only send it again.
func TestReceiveWhatCantBeRead(t *testing.T) {
	t.Parallel()
	genuine, err := all.New("sandbox", webhooks.Config{Secrets: []string{"whsec_" + strings.Repeat("MDEy", 8)}})
	require.NoError(t, err)
	b := newBench(t, func(o *api.Options) {
		o.Accounts = current.Of(map[string]api.WebhookAccount{"sandbox": {Verifier: genuine}})
	})
	body := `{"type":"charge.succeeded","data":{"charge_id":"ch_1","amount":19.99,"currency":"EUR"}}`
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {"evt_1"}}, Body: []byte(body), ReceivedAt: now}
	require.NoError(t, genuine.(webhooks.Signer).Sign(&d))
	var headers []string
	for name, values := range d.Header {
		headers = append(headers, name+": "+values[0])
	}
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", body, headers...).StatusCode)
	require.Equal(t, webhooks.KindUnreadable, b.payments.received[0].Event.Kind)
	require.Equal(t, "evt_1", b.payments.received[0].Event.ID)
}

// Comgate authenticates by sending the secret itself.
func TestASecretInABodyIsNotKept(t *testing.T) {
	t.Parallel()
	comgate, err := all.New("comgate", webhooks.Config{Secrets: []string{"comgate-secret"}})
	require.NoError(t, err)
	b := newBench(t, func(o *api.Options) {
		o.Accounts = current.Of(map[string]api.WebhookAccount{"comgate": {Verifier: comgate}})
	})
	got := b.send(http.MethodPost, "/webhooks/comgate", "transId=A&status=PAID&secret=comgate-secret&refId=x")
	require.Equal(t, 200, got.StatusCode, "%s", got.text)
	require.Equal(t, "transId=A&status=PAID&secret=&refId=x", string(b.payments.received[0].Body))
}

func TestReceiveByTopicAndByGet(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/public/pay%20me?a=1", "x=1").StatusCode)
	require.Equal(t, "pay me", v.seen.Topic)
	require.Equal(t, "https://shop.example/hooks/public/pay%20me?a=1", v.seen.URL)
	require.Equal(t, 200, b.send(http.MethodGet, "/webhooks/public?OutSum=1&SignatureValue=2", "").StatusCode)
	require.Equal(t, http.MethodGet, v.seen.Method)
	require.Equal(t, "https://shop.example/hooks/public?OutSum=1&SignatureValue=2", v.seen.URL)
	require.Equal(t, "OutSum=1&SignatureValue=2", string(b.payments.received[0].Body))
	require.Equal(t, 405, b.send(http.MethodHead, "/webhooks/public", "").StatusCode)
	b.send(http.MethodPut, "/webhooks/public", "").is(t, 405, "method-not-allowed")
}

// TestRejectedDeliveriesAreKept passes on only the deliveries with a wrong signature, unchanged.
func TestRejectedDeliveriesAreKept(t *testing.T) {
	t.Parallel()
	var kept []webhooks.Delivery
	b, v := newReceiver(t, func(o *api.Options) {
		o.Rejected = func(account string, fingerprint []byte, d webhooks.Delivery) {
			require.Equal(t, "public", account)
			require.Equal(t, "by these secrets", string(fingerprint))
			kept = append(kept, d)
		}
	})
	for _, v.err = range []error{
		webhooks.ErrSignatureMissing, webhooks.ErrSignatureMalformed, webhooks.ErrTooOld, webhooks.ErrTooNew, webhooks.ErrSender, webhooks.ErrPayload, webhooks.ErrUnavailable,
	} {
		require.GreaterOrEqual(t, b.send(http.MethodPost, "/webhooks/public", "{}").StatusCode, 400)
	}
	require.Empty(t, kept)
	v.err = fmt.Errorf("%w: none of 2 secrets matches", webhooks.ErrSignatureInvalid)
	b.send(http.MethodPost, "/webhooks/public/pay?a=1", "{}", "Authorization: Basic YTpi").is(t, 401, "webhook-signature-invalid")
	require.Len(t, kept, 1)
	require.Equal(t, b.server.URL+"/webhooks/public/pay?a=1", kept[0].URL, "the address that was requested, not the one that is configured")
	require.Equal(t, "https://shop.example/hooks/public/pay?a=1", v.seen.URL)
	require.Equal(t, "pay", kept[0].Topic)
	require.Equal(t, "Basic YTpi", kept[0].Header.Get("Authorization"))
	require.Equal(t, "{}", string(kept[0].Body))
	require.Empty(t, b.payments.received)
}

func TestRefusedDeliveries(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	for _, name := range []string{"other", "silent", "%00", "SANDBOX"} {
		b.send(http.MethodPost, "/webhooks/"+name, "{}").is(t, 404, "unknown-account")
	}
	paused := b.send(http.MethodPost, "/webhooks/paused", "{}")
	paused.is(t, 503, "webhooks-paused")
	require.Equal(t, "60", paused.Header.Get("Retry-After"))
	require.Empty(t, v.seen.Method, "nothing of it is verified")
	b.send(http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", 1<<19+1)).is(t, 413, "body-too-large")
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{webhooks.ErrSignatureMissing, 401, "webhook-signature-missing"},
		{webhooks.ErrSignatureMalformed, 400, "webhook-signature-malformed"},
		{webhooks.ErrSignatureInvalid, 401, "webhook-signature-invalid"},
		{webhooks.ErrTooOld, 400, "webhook-too-old"},
		{payment.ErrDeliveryReplayed, 400, "webhook-replayed"},
		{webhooks.ErrTooNew, 400, "webhook-too-new"},
		{webhooks.ErrSender, 403, "webhook-sender-refused"},
		{webhooks.ErrPayload, 400, "webhook-payload-invalid"},
		{webhooks.ErrUnavailable, 503, "webhook-verification-unavailable"},
		{webhooks.ErrConfig, 500, "internal"},
		{errors.New("hidden text"), 500, "internal"},
	} {
		v.err = fmt.Errorf("verify: %w", c.err)
		got := b.send(http.MethodPost, "/webhooks/sandbox", "{}")
		got.is(t, c.status, c.code)
		require.Equal(t, c.status == 503, got.Header.Get("Retry-After") != "")
		require.NotContains(t, string(got.text), "hidden")
	}
	require.Empty(t, b.payments.received)
}

// The sender's address is checked before the verifier runs.
func TestSendersAreLimitedByAccount(t *testing.T) {
	t.Parallel()
	v := &verifier{ack: webhooks.OK()}
	b := newBench(t, func(o *api.Options) {
		o.Accounts = current.Of(map[string]api.WebhookAccount{
			"near": {Verifier: v, Senders: webhooks.Senders{netip.MustParsePrefix("127.0.0.0/8")}},
			"far":  {Verifier: v, Senders: webhooks.Senders{netip.MustParsePrefix("192.0.2.0/24")}},
		})
	})
	b.send(http.MethodPost, "/webhooks/far", "{}").is(t, 403, "webhook-sender-refused")
	require.Empty(t, b.payments.received)
	require.Empty(t, v.seen.Method, "nothing else is done with it")
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/near", "{}").StatusCode)
}

func TestWhatCantBeStoredIsAskedForAgain(t *testing.T) {
	t.Parallel()
	b, _ := newReceiver(t)
	for err, code := range map[error]string{
		payment.ErrUnavailable: "storage-unavailable", payment.ErrOverloaded: "overloaded", context.DeadlineExceeded: "overloaded",
	} {
		b.payments.intake = func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error) { return nil, err }
		got := b.send(http.MethodPost, "/webhooks/sandbox", "{}")
		require.True(t, got.is(t, 503, code).Retryable)
		require.Empty(t, got.Header.Get("Webhook-Result"))
	}
}

// Unsigned deliveries are accepted up to a limit of each account; signed deliveries are always accepted.
func TestUnsignedDeliveriesAreLimitedByAccount(t *testing.T) {
	t.Parallel()
	refused := make(chan metrics.Request, 2)
	var at time.Duration
	b, v := newReceiver(t, func(o *api.Options) {
		o.Now = func() time.Time { return now.Add(at) }
		o.Observe = func(s metrics.Request) {
			if s.Code != "" {
				refused <- s
			}
		}
	})
	v.unsigned = true
	status := func(account string) int { return b.send(http.MethodPost, "/webhooks/"+account, "{}").StatusCode }
	for range 500 {
		require.Equal(t, 200, status("sandbox"))
	}
	b.payments.received = nil
	got := b.send(http.MethodPost, "/webhooks/sandbox", "{}")
	require.True(t, got.is(t, 503, "overloaded").Retryable)
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Empty(t, b.payments.received)
	require.Equal(t, 200, status("public"))

	at = time.Second
	for range 50 {
		require.Equal(t, 200, status("sandbox"))
	}
	require.Equal(t, 503, status("sandbox"))
	v.unsigned = false
	require.Equal(t, 200, status("sandbox"))
	require.Equal(t, "sandbox", (<-refused).Account, "as the metric of refused deliveries tells it")
}

// Anyone can have an unsigned delivery stored: its body, query and headers may not be large, and it counts against the limit
// all the same.
func TestALargeUnsignedDeliveryIsRefused(t *testing.T) {
	t.Parallel()
	const most = 32 << 10
	b, v := newReceiver(t)
	v.unsigned = true
	for _, c := range []struct {
		method, query, body string
		headers             []string
		taken               bool
	}{
		{http.MethodPost, "", strings.Repeat("a", most-200), nil, true},
		{http.MethodPost, "", strings.Repeat("a", most+1), nil, false},
		{http.MethodPost, "", strings.Repeat("a", 1<<19), nil, false},
		{http.MethodGet, "?id=1&more=" + strings.Repeat("a", most), "", nil, false},
		{http.MethodPost, "", strings.Repeat("a", most/2), []string{"X-Signature: " + strings.Repeat("a", most/2)}, false},
	} {
		b.payments.received = nil
		got := b.send(c.method, "/webhooks/sandbox"+c.query, c.body, c.headers...)
		if c.taken {
			require.Equal(t, 200, got.StatusCode)
			continue
		}
		require.False(t, got.is(t, 413, "body-too-large").Retryable)
		require.Empty(t, b.payments.received)
	}
	for range 495 {
		require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", "{}").StatusCode)
	}
	b.send(http.MethodPost, "/webhooks/sandbox", "{}").is(t, 503, "overloaded")
	b.send(http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", most+1)).is(t, 503, "overloaded")
}

// A GET scheme signs the query at most: a body is never authenticated.
func TestABodyOfAGetIsNotRead(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	got := b.send(http.MethodGet, "/webhooks/sandbox?id=1", "x=1")
	require.Equal(t, 200, got.StatusCode)
	require.Empty(t, v.seen.Body)
	require.Equal(t, "id=1", string(b.payments.received[0].Body))
}

// Signed deliveries that can't be parsed have the rate limit of unsigned ones, but no limit of size.
func TestSignedAndUnreadableIsLimited(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	v.unreadable = true
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", 1<<19)).StatusCode)
	for range 499 {
		require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", "{}").StatusCode)
	}
	b.send(http.MethodPost, "/webhooks/sandbox", "{}").is(t, 503, "overloaded")
	v.unreadable = false
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", "{}").StatusCode)
}

func TestLargestDeliveryIsTaken(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	require.Equal(t, 200, b.send(http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", 1<<19)).StatusCode)
	require.Len(t, v.seen.Body, 1<<19)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.server.URL+"/webhooks/sandbox", io.MultiReader(strings.NewReader(strings.Repeat("a", 1<<19+1))))
	require.NoError(t, err)
	b.do(r).is(t, 413, "body-too-large")
}

func TestASenderThatHangsUpStopsNothing(t *testing.T) {
	t.Parallel()
	b, _ := newReceiver(t)
	began, done := make(chan struct{}), make(chan error, 1)
	gone, asked := make(chan struct{}), time.Now()
	b.payments.intake = func(ctx context.Context, _ []payment.ReceivedEvent) ([]fsm.Verdict, error) {
		close(began)
		<-gone
		deadline, ok := ctx.Deadline()
		require.True(t, ok)
		require.WithinRange(t, deadline, asked.Add(10*time.Second), time.Now().Add(10*time.Second))
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
		done <- ctx.Err()
		return []fsm.Verdict{fsm.Applied}, nil
	}
	conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "POST /webhooks/sandbox HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	require.NoError(t, err)
	<-began
	require.NoError(t, conn.Close())
	close(gone)
	require.NotErrorIs(t, <-done, context.Canceled)
}

func TestOnlyTrustedProxiesSpeakForOthers(t *testing.T) {
	t.Parallel()
	trusted := func(prefix string) func(*api.Options) {
		return func(o *api.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(prefix)} }
	}
	headers := []string{"X-Forwarded-For: 198.51.100.9, 203.0.113.7", "X-Real-Ip: 198.51.100.9", "X-Forwarded-Proto: https"}
	for prefix, want := range map[string]string{"127.0.0.0/8": "203.0.113.7", "10.0.0.0/8": "127.0.0.1"} {
		b, v := newReceiver(t, trusted(prefix))
		b.send(http.MethodPost, "/webhooks/sandbox", "{}", headers...)
		require.Equal(t, want, v.seen.RemoteAddr.String())
		require.Equal(t, want == "203.0.113.7", strings.HasPrefix(v.seen.URL, "https://"))
	}
	b, v := newReceiver(t)
	b.send(http.MethodPost, "/webhooks/sandbox", "{}", headers...)
	require.Equal(t, "127.0.0.1", v.seen.RemoteAddr.String())
	b, v = newReceiver(t, trusted("127.0.0.0/8"))
	for _, unnamed := range []string{"10.1.2.3", "192.168.1.2", "169.254.1.2", "fd00::1", "::1"} {
		b.send(http.MethodPost, "/webhooks/sandbox", "{}", "X-Forwarded-For: 198.51.100.9, "+unnamed)
		require.Equal(t, unnamed, v.seen.RemoteAddr.String(), "a private address is no trusted proxy")
	}
}

// TestForwardedAddresses: some proxies add the sender's port, and write addresses of version 6 in brackets.
func TestForwardedAddresses(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t, func(o *api.Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::ffff:10.0.0.0/104"), netip.MustParsePrefix("fd00::/8")}
	})
	for header, want := range map[string]string{
		"185.71.76.5:51008":               "185.71.76.5",
		"[::1]:443":                       "::1",
		"[2001:db8::7]":                   "2001:db8::7",
		"2001:db8::7":                     "2001:db8::7",
		"[fe80::7%eth0]:443":              "fe80::7",
		"::ffff:185.71.76.5":              "185.71.76.5",
		"198.51.100.9, 185.71.76.5:51008": "185.71.76.5",
		"185.71.76.5:51008, 10.0.0.7:443, [fd00::7]:1": "185.71.76.5",
		"10.0.0.8:1, 10.0.0.7":                         "10.0.0.8",
		"185.71.76.5, ::ffff:10.0.0.7":                 "185.71.76.5",
		"nobody, 185.71.76.5:51008":                    "185.71.76.5",
		"185.71.76.5, unknown":                         "127.0.0.1",
		"185.71.76.5:x":                                "127.0.0.1",
		"185.71.76.5:51008:1":                          "127.0.0.1",
		"":                                             "127.0.0.1",
	} {
		b.send(http.MethodPost, "/webhooks/sandbox", "{}", "X-Forwarded-For: "+header)
		require.Equal(t, want, v.seen.RemoteAddr.String(), header)
	}
	// As several headers they are one list.
	b.send(http.MethodPost, "/webhooks/sandbox", "{}", "X-Forwarded-For: 198.51.100.9", "X-Forwarded-For: 185.71.76.5:51008", "X-Forwarded-For: 10.0.0.7:1")
	require.Equal(t, "185.71.76.5", v.seen.RemoteAddr.String())
}
