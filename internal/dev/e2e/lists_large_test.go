package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

// listedRows is how many orders the test of large lists makes; PAYLATCH_LISTED_ROWS sets another number, for a long run.
const listedRows = 200_000

// TestListsOfManyRowsBesidePays: twelve persons read every list of the contract by each of its filters, alone and in pairs,
// among many orders. Each list is answered, no statement reaches its time limit, and pays and /readyz are answered meanwhile.
func TestListsOfManyRowsBesidePays(t *testing.T) {
	t.Parallel()
	rows := listedRows
	if set := os.Getenv("PAYLATCH_LISTED_ROWS"); set != "" {
		var err error
		rows, err = strconv.Atoi(set)
		require.NoError(t, err)
	}
	r := newRig(t)
	began := time.Now()
	r.fillLists(t, rows)
	t.Logf("%d orders made in %s", rows, time.Since(began).Round(time.Second))
	s := r.serve("PAYLATCH_RECONCILE_AFTER=10h")
	asked := make(chan string)
	l := &listings{answers: map[string]int{}}
	var all sync.WaitGroup
	for i := range 12 {
		by := s.bluntly(token(fmt.Sprintf("admin-%d", i), "admin"))
		all.Go(func() {
			for path := range asked {
				l.note(path, by.listed(t.Context(), path))
			}
		})
	}
	lists := listsOf(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, path := range lists {
			asked <- path
		}
		close(asked)
		all.Wait()
	}()
	pays, slowest := s.payUntil(t, done)
	failed := l.failed
	if rows == listedRows { // on a busy machine a statement may reach its limit beside the others
		by := s.as(token("admin-alone", "admin"))
		failed = slices.DeleteFunc(failed, func(f unlisted) bool { return f.busy && by.listed(t.Context(), f.path).status == http.StatusOK })
	}
	require.Empty(t, failed)
	t.Logf("%d lists: %v, the slowest took %s (%s); %d pays beside them, the slowest took %s", len(lists), l.answers, l.slowest, l.which, pays, slowest)
}

// listings are the results of list requests.
type listings struct {
	mu      sync.Mutex
	answers map[string]int
	failed  []unlisted
	slowest time.Duration
	which   string
}

// unlisted is a list that was not answered. It is busy if the database did not respond in time.
type unlisted struct {
	path, why string
	busy      bool
}

func (l *listings) note(path string, a timed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[fmt.Sprint(a.status, a.peekProblem().Code)]++
	if a.took > l.slowest {
		l.slowest, l.which = a.took, path
	}
	if a.err != nil || a.status != http.StatusOK {
		l.failed = append(l.failed, unlisted{path, fmt.Sprint(a.status, " ", string(a.text), a.err), a.peekProblem().Code == "storage-unavailable"})
	}
}

// timed is an answer and how long it took.
type timed struct {
	answer

	took time.Duration
}

// listed reads a list, again where others of its role have their turn.
func (c client) listed(ctx context.Context, path string) (a timed) {
	for range tries {
		began := time.Now()
		a = timed{c.send(ctx, http.MethodGet, path, ""), time.Since(began)}
		code := a.peekProblem().Code
		if code != "overloaded" && code != "rate-limited" {
			return a
		}
		breathe(ctx, pause)
	}
	return a
}

// payUntil pays, one order after the other, until something is done.
func (s *service) payUntil(t *testing.T, done <-chan struct{}) (pays int, slowest time.Duration) {
	t.Helper()
	c := s.as(token("payer", "customer"))
	for {
		select {
		case <-done:
			return pays, slowest
		default:
			order := c.order(t)
			began := time.Now()
			c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
			slowest = max(slowest, time.Since(began))
			c.send(t.Context(), http.MethodGet, "/readyz", "").is(t, http.StatusOK)
			pays++
		}
	}
}

// listsOf are the addresses of all lists of the contract: without a filter, with each and with each pair of them.
func listsOf(t *testing.T) (all []string) {
	t.Helper()
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	lists := 0
	for _, op := range doc.Operations() {
		if op.Method != http.MethodGet || !op.Has("query", "cursor") || op.Has("path", "endpoint") {
			continue // the deliveries of an endpoint are of one that must exist
		}
		lists++
		base, filters := url.Values{"limit": {"100"}}, []contract.Parameter{}
		for _, p := range op.Parameters {
			switch {
			case p.In != "query" || p.Name == "cursor" || p.Name == "limit" || p.Name == "cell":
			case p.Name == "q":
				base.Set("q", "o77777")
			default:
				filters = append(filters, p)
			}
		}
		with := func(some ...contract.Parameter) {
			query := maps.Clone(base)
			for _, p := range some {
				query.Set(p.Name, valueOf(p))
			}
			all = append(all, op.Path+"?"+query.Encode())
		}
		with()
		for i, one := range filters {
			with(one)
			for _, other := range filters[i+1:] {
				with(one, other)
			}
		}
	}
	require.GreaterOrEqual(t, lists, 8)
	return all
}

// valueOf is a value of a filter that nothing has, or little, where it can be chosen.
func valueOf(p contract.Parameter) string {
	switch {
	case p.Schema.Format == "date-time":
		return "2026-01-01T12:00:00Z"
	case p.Schema.Format == "uuid":
		return uuid.Max.String()
	case len(p.Schema.Enum) > 0:
		return p.Schema.Enum[0]
	case p.Name == "currency":
		return "ZAR"
	case slices.Contains(p.Schema.Type, "integer"):
		return "5000"
	}
	return "none"
}

// fillLists makes orders with an attempt, a refund and a dispute each, one a second, 100 of a user, all of them paid; of each tenth a
// discrepancy that was resolved, and an entry of the audit log.
func (r *rig) fillLists(t *testing.T, rows int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), r.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	const id = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
	const at = `timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second'`
	const user = `'u' || i / 100`
	many, tenth := fmt.Sprintf(` FROM generate_series(1, %d) i`, rows), fmt.Sprintf(` FROM generate_series(10, %d, 10) i`, rows)
	for _, statement := range []string{
		`SET session_replication_role = replica`, // triggers and foreign keys cost more than all of this
		`SET statement_timeout = 0; SET synchronous_commit = off`,
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			SELECT 'o' || i, ` + user + `, 'r' || i, '\x01', 1000, 'EUR', ` + at + `, ` + at + many,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + user + `, 'r' || i, '\x01', 'acc', 'succeeded', 'final', 1000, 'EUR', ` + at + `, ` + at + `, ` + at + many,
		`INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency, created_at, updated_at, finalized_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'service', 'r' || i, '\x01', 'acc', 'succeeded', 1000, 'EUR', ` + at + `, ` + at + `, ` + at + many,
		`INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, amount, currency, version, opened_at, updated_at, closed_at)
			SELECT 'o' || i, ` + id + `, ` + id + `, 'acc', 'dp' || i, 'won', 1000, 'EUR', 1, ` + at + `, ` + at + `, ` + at + many,
		`INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, text, opened_at, resolved_at, resolution)
			SELECT ` + id + `, 'late_success', 'o' || i, ` + id + `, 'acc', 'x', ` + at + `, ` + at + `, 'accepted'` + tenth,
		`INSERT INTO staff_audit (entry_id, position, previous, hash, deed_id, actor, roles, action, target_type, target, outcome, at)
			SELECT ` + id + `, i / 10, '\x01', '\x01', ` + id + `, 'sam', '{support}', 'order.read', 'order', 'o' || i, 'done', ` + at + tenth,
		`VACUUM ANALYZE orders, payment_attempts, refunds, disputes, discrepancies, staff_audit`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}
