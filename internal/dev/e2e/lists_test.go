package e2e_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
)

// manyOrders makes paid orders, a second apart.
func (r *rig) manyOrders(t *testing.T, n int) {
	t.Helper()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second'`
	_, err := r.db.Exec(t.Context(), fmt.Sprintf(`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, description, created_at, updated_at)
			SELECT 'o' || i, 'u' || i %% 2, 'r' || i, '\x01', 1000, 'EUR', repeat('x', 200), `+at+`, `+at+` FROM generate_series(1, %[1]d) i;
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, `+id+`, 'u' || i %% 2, 'r' || i, '\x01', 'sandbox', 'succeeded', 'final', 1000, 'EUR', `+at+`, `+at+`, `+at+` FROM generate_series(1, %[1]d) i;
		INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, created_at)
			SELECT 'o' || i, `+id+`, 'charge', 0, 'sandbox', 'request', 'done', 1, 1, `+at+` FROM generate_series(1, %[1]d) i;
		ANALYZE`, n))
	require.NoError(t, err)
}

// All orders come out, once and in order, in the memory of a few pages.
func TestExport(t *testing.T) {
	t.Parallel()
	const all = 20_000
	r := newRig(t)
	r.manyOrders(t, all)
	s := r.serve("PAYLATCH_RECONCILE_AFTER=10h", littleGarbage)
	c := client{base: s.base, token: token("shop", "service")}
	exports := func(accept, query string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/orders"+query, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+c.token)
		request.Header.Set("Accept", accept)
		var resp *http.Response
		eventually(t, "an export", func() bool {
			resp, err = http.DefaultTransport.RoundTrip(request)
			require.NoError(t, err)
			t.Cleanup(func() { _ = resp.Body.Close() })
			return resp.StatusCode != http.StatusServiceUnavailable
		})
		require.Equal(t, http.StatusOK, resp.StatusCode)
		return resp
	}
	c.send(t.Context(), http.MethodGet, "/v1/orders?limit=100", "").is(t, http.StatusOK)
	before := s.peakMemory()
	var ids []string
	lines := bufio.NewScanner(exports("application/x-ndjson", "").Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var o api.Order
		require.NoError(t, json.Unmarshal(lines.Bytes(), &o))
		require.Len(t, o.Attempts, 1)
		ids = append(ids, o.OrderID)
	}
	require.NoError(t, lines.Err())
	require.Len(t, ids, all)
	for i, id := range ids {
		require.Equal(t, fmt.Sprintf("o%d", all-i), id)
	}

	table := csv.NewReader(exports("text/csv", "?status=paid&user_id=u1&created_to=2026-01-01T01:00:00Z").Body)
	names, err := table.Read()
	require.NoError(t, err)
	require.Contains(t, names[0], "\ufeff", "a spreadsheet reads it as UTF-8")
	rows, at := 0, slices.Index(names, "user_id")
	for ; ; rows++ {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.Equal(t, "u1", row[at])
	}
	require.Equal(t, 1800, rows)
	if before > 0 {
		grown := (s.peakMemory() - before) >> 20
		t.Logf("%d orders took %d MiB more than a page", all, grown)
		require.Less(t, grown, int64(30), "MiB")
	}
}

// TestPaidOrdersWereUpdated: whoever has missed events reads the orders that were updated since, and a payment is an update.
func TestPaidOrdersWereUpdated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c := s.customer()
	paid, other := c.order(t), c.order(t)
	between := time.Now().UTC().Format(time.RFC3339Nano)
	a := c.settled(t, c.pay(t.Context(), paid, unique("pay"), "tok_success").attempt(t, http.StatusCreated).ID)
	shop := s.as(token("shop", "service"))
	listed := func(query string) (ids []any) {
		t.Helper()
		got := shop.send(t.Context(), http.MethodGet, "/v1/orders?"+query, "")
		got.is(t, http.StatusOK)
		var page struct {
			Items []map[string]any `json:"items"`
		}
		require.NoError(t, json.Unmarshal(got.text, &page))
		for _, o := range page.Items {
			ids = append(ids, o["order_id"])
		}
		return ids
	}
	require.Equal(t, []any{paid}, listed("updated_from="+between))
	require.Equal(t, []any{other}, listed("updated_to="+between))
	require.Equal(t, []any{other, paid}, listed("updated_from=2026-01-01T00:00:00Z"))
	order := shop.send(t.Context(), http.MethodGet, "/v1/orders/"+paid, "").order(t)
	require.Greater(t, order["updated_at"], order["created_at"])
	require.GreaterOrEqual(t, order["updated_at"], between)
	require.Equal(t, "succeeded", a.Status)
}

// The Go client goes from page to page.
func TestGoClientLists(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.manyOrders(t, 60)
	c, err := goclient.New(r.serve("PAYLATCH_RECONCILE_AFTER=10h").base, token("shop", "service"), goclient.Options{})
	require.NoError(t, err)
	var ids []string
	for o, err := range c.Orders(t.Context(), nil) {
		require.NoError(t, err)
		ids = append(ids, o.OrderID)
	}
	require.Len(t, ids, 60)
	require.Equal(t, []string{"o60", "o59", "o58"}, ids[:3])
	user, limit, n := "u0", "7", 0
	for a, err := range c.Attempts(t.Context(), &api.ListPaymentAttemptsParams{UserID: &user, Limit: &limit}) {
		require.NoError(t, err)
		require.Equal(t, "u0", a.UserID)
		n++
	}
	require.Equal(t, 30, n)
	for _, err := range c.Refunds(t.Context(), &api.ListRefundsParams{Limit: &user}) {
		require.ErrorContains(t, err, "client: list refunds: paylatch: 422 validation-failed")
		n++
	}
	require.Equal(t, 31, n, "the error comes alone")
	for range c.Disputes(t.Context(), nil) {
		require.Fail(t, "there is no dispute")
	}
}
