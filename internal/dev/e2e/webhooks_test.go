package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

// deliver sends a webhook as Stripe would, until it is taken or refused. It may be
// called from any goroutine.
func (s *service) deliver(ctx context.Context, by *stripe.Verifier, body string) answer {
	return again(ctx, false, func() answer { return s.deliverOnce(ctx, "stripe-eu", by, body) })
}

func (s *service) deliverOnce(ctx context.Context, account string, by webhooks.Signer, body string, headers ...string) answer {
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body), ReceivedAt: time.Now()}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		d.Header.Set(name, value)
	}
	if err := by.Sign(&d); err != nil {
		return answer{err: err}
	}
	return s.post(ctx, account, d)
}

// redeliver sends a delivery as it was signed, until it is taken or refused.
func (s *service) redeliver(ctx context.Context, account string, d webhooks.Delivery) answer {
	return again(ctx, false, func() answer { return s.post(ctx, account, d) })
}

func (s *service) post(ctx context.Context, account string, d webhooks.Delivery) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/webhooks/"+account, strings.NewReader(string(d.Body)))
	if err != nil {
		return answer{err: err}
	}
	r.Header = d.Header
	return exchange(r)
}

func stripeSigner(t *testing.T) *stripe.Verifier {
	t.Helper()
	signer, err := stripe.New(webhooks.Config{Secrets: []string{stripeSecret}})
	require.NoError(t, err)
	return signer
}

func partner(t *testing.T) *standard.Verifier {
	t.Helper()
	signer, err := standard.New(webhooks.Config{Secrets: []string{partnerSecret}})
	require.NoError(t, err)
	return signer
}

func chargeSucceeded(event, charge, attempt string) string {
	return `{"id":"` + event + `","type":"charge.succeeded","created":"2026-01-02T12:00:00Z","data":{"charge_id":"` + charge + `",
		"refund_id":null,"reference":"` + attempt + `","amount":1999,"currency":"EUR","failure_code":null}}`
}

// pendingAt puts an order with a pending attempt at an account on disk, as a pay
// would.
func (r *rig) pendingAt(t *testing.T, account, payment string) string {
	t.Helper()
	id, order := uuid.Must(uuid.NewV7()).String(), unique("o")
	for _, statement := range []string{
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			VALUES (@order, 'u1', 'order-' || @order, sha256('order'), 1999, 'EUR', now(), now())`,
		`INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, first_sent_at, created_at)
			VALUES (@order, @id, 'charge', 0, @account, 'request', 'accepted', 1, 1, now() + interval '1 hour', now(), now())`,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, provider_payment_id,
			status, stage, amount, currency, created_at, updated_at)
			VALUES (@order, @id, 'u1', 'pay-' || @order, sha256('pay'), @account, @payment, 'pending', 'processing', 1999, 'EUR', now(), now())`,
		`INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES (@account, @id::uuid::text, @order, @id), (@account, @payment, @order, @id)`,
		`INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, at)
			VALUES (@order, @id, 1, 'requested', 'requested', 'pay', now())`,
	} {
		_, err := r.db.Exec(t.Context(), statement, pgx.NamedArgs{"id": id, "order": order, "account": account, "payment": payment})
		require.NoError(t, err)
	}
	return id
}

func intentSucceeded(event, payment, attempt, amount string) string {
	return `{"id":"` + event + `","object":"event","type":"payment_intent.succeeded","created":1767000000,"livemode":false,
		"data":{"object":{"id":"` + payment + `","object":"payment_intent","status":"succeeded","amount":` + amount + `,"amount_received":` + amount + `,
		"currency":"eur","metadata":{"payment_attempt_id":"` + attempt + `"}}}}`
}

// verdictsOf counts the verdicts on copies of a webhook, or on webhooks that say the same. A webhook that was sent again after a refusal
// may have been taken the first time: then it is a duplicate, and counts as the applied one, or as one of the others.
func verdictsOf(t *testing.T, others string, answers []answer) map[string]int {
	t.Helper()
	verdicts, taken := map[string]int{}, 0
	for _, a := range answers {
		a.is(t, http.StatusOK)
		if verdict := a.header.Get("Webhook-Result"); a.repeated && verdict == "duplicate" {
			taken++
		} else {
			verdicts[verdict]++
		}
	}
	if taken > 0 && verdicts["applied"] == 0 {
		taken--
		verdicts["applied"]++
	}
	if taken > 0 {
		verdicts[others] += taken
	}
	return verdicts
}

