package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const ringOfTests = "PAYLATCH_ENCRYPTION_KEYS=[{id: e2e, key: ZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTI=}]"

// erase starts `paylatch erase` as the owner of the tables.
func (r *rig) erase(t *testing.T, user string, flags ...string) *process {
	t.Helper()
	return start(t, t.TempDir(), []string{"PAYLATCH_DATABASE_URL=" + r.dsn, ringOfTests}, append([]string{"erase", "--user", user}, flags...)...)
}

// erased runs it to its end.
func (r *rig) erased(t *testing.T, user string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	return toolWith(t, []string{"PAYLATCH_DATABASE_URL=" + r.dsn, ringOfTests}, append([]string{"erase", "--user", user}, flags...)...)
}

// naming lists the tables with rows that have a text in any column, bytes included.
func (r *rig) naming(t *testing.T, text string) (tables []string) {
	t.Helper()
	for _, table := range column[string](t, r, "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = quote_ident(current_schema())::regnamespace ORDER BY 1") {
		rows := one[int](t, r, `SELECT count(*) FROM `+table+` x WHERE x::text LIKE '%' || $1::text || '%' OR x::text LIKE '%' || encode(convert_to($1::text, 'UTF8'), 'hex') || '%'`, text)
		if rows > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}

// TestErase removes a customer's name from all payments of the customer, beside the running service. Requests from before charge
// nothing again, refund nothing again and make no second order, with any sender.
func TestErase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	serving := r.servingRole(t)
	s := r.serve("PAYLATCH_DATABASE_URL=" + serving)
	user := unique("ann")
	ann, shop := s.as(token(user, "customer")), s.shop(user)
	press := func(c client, path, body, key string) answer {
		return c.send(t.Context(), http.MethodPost, path, body, "Idempotency-Key: "+key)
	}
	type order struct{ id, create, pay, method, attempt string }
	body := `{"amount":1999,"currency":"EUR","description":"for ` + user + `","metadata":{"mail":"` + user + `@example.com"},"customer":{"email":"` + user + `@example.com"}}`
	orders := map[string]*order{}
	for _, method := range []string{"tok_save", "tok_decline", ""} {
		o := &order{create: unique("create"), pay: unique("pay"), method: method}
		o.id = press(shop, "/v1/orders", body, o.create).order(t)["order_id"].(string) //nolint:forcetypeassert // the contract's
		if orders[method] = o; method != "" {
			o.attempt = ann.settled(t, ann.pay(t.Context(), o.id, o.pay, method).attempt(t, http.StatusCreated).ID).ID
		}
	}
	paid, declined := orders["tok_save"], orders["tok_decline"]
	shop.send(t.Context(), http.MethodPatch, "/v1/orders/"+orders[""].id, `{"amount":2500,"description":"still for `+user+`"}`, "Idempotency-Key: "+unique("amend")).is(t, http.StatusOK)
	refund := unique("refund")
	press(shop, "/v1/payment-attempts/"+paid.attempt+"/refunds", `{"amount":500}`, refund).is(t, http.StatusCreated)
	press(ann, "/v1/orders/"+paid.id+"/pay", `{"payment_method":{"token":"tok_success"}}`, unique("again")).problem(t, http.StatusConflict, "order-already-paid")
	eventually(t, "the refund, and what came of it", func() bool {
		return one[bool](t, r, "SELECT (SELECT status = 'succeeded' FROM refunds) AND (SELECT count(*) > 0 FROM provider_events WHERE attempt_id::text = $1)", paid.attempt)
	})
	moved := len(r.movements(t))
	another := s.as(token(user+"-other", "customer"))
	others := another.settled(t, another.pay(t.Context(), another.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated).ID)
	moved++

	pending := &order{pay: unique("pay")}
	pending.id = ann.order(t)
	pending.attempt = press(ann, "/v1/orders/"+pending.id+"/pay", `{"payment_method":{"token":"tok_redirect"},"return_url":"https://shop.example/back"}`, pending.pay).attempt(t, http.StatusCreated).ID

	code, stdout, stderr := r.erased(t, user, "--dry-run")
	require.Zero(t, code, stderr)
	require.Equal(t, "3 orders would get a pseudonym, 1 wait for an unfinished attempt\n", stdout)
	require.Equal(t, 4, one[int](t, r, "SELECT count(*) FROM orders WHERE user_id = $1", user))
	code, _, stderr = toolWith(t, []string{"PAYLATCH_DATABASE_URL=" + serving, ringOfTests}, "erase", "--user", user)
	require.Contains(t, stderr, "this role does not own the tables")
	require.Equal(t, 1, code)

	code, stdout, stderr = r.erased(t, user, "--details")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "1 orders and 0 commands still have the name")
	require.NotContains(t, stdout+stderr, user)
	pseudonym, _, _ := strings.Cut(stdout, ":")
	require.Regexp(t, `^erased-[0-9a-f]{24}$`, pseudonym)
	ann.read(t.Context(), pending.attempt).attempt(t, http.StatusOK)
	press(ann, "/v1/orders/"+pending.id+"/cancel", "", unique("cancel")).is(t, http.StatusOK)
	ann.settled(t, pending.attempt)

	code, stdout, stderr = r.erased(t, user, "--details")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, pseudonym+": the name was removed from 1 orders")
	require.JSONEq(t, `{"amount":1999,"currency":"EUR","description":"","metadata":{}}`, one[string](t, r, "SELECT original::text FROM orders WHERE order_id = $1", orders[""].id))
	require.Equal(t, []string{pseudonym}, column[string](t, r, "SELECT DISTINCT user_id FROM orders WHERE order_id = ANY($1)", []string{paid.id, declined.id, orders[""].id, pending.id}))
	require.Equal(t, []string{user + "-other"}, column[string](t, r, "SELECT user_id FROM payment_attempts WHERE attempt_id = $1", others.ID))
	require.NotEmpty(t, column[string](t, r, "SELECT event_id::text FROM provider_events JOIN event_bytes USING (event_id) WHERE attempt_id = $1", others.ID))
	r.exec(t, "DELETE FROM idempotency_keys WHERE user_id LIKE '%-other'; DELETE FROM key_quotas WHERE user_id LIKE '%-other'")
	r.verifies(t)

	// The requests come again from each possible sender.
	for name, c := range map[string]client{"the customer": ann, "the shop for the customer": shop, "the shop for the pseudonym": s.shop(pseudonym)} {
		for _, o := range []*order{paid, declined} {
			got := press(c, "/v1/orders/"+o.id+"/pay", `{"payment_method":{"token":"`+o.method+`"}}`, o.pay)
			if name == "the shop for the pseudonym" {
				require.Equal(t, o.attempt, got.attempt(t, http.StatusCreated).ID, name)
				continue
			}
			got.problem(t, http.StatusForbidden, "forbidden")
			press(c, "/v1/orders/"+o.id+"/pay", `{"payment_method":{"token":"tok_success"}}`, unique("pay")).problem(t, http.StatusForbidden, "forbidden")
		}
	}
	for _, o := range []*order{paid, declined, orders[""]} {
		press(shop, "/v1/orders", body, o.create).problem(t, http.StatusConflict, "order-exists")
	}
	press(shop, "/v1/payment-attempts/"+paid.attempt+"/refunds", `{"amount":500}`, refund).problem(t, http.StatusForbidden, "forbidden")
	press(s.shop(pseudonym), "/v1/payment-attempts/"+paid.attempt+"/refunds", `{"amount":500}`, refund).is(t, http.StatusCreated)
	require.Len(t, r.movements(t), moved, "nothing was charged or refunded again")
	require.Equal(t, 5, one[int](t, r, "SELECT count(*) FROM orders"))

	// Whoever comes back is a new customer.
	fresh := ann.settled(t, ann.pay(t.Context(), ann.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated).ID)
	eventually(t, "an erasure after the log of presses was written, which is some moments later", func() bool {
		code, _, _ := r.erased(t, user, "--details")
		return code == 0 && one[bool](t, r, "SELECT count(*) = 2 AND NOT bool_or(actor = 'customer:' || $1::text) FROM attempt_log WHERE actor LIKE 'customer:%'", user)
	})
	require.Equal(t, pseudonym, one[string](t, r, "SELECT user_id FROM payment_attempts WHERE attempt_id = $1", fresh.ID), "one customer, one pseudonym")
	// The other customer's rows contain the name in theirs.
	r.exec(t, "DELETE FROM idempotency_keys WHERE user_id LIKE '%-other'")
	require.Equal(t, []string{}, append([]string{}, r.onlyOf(t, user)...))
	require.Equal(t, []string{"customer.erase.view done", "customer.erase begun", "customer.erase done", "customer.erase begun", "customer.erase done"},
		column[string](t, r, "SELECT action || ' ' || outcome FROM staff_audit WHERE action LIKE 'customer.erase%' ORDER BY position LIMIT 5"))
	require.Equal(t, 2, one[int](t, r, "SELECT count(DISTINCT target) FROM staff_audit WHERE action LIKE 'customer.erase%'"))
	r.verifies(t)
}

