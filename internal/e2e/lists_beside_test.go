package e2e_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestListsDontStopPays: many lists at once of each filter, by one clerk and one job, which nothing matches. All pays, the webhooks that
// decide them and /readyz answer meanwhile. PAYLATCH_LISTED_ROWS is how many attempts there are.
func TestListsDontStopPays(t *testing.T) {
	t.Parallel()
	rows := "50000"
	if set := os.Getenv("PAYLATCH_LISTED_ROWS"); set != "" {
		rows = set
	}
	r := newRig(t)
	s := r.serve()
	manyAttempts(t, r.dsn, rows)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var listed, refused atomic.Int64
	filters := []string{
		"status=failed", "stage=authorized", "account=none", "currency=ZAR", "amount_min=999999", "amount_max=1", "updated_from=2036-01-01T00:00:00Z",
		"updated_to=2001-01-01T00:00:00Z", "status=failed&account=none", "currency=ZAR&status=succeeded", "amount_max=1&updated_to=2001-01-01T00:00:00Z", "stage=requested&currency=ZAR",
	}
	for i, filter := range filters {
		by := s.bluntly(token("clerk", "support"))
		if i%2 == 0 {
			by = s.shop("")
			by.blunt = true
		}
		all.Go(func() {
			for ctx.Err() == nil {
				if by.send(ctx, http.MethodGet, "/v1/payment-attempts?"+filter, "").status == http.StatusOK {
					listed.Add(1)
				} else {
					refused.Add(1)
				}
			}
		})
	}
	c := s.bluntly(token("u1", "customer"))
	var took []time.Duration
	for range 12 {
		order := c.order(t)
		began := time.Now()
		a := c.pay(t.Context(), order, unique("pay"), "tok_async_success").attempt(t, http.StatusCreated)
		took = append(took, time.Since(began))
		eventually(t, "the webhook decides it", func() bool {
			return c.send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+a.ID, "").attempt(t, http.StatusOK).Status == "succeeded"
		})
		c.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusOK)
	}
	stop()
	all.Wait()
	slices.Sort(took)
	t.Logf("%s attempts: %d pages of lists, %d refused; pays took %s in the middle and %s at most", rows, listed.Load(), refused.Load(), took[len(took)/2], took[len(took)-1])
	require.Positive(t, listed.Load())
}

// manyAttempts fills a database with paid orders of one attempt each, one a second until now.
func manyAttempts(t *testing.T, dsn, rows string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `now() - i * interval '1 second'`
	for _, statement := range []string{
		`SET statement_timeout = 0`, `SET session_replication_role = replica`,
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'many-' || i, 'many-' || i / 100, 'r' || i, '\x01', 1000, 'EUR', ` + at + `, ` + at + ` FROM generate_series(1, ` + rows + `) i`,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'many-' || i, ` + id + `, 'many-' || i / 100, 'r' || i, '\x01', 'sandbox', 'succeeded', 'final', 1000, 'EUR', ` + at + `, ` + at + `, ` + at + ` FROM generate_series(1, ` + rows + `) i`,
		`VACUUM ANALYZE orders, payment_attempts`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}
