package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestEndpointCommands runs them against a receiver that refuses every second event.
func TestEndpointCommands(t *testing.T) {
	t.Parallel()
	received := 0
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if received++; received%2 == 0 {
			http.Error(w, "not\x1b[31m now", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(shop.Close)
	dsn := testdb.New(t)
	environ := []string{
		"PAYLATCH_DATABASE_URL=" + dsn,
		`PAYLATCH_ENDPOINTS=[{"name":"shop","url":"` + shop.URL + `","secrets":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],"allow_private":true}]`,
	}
	code, stdout, stderr := run(t, environ, "endpoint", "list")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "No endpoint is configured, or the service has not run with an endpoint yet.")

	conn := testdb.Connect(t, dsn)
	const id = "8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90"
	_, err := conn.Exec(t.Context(), `
		INSERT INTO outbox_batches (batch, events, last, created_at) VALUES (1, 1, 1, now());
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at) VALUES (1, 1, '', '`+id+`', 's', 'order.paid', 1, '{}', now());
		UPDATE outbox_head SET last = 1;
		INSERT INTO endpoints (name, url_digest, position) VALUES ('shop', '\x01', 1);
		INSERT INTO endpoint_retries VALUES ('shop', 1, '', '`+id+`', 's', 'dead', 10, now(), NULL, 500, 'x', now())`)
	require.NoError(t, err)
	says := func(want int, text string, args ...string) {
		t.Helper()
		code, stdout, stderr := run(t, environ, append([]string{"endpoint"}, args...)...)
		require.Equal(t, want, code, stderr)
		require.Contains(t, stdout+stderr, text)
		require.NotContains(t, stdout+stderr, "\x1b")
	}
	says(0, `"dead": 1`, "list", "--json")
	says(0, "accepted with 200", "test", "shop")
	says(1, "503 Service Unavailable: not[31m now", "test", "shop")
	says(1, "no such endpoint is configured: other", "test", "other")
	says(0, `"dead": 0`, "redeliver", "shop", "--id", id, "--json")
	says(0, `"behind": 1`, "redeliver", "shop", "--after", "", "--json")
	says(2, "this is no cursor of the feed", "redeliver", "shop", "--after", "x")
	says(1, "it is after all events", "redeliver", "shop", "--after", "7")
	says(2, "", "redeliver", "shop")

	var audited int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM staff_audit WHERE target = 'shop' AND action = 'endpoint.redeliver' AND outcome = 'done'").Scan(&audited))
	require.Equal(t, 2, audited)
}

// TestServeDelivers has an event that another process committed delivered by `paylatch serve`.
func TestServeDelivers(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 10)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	t.Cleanup(shop.Close)
	dsn := testdb.New(t)
	serving := command(t, []string{
		"PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_ENVIRONMENT=test", "PAYLATCH_ENCRYPTION_KEYS=" + encryptionKeys, "PAYLATCH_LISTEN=127.0.0.1:0",
		"PAYLATCH_SHUTDOWN_TIMEOUT=" + soon.String(), "PAYLATCH_AUTH_HS256=[{id: shop, secret: " + secret + ", roles: [service]}]", "PAYLATCH_ACCOUNTS=[{name: a, kind: stripe, api_key: sk_test_1}]",
		`PAYLATCH_ENDPOINTS=[{"name":"shop","url":"` + shop.URL + `","secrets":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],"allow_private":true}]`,
	}, "serve")
	var log bytes.Buffer
	serving.Stderr = &log
	require.NoError(t, serving.Start())
	conn := testdb.Connect(t, dsn)
	require.Eventually(t, func() bool {
		var n int
		return conn.QueryRow(t.Context(), "SELECT count(*) FROM endpoints").Scan(&n) == nil && n == 1
	}, soon, 50*time.Millisecond, "the endpoint is registered")
	_, err := conn.Exec(t.Context(), `WITH b AS (INSERT INTO outbox_batches (events, created_at) VALUES (1, now()) RETURNING batch)
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
		SELECT batch, 1, 'A-1', '8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90', 'A-1', 'order.paid', 2, '{"order_id": "A-1"}', '2026-03-01T09:30:00.12Z' FROM b`)
	require.NoError(t, err)
	select {
	case body := <-bodies:
		require.Equal(t, `{"id":"8e6d1f5a-3c0b-5b6e-9a53-2f1e7d4c8b90","type":"order.paid","created_at":"2026-03-01T09:30:00.120000Z",`+ //nolint:testifylint // the bytes count
			`"subject":"A-1","version":2,"data":{"order_id":"A-1"}}`, body)
	case <-time.After(soon):
		require.Fail(t, "nothing was delivered", log.String())
	}
	require.NoError(t, serving.Process.Signal(syscall.SIGTERM))
	require.NoError(t, serving.Wait(), log.String())
}