// onlyOf is naming without the tables of the customer whose name begins with the text.
func (r *rig) onlyOf(t *testing.T, user string) (tables []string) {
	t.Helper()
	for _, statement := range []string{
		"ALTER TABLE outbox DISABLE TRIGGER ALL", "ALTER TABLE attempt_log DISABLE TRIGGER ALL",
		"DELETE FROM outbox WHERE payload->>'user_id' LIKE '%-other'", "DELETE FROM attempt_log WHERE actor LIKE '%-other'",
		"ALTER TABLE outbox ENABLE TRIGGER ALL", "ALTER TABLE attempt_log ENABLE TRIGGER ALL",
	} {
		r.exec(t, statement)
	}
	for _, table := range r.naming(t, user) {
		other := one[int](t, r, "SELECT count(*) FROM "+table+" x WHERE x::text LIKE '%' || $1::text || '-other%'", user)
		if all := one[int](t, r, "SELECT count(*) FROM "+table+" x WHERE x::text LIKE '%' || $1::text || '%'", user); all > other {
			tables = append(tables, fmt.Sprintf("%s %d of %d", table, other, all))
		}
	}
	return tables
}

// TestKilledDuringAnErase kills it between two batches, twice, and runs it a third time: every order has the one pseudonym.
func TestKilledDuringAnErase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const many = 6000
	r.exec(t, fmt.Sprintf(`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
		SELECT 'o-' || n, 'ann', 'request-' || n, '\x01', 1000, 'EUR', t, t FROM now() t, generate_series(1, %d) n`, many))
	r.exec(t, `INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at, finalized_at)
		SELECT order_id, gen_random_uuid(), 'ann', client_request_id, '\x01', 'sandbox', 'failed', 'final', 1000, 'EUR', created_at, updated_at, now() FROM orders`)
	r.exec(t, `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, order_id, attempt_id, verdict, received_at)
		SELECT gen_random_uuid(), 'sandbox', order_id, false, 'failed', 'failed', '\x01', '{}', '{}', order_id, attempt_id, 'applied', now() FROM payment_attempts`)
	r.exec(t, `INSERT INTO event_bytes SELECT event_id, now(), 'sealed' FROM provider_events`)
	left := func() int { return one[int](t, r, "SELECT count(*) FROM orders WHERE user_id = 'ann'") }
	bytes := func() int { return one[int](t, r, "SELECT count(*) FROM event_bytes") }
	// It can't get to its end before it is killed: the last order, and later the bytes of its event, are locked.
	for _, part := range []struct {
		reached func() bool
		lock    string
	}{
		{func() bool { return left() < many }, `SELECT FROM orders WHERE order_id = 'o-999' FOR UPDATE`},
		{func() bool { return bytes() < many }, `SELECT FROM event_bytes WHERE event_id = (SELECT event_id FROM provider_events WHERE order_id = 'o-999') FOR UPDATE`},
	} {
		last, err := r.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = last.Exec(t.Context(), part.lock)
		require.NoError(t, err)
		p := r.erase(t, "ann")
		eventually(t, "a batch", func() bool {
			select {
			case <-p.done: // on a busy machine its database may not respond in time, or the lock ended it
				if !part.reached() {
					p = r.erase(t, "ann")
				}
			default:
			}
			return part.reached()
		})
		p.kill()
		rollback(t, last)
		require.Positive(t, left()+bytes(), "it was killed too late")
	}
	code, stdout, stderr := r.erased(t, "ann")
	require.Zero(t, code, stderr)
	require.Zero(t, left()+bytes())
	require.Equal(t, 1, one[int](t, r, "SELECT count(DISTINCT user_id) FROM (SELECT user_id FROM orders UNION ALL SELECT user_id FROM payment_attempts) x"))
	require.Equal(t, many, one[int](t, r, "SELECT count(*) FROM erased_requests"))
	require.Contains(t, stdout, one[string](t, r, "SELECT pseudonym FROM erasures WHERE ended_at IS NOT NULL"))
}