// TestTheSameEventAtOnce: a signed event of Stripe moves an attempt, and fifty
// copies of it move it once.
func TestTheSameEventAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	machines := []*service{r.serve(), r.serve()}
	signer := stripeSigner(t)
	id := r.pendingAt(t, "stripe-eu", "pi_at_once")
	body := intentSucceeded("evt_at_once", "pi_at_once", id, "1999")
	require.Equal(t, map[string]int{"applied": 1, "duplicate": 49}, verdictsOf(t, "duplicate", atOnce(50, func(i int) answer {
		return machines[i%2].deliver(t.Context(), signer, body)
	})))
	end := machines[0].customer().read(t.Context(), id).attempt(t, http.StatusOK)
	require.Equal(t, "succeeded", end.Status)
	require.Equal(t, int64(1999), end.AmountCaptured)
	require.Equal(t, 2, end.Version)
	r.told(t, end)
	require.Equal(t, []string{"applied"}, column[string](t, r, `SELECT verdict FROM provider_events WHERE account = 'stripe-eu'`))
	require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))

	again := machines[1].deliver(t.Context(), signer, intentSucceeded("evt_another", "pi_at_once", id, "1999"))
	require.Equal(t, "repeat", again.header.Get("Webhook-Result"))
	changed := machines[1].deliver(t.Context(), signer, intentSucceeded("evt_at_once", "pi_at_once", id, "1000"))
	require.Equal(t, "duplicate", changed.header.Get("Webhook-Result"))
	require.Equal(t, []string{"event_changed"}, column[string](t, r, `SELECT kind FROM discrepancies`))
}

// TestThreeSuccessesAtOnce: different events that say the same make one move and
// one piece of news.
func TestThreeSuccessesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	machines := []*service{r.serve(), r.serve()}
	signer := stripeSigner(t)
	for range 20 {
		payment := unique("pi")
		id := r.pendingAt(t, "stripe-eu", payment)
		require.Equal(t, map[string]int{"applied": 1, "repeat": 2}, verdictsOf(t, "repeat", atOnce(3, func(i int) answer {
			return machines[i%2].deliver(t.Context(), signer, intentSucceeded(unique("evt"), payment, id, "1999"))
		})))
		r.told(t, machines[0].customer().read(t.Context(), id).attempt(t, http.StatusOK))
	}
	for _, m := range machines {
		for _, e := range m.stderr.entries() {
			require.False(t, e.Level == "error" && !strings.Contains(e.Error, "storage unavailable"), "%+v", e)
		}
	}
}

// TestVerdicts: a genuine event is acknowledged, whatever its content.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	signer := stripeSigner(t)
	id := r.pendingAt(t, "stripe-eu", "pi_verdicts")
	send := func(body string) string {
		a := s.deliver(t.Context(), signer, body)
		a.is(t, http.StatusOK)
		if a.repeated && a.header.Get("Webhook-Result") == "duplicate" { // it was taken the first time
			return one[string](t, r, `SELECT verdict::text FROM provider_events WHERE account = 'stripe-eu' AND provider_event_id = $1::json->>'id'`, body)
		}
		return a.header.Get("Webhook-Result")
	}
	require.Equal(t, "ignored", send(`{"id":"evt_1","type":"customer.created","data":{"object":{}}}`))
	require.Equal(t, "ignored", send(`{"id":"evt_2","type":"of.the.future","data":{"object":{}}}`))
	require.Equal(t, "unmatched", send(intentSucceeded("evt_3", "pi_early", uuid.NewString(), "1999")))
	require.Equal(t, "conflict", send(intentSucceeded("evt_4", "pi_verdicts", id, "1998")))
	require.Equal(t, "applied", send(intentSucceeded("evt_5", "pi_verdicts", id, "1999")))
	require.Equal(t, "stale", send(`{"id":"evt_6","type":"payment_intent.payment_failed","data":{"object":
		{"id":"pi_verdicts","object":"payment_intent","amount":1999,"currency":"eur","metadata":{"payment_attempt_id":"`+id+`"}}}}`))

	other := r.pendingAt(t, "partner", "pi_of_another_account")
	require.Equal(t, "unmatched", send(intentSucceeded("evt_7", "pi_of_another_account", other, "1999")), "an event finds attempts of its own account")
	require.Equal(t, "pending", s.customer().read(t.Context(), other).attempt(t, http.StatusOK).Status)

	early := r.pendingAt(t, "stripe-eu", "pi_early")
	require.Equal(t, "succeeded", s.customer().settled(t, early).Status, "a parked event finds its attempt")
	require.Equal(t, []string{"applied"}, column[string](t, r, `SELECT verdict FROM provider_events WHERE provider_event_id = 'evt_3'`))
}
