package support_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// An act has the same actor in each line: a press through the shop's backend is the customer's, and a refund is attributed to
// the person who requested it.
func TestTimelineActors(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.order(t, "A-1")
	press := func(key, token string) (commands.Reply, error) {
		return r.Pay(t.Context(), shop, request("u1", "pay A-1", key, token), commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: token}, Capture: payment.CaptureAutomatic})
	}
	p, err := press("first-key", "tok_success")
	require.NoError(t, err)
	_, err = press("first-key", "tok_success")
	require.NoError(t, err)
	_, err = press("second-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)
	amount := int64(500)
	_, err = r.Refund(t.Context(), shop, request("u1", "refund", "refund-shop", "500"), commands.CreateRefund{AttemptID: p.ID, Amount: &amount})
	require.NoError(t, err)
	err = r.desk.Watch(t.Context(), ada, support.Refunded, "attempt", p.ID.String(), func() error {
		_, err := r.Refund(t.Context(), ada.Actor, request("ada", "refund", "refund-ada", "500"), commands.CreateRefund{AttemptID: p.ID, Amount: &amount})
		return err
	})
	require.NoError(t, err)

	actors := map[string]map[string]int{"pressed Pay": {}, "requested a refund": {}, "A refund of €5.00 was requested": {}}
	for _, e := range r.page(t, p.ID).Timeline {
		for act, by := range actors {
			if strings.Contains(e.Text, act) {
				by[e.Actor]++
			}
		}
	}
	require.Equal(t, map[string]map[string]int{
		"pressed Pay":                     {"customer:u1": 3},
		"requested a refund":              {"service:shop": 1, "staff:ada": 2},
		"A refund of €5.00 was requested": {"service:shop": 1, "staff:ada": 1},
	}, actors)
}

// The end of a payment has the tone of its outcome, from any cause; other entries have no tone.
func TestEntryTone(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"tok_decline": "bad", "tok_success": "good"} {
		r := newEnv(t)
		tones := map[string]int{}
		for _, e := range r.page(t, r.paid(t, "A-1", token).ID).Timeline {
			tones[e.Tone()]++
		}
		delete(tones, "")
		require.Positive(t, tones[want], token)
		require.Len(t, tones, 1, "%s: %v", token, tones)
	}
}

// TestTimelineOfMessage has an event at endpoints of each kind: those without a sentence take none of it.
func TestTimelineOfMessage(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_success").ID
	written := func(desk *support.Service) string {
		page, err := desk.Attempt(t.Context(), ann, id)
		require.NoError(t, err)
		i := slices.IndexFunc(page.Timeline, func(e support.Entry) bool { return e.Kind == support.EntryMessage })
		return strings.TrimPrefix(page.Timeline[i].Text, "paylatch queued a notification for the shop that the payment succeeded.")
	}
	types := map[string][]string{
		"ahead": nil, "ahead-of-its-type": {outbox.AttemptFailed, outbox.AttemptSucceeded}, "ahead-of-another": {outbox.AttemptFailed}, "before-its-time": nil,
		"done": nil, "dead": nil, "queued": nil, "gone": nil,
	}
	desk := support.New(support.Options{Store: r.store.Support(), Payments: r.rooms, Endpoints: types})
	require.Empty(t, written(desk), "before endpoints are served")

	const endpoints = `INSERT INTO endpoints (name, url_digest, position, state)
		SELECT name, '\x01', CASE WHEN name ~ '^(ahead|gone|removed-ahead)' THEN 0 ELSE 100 END, CASE name WHEN 'gone' THEN 'gone' ELSE 'active' END
		FROM unnest($1::text[]) name`
	_, err := r.db.Exec(t.Context(), endpoints, append(slices.Collect(maps.Keys(types)), "removed", "removed-ahead", "removed-queued"))
	require.NoError(t, err)
	waits := func(name string) string { return " It waits to be delivered to the endpoint " + name + "." }
	const gone = " It is not delivered to the endpoint gone, which answered that it is gone."
	require.Contains(t, written(desk), waits("before-its-time"), "without a position it is ahead of all")
	_, _, err = r.store.NumberEvents(t.Context(), 1000)
	require.NoError(t, err)
	require.Equal(t, waits("ahead")+waits("ahead-of-its-type")+gone, written(desk))

	for _, statement := range []string{
		`INSERT INTO endpoint_retries (endpoint, position, order_id, message_id, subject, state, tries, next_at, last_status, last_error, dead_at)
			SELECT n.name, b.last - b.events + o.nth, o.order_id, o.message_id, o.subject, n.state, n.tries, now(), 503, 'x', CASE n.state WHEN 'dead' THEN now() END
			FROM outbox o JOIN outbox_batches b USING (batch), (VALUES ('dead', 'dead', 10), ('queued', 'due', 2), ('removed-queued', 'queued', 0)) n (name, state, tries)
			WHERE o.type = 'payment_attempt.succeeded'`,
		`INSERT INTO endpoint_deliveries (endpoint, position, order_id, message_id, at, status, took_ms, error)
			SELECT n.name, 1, o.order_id, o.message_id, '2026-03-01 12:00:00Z'::timestamptz + make_interval(secs => n.s), 200, 5, n.error
			FROM outbox o, (VALUES ('done', 0, '503 x'), ('done', 2, ''), ('done', 9, ''), ('removed', 3, ''), ('queued', 1, '503 x')) n (name, s, error)
			WHERE o.type = 'payment_attempt.succeeded'`,
	} {
		_, err := r.db.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	got := " The delivery to the endpoint dead failed 10 times and is not tried again." +
		" It was delivered to the endpoint done on 2026-03-01 12:00:02 UTC."
	more := " It was delivered to the endpoint removed on 2026-03-01 12:00:03 UTC."
	require.Equal(t, waits("ahead")+waits("ahead-of-its-type")+got+gone+" The delivery to the endpoint queued failed 2 times and is tried again."+more, written(desk))
	require.Equal(t, got+more, written(r.desk), "without endpoints in the configuration")
}

func captured(minor int64) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) { c.Attempt.Captured, c.Attempt.Authorized = minor, minor }
}

