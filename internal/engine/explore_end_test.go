package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
)

// finish does the work of a day: the provider's other webhooks come, and a worker does all that is due. Then it says which promise
// is broken.
func (c *trial) finish(t *testing.T) string {
	t.Helper()
	s := c.service(nil)
	_, err := c.db.Exec(c.ctx, "UPDATE provider_events SET next_try_at = NULL WHERE next_try_at IS NOT NULL AND account <> $1", c.account)
	require.NoError(t, err)
	for round := range 8 {
		for _, n := range c.p.notices {
			if n.verdict == "" {
				require.NoError(t, c.deliver(s, n))
			}
		}
		var open, parked int
		require.NoError(t, c.db.QueryRow(c.ctx, `SELECT (SELECT count(*) FROM operations WHERE order_id = $1 AND open),
			(SELECT count(*) FROM provider_events WHERE provider_event_id = ANY($2) AND next_try_at IS NOT NULL)`, string(c.order), c.noticeIDs()).Scan(&open, &parked))
		if open+parked == 0 && round > 0 {
			break
		}
		c.pass(24 * time.Hour)
		due, err := s.DueOperations(c.ctx, c.account, 100)
		require.NoError(t, err)
		for _, o := range due {
			if _, err := s.Execute(c.ctx, o, byTest); err != nil && !errors.Is(err, payment.ErrBusy) {
				return fmt.Sprintf("%s-%d can't be carried out in the end: %s", o.Kind, o.Number, err)
			}
		}
		_, err = retryParked(c.ctx, s, 100)
		require.NoError(t, err)
	}
	for _, check := range []func(*testing.T) string{c.ends, c.charges, c.told, c.acknowledged, c.verifies} {
		if broken := check(t); broken != "" {
			return broken
		}
	}
	return c.wrong
}

// ends says which attempt or operation has no end.
func (c *trial) ends(t *testing.T) string {
	t.Helper()
	return c.first(t, `SELECT client_request_id || ' is ' || status || ' in the end' FROM payment_attempts WHERE order_id = $1 AND status NOT IN ('succeeded', 'failed')
		UNION ALL SELECT kind || '-' || number || ' is ' || state || ' in the end' FROM operations WHERE order_id = $1 AND (open OR lease_until > now())
		LIMIT 1`, string(c.order))
}

// first is the first line that a query returns; empty without one.
func (c *trial) first(t *testing.T, sql string, args ...any) string {
	t.Helper()
	found, err := c.db.Query(c.ctx, sql, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowTo[string])
	require.NoError(t, err)
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// charges holds the attempts against the provider's own payments.
func (c *trial) charges(t *testing.T) string {
	t.Helper()
	o, err := c.store.Order(c.ctx, c.order)
	require.NoError(t, err)
	byID := map[payment.AttemptID]payment.Attempt{}
	for _, a := range o.Attempts {
		byID[a.ID] = a
	}
	charges, plain := 0, 0
	begun := map[payment.AttemptID]bool{}
	for _, d := range c.p.deals {
		a, there := byID[d.attempt]
		if !there {
			return d.name + " is charged and has no attempt"
		}
		if begun[a.ID] {
			return "the provider was asked for two payments of " + d.name
		}
		begun[a.ID] = true
		if took := d.taken + d.twice(); a.Captured != took {
			return fmt.Sprintf("the provider took %d for %s, and %d are recorded", took, d.name, a.Captured)
		}
		charges += int((d.taken + d.twice()) / price)
		if d.charged() && !d.over {
			plain++
		}
	}
	if plain > 1 {
		return "the order was charged twice"
	}
	var cases int
	require.NoError(t, c.db.QueryRow(c.ctx, `SELECT count(DISTINCT (attempt_id, about_id)) FROM discrepancies WHERE attempt_id IN (SELECT attempt_id FROM payment_attempts WHERE order_id = $1)
		AND resolved_at IS NULL AND (kind IN ('late_success', 'double_success', 'paid_after_cancel') OR about = 'second_payment')`, string(c.order)).Scan(&cases))
	for _, a := range o.Attempts {
		if a.Failed() && a.Held() > 0 && cases == 0 {
			return string(a.RequestID) + " failed and holds money, and nobody is told"
		}
	}
	if charges > 1 && cases < charges-1 {
		return fmt.Sprintf("the order was charged %d times, and %d cases are open", charges, cases)
	}
	return ""
}

// told requires that each end is told once, and the versions of a subject in their order.
func (c *trial) told(t *testing.T) string {
	t.Helper()
	for status, event := range map[string]string{"succeeded": outbox.AttemptSucceeded, "failed": outbox.AttemptFailed} {
		if broken := c.first(t, `SELECT client_request_id || ' ' || status || ', and the merchant is told ' || count(o.*) || ' times' FROM payment_attempts a
			LEFT JOIN outbox o ON o.order_id = a.order_id AND o.subject = a.attempt_id::text AND o.type = $3
			WHERE a.order_id = $1 GROUP BY client_request_id, status HAVING count(o.*) <> CASE status WHEN $2 THEN 1 ELSE 0 END`, string(c.order), status, event); broken != "" {
			return broken
		}
	}
	if broken := c.first(t, `SELECT 'the merchant is told ' || count(*) || ' times that the order is paid' FROM outbox WHERE order_id = $1 AND type = $2
		HAVING count(*) <> (SELECT least(count(*), 1) FROM payment_attempts WHERE order_id = $1 AND status = 'succeeded')`, string(c.order), outbox.OrderPaid); broken != "" {
		return broken
	}
	return c.first(t, `SELECT 'version ' || version || ' of ' || subject || ' is told after version ' || before FROM (
			SELECT subject, version, lag(version) OVER (PARTITION BY subject ORDER BY batch, nth) AS before FROM outbox WHERE order_id = $1 AND attempt_id::text = subject
		) told WHERE version <= before LIMIT 1`, string(c.order))
}

// acknowledged requires each webhook on disk once, with an end.
func (c *trial) acknowledged(t *testing.T) string {
	t.Helper()
	return c.first(t, `SELECT 'webhook ' || id || ' is stored ' || count(e.*) || ' times' FROM unnest($1::text[]) AS id LEFT JOIN provider_events e ON e.provider_event_id = id
		GROUP BY id HAVING count(e.*) <> 1
		UNION ALL SELECT 'webhook ' || kind || ' is ' || verdict || ' in the end' FROM provider_events WHERE provider_event_id = ANY($1) AND verdict IN ('unmatched', 'deferred')
		LIMIT 1`, c.noticeIDs())
}

// verifies derives the order's attempts again, as `paylatch verify` does.
func (c *trial) verifies(t *testing.T) string {
	t.Helper()
	after := c.verified
	for {
		v, err := verify.Verify(c.ctx, c.store.Evidence(), after, 50, false)
		require.NoError(t, err)
		for _, d := range v.Differences {
			if d.OrderID == c.order {
				return "verify: " + d.Check + ": " + d.Text
			}
		}
		if v.Attempts == 0 {
			c.verified = after
			return ""
		}
		after = v.Last
	}
}