// spoken is money that a discrepancy is of.
func spoken(kind payment.DiscrepancyKind, about, currency string) func(*support.AttemptHistory) {
	return func(c *support.AttemptHistory) {
		c.Discrepancies = append(c.Discrepancies, support.Discrepancy{Discrepancy: payment.Discrepancy{
			ID: payment.DiscrepancyID(someID), Kind: kind, AttemptID: &first, Text: "Look.", About: about, At: after(3),
			Money: &payment.Money{Minor: 2000, Currency: payment.Currency(currency)},
		}})
	}
}

func dollars(c *support.AttemptHistory) { moved(payment.MovementCapture, "USD", 2000)(c) }

// The summary names the requested and the captured amount, and makes only true statements about money.
func TestSummaryAmounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		c        support.AttemptHistory
		says     []string
		saysNone []string
	}{
		"taken while pending": {
			begun(captured(2000), spoken(payment.AmountMismatch, "€20.00", "EUR")),
			[]string{"€19.99", "€20.00", "charged once"},
			[]string{"on its way"},
		},
		"taken while it waits for the customer": {
			begun(state(fsm.AwaitingCustomer), captured(2000)), []string{"€19.99", "€20.00"}, []string{"waits for the customer", "not been charged"},
		},
		"another amount held": {
			begun(state(fsm.Authorized), func(c *support.AttemptHistory) { c.Attempt.Authorized = 2000 }), []string{"€19.99", "€20.00"}, nil,
		},
		"another amount spoken of": {
			begun(spoken(payment.AmountMismatch, "€20.00", "EUR")), []string{"€19.99", "€20.00"}, nil,
		},
		"another currency taken": {
			begun(dollars, spoken(payment.CurrencyMismatch, "US$20.00", "USD")), []string{"€19.99", "US$20.00"}, []string{"on its way", "No charge"},
		},
		"another currency taken late": {
			begun(state(fsm.Failed), dollars, spoken(payment.CurrencyMismatch, "US$20.00", "USD")),
			[]string{"€19.99", "US$20.00"},
			[]string{"has not been charged", "may pay again"},
		},
		"succeeded with another currency": {
			begun(state(fsm.Succeeded), captured(0), dollars, spoken(payment.CurrencyMismatch, "US$20.00", "USD")), []string{"€19.99", "US$20.00"}, []string{"€0.00 was captured", "not been charged"},
		},
		"another currency spoken of": {
			begun(spoken(payment.CurrencyMismatch, "US$20.00", "USD")), []string{"€19.99", "US$20.00"}, nil,
		},
		"another amount taken late": {
			begun(state(fsm.Failed), captured(2000)), []string{"€19.99", "€20.00"}, []string{"may pay again"},
		},
		"two payments under one": {
			begun(state(fsm.Succeeded), spoken(payment.NeedsReview, payment.AboutSecondPayment, "EUR")), []string{"twice"}, []string{"charged once"},
		},
		"held beside what was taken late": {
			begun(state(fsm.Failed), captured(1999), func(c *support.AttemptHistory) {
				beside(fsm.Authorized, 0)(c)
				c.Order.Attempts[len(c.Order.Attempts)-1].Authorized = 1999
			}), []string{"held"}, []string{"charged once for this order."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := c.c.Summary()
			for _, part := range c.says {
				require.Contains(t, text, part)
			}
			for _, part := range c.saysNone {
				require.NotContains(t, text, part)
			}
		})
	}
}
