package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// course makes an order whose customer pressed twice, whose provider charged and did not answer, whose webhook came three times,
// and which was refunded by 5.00 EUR. All of it really happens. The key is the idempotency key of the press.
func (s *demoShop) course(t *testing.T, order, key string) attempt {
	t.Helper()
	c := s.customer()
	c.createOrder(t.Context(), order, unique("order")).is(t, http.StatusCreated)
	presses := atOnce(2, func(int) answer { return c.pay(t.Context(), order, key, "tok_500_charged") })
	a := presses[0].attempt(t, http.StatusCreated)
	require.Equal(t, a.ID, presses[1].attempt(t, http.StatusCreated).ID)
	a = c.settled(t, a.ID)
	require.Equal(t, "succeeded", a.Status)
	s.tellAgain(t, a.ID, 2)
	s.charged(t, a.ID, 1999)
	s.refunded(t, a.ID)
	return a
}

// refunded pays 5.00 EUR back, as the shop does.
func (s *demoShop) refunded(t *testing.T, id string) {
	t.Helper()
	client{base: s.base, token: token("shop-backend", "service")}.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+id+"/refunds",
		`{"amount":500}`, "Idempotency-Key: "+unique("refund"), "On-Behalf-Of: u1").is(t, http.StatusCreated)
}

// tellAgain delivers the webhook of an attempt's charge again, as the provider
// signed it.
func (s *demoShop) tellAgain(t *testing.T, id string, times int) {
	t.Helper()
	const event = `SELECT %s FROM provider_events WHERE attempt_id = $1 ORDER BY received_at LIMIT 1`
	eventually(t, "the webhook", func() bool {
		return len(column[string](t, s.rig, strings.Replace(event, "%s", "provider_event_id", 1), id)) == 1
	})
	signer, err := standard.New(webhooks.Config{Secrets: []string{sandboxSecret}})
	require.NoError(t, err)
	for range times {
		d := webhooks.Delivery{
			Method: http.MethodPost, Header: http.Header{}, ReceivedAt: time.Now(),
			Body: s.sent(t, one[uuid.UUID](t, s.rig, strings.Replace(event, "%s", "event_id", 1), id)),
		}
		d.Header.Set("Webhook-Id", one[string](t, s.rig, strings.Replace(event, "%s", "provider_event_id", 1), id))
		require.NoError(t, signer.Sign(&d))
		(&service{s.process, s.base}).redeliver(t.Context(), "sandbox", d).is(t, http.StatusOK)
	}
}

// sent is the body of an event, as the provider sent it.
func (r *rig) sent(t *testing.T, event uuid.UUID) []byte {
	t.Helper()
	store, err := postgres.Open(t.Context(), r.dsn)
	require.NoError(t, err)
	defer store.Close()
	store.SealWith(envelopetest.Box(t, "e2e"), time.Now)
	_, body, err := store.Keys().Open(t.Context(), event, one[[]byte](t, r, `SELECT sealed FROM event_bytes WHERE event_id = $1`, event))
	require.NoError(t, err)
	return body
}

// late makes an order for which money came in after its payment had failed.
func (s *demoShop) late(t *testing.T) attempt {
	t.Helper()
	var a attempt
	eventually(t, "a failure before the success", func() bool { // on a busy machine the success may be there first
		a = s.bought(t, unique("late"), "tok_late_success")
		return a.Status == "failed"
	})
	eventually(t, "the late success", func() bool {
		return len(column[string](t, s.rig, `SELECT kind::text FROM discrepancies WHERE attempt_id = $1`, a.ID)) == 1
	})
	return a
}

func TestWhatStaffDoesInTheConsole(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	a := s.course(t, unique("o"), unique("key"))
	sam, ada := signedIn(t, s.base, "sam", "support"), signedIn(t, s.base, "ada", "admin")

	t.Run("finds and reads", func(t *testing.T) { //nolint:paralleltest // before others refund
		for _, quoted := range []string{a.OrderID, a.ID, a.ID[:18], *a.ClientRequestID, *a.ProviderPaymentID} {
			found := sam.get("/support?" + formOf("q", quoted))
			found.is(t, http.StatusSeeOther)
			require.Equal(t, "/support/attempts/"+a.ID, found.header.Get("Location"), quoted)
		}
		shown := sam.get("/support/attempts/" + a.ID)
		page := shown.page()
		for _, want := range []string{
			"The payment of €19.99 for order " + a.OrderID + " succeeded on ", "€5.00 was refunded to the customer on ", " (reference re_",
			"The customer was charged once for this order.", "The provider does not document how long the customer's bank takes",
			"The customer must not pay again: the order is paid.", "The customer pressed Pay for €19.99.", "The customer pressed Pay again",
			"so the outcome was unknown",
			"that had been received before; nothing changed.", "A refund of €5.00 was requested.",
		} {
			require.Contains(t, page, want)
		}
		require.NotContains(t, string(shown.text), "/refund\"", "support may not refund")
		require.Contains(t, sam.get("/support/orders?id="+a.OrderID).page(), "The customer was charged once for this order.")
		sam.get("/support?q=nothing-at-all").is(t, http.StatusOK)
		sam.get("/support/orders?id=nothing-at-all").is(t, http.StatusNotFound)
		sam.get("/support/attempts/nothing-at-all").is(t, http.StatusNotFound)
	})
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		pat := signedIn(t, s.base, "pat", "support")
		pat.get("/support?q=u1", "HX-Request: true").is(t, http.StatusOK)
		require.Empty(t, s.deeds(t, "pat"), "too little to be meant")
		typed := pat.get("/support?q="+a.OrderID[:8], "HX-Request: true")
		typed.is(t, http.StatusOK)
		require.Contains(t, typed.page(), a.OrderID)
		require.Len(t, s.deeds(t, "pat"), 1)
	})
	t.Run("asks the provider", func(t *testing.T) {
		t.Parallel()
		pending := s.bought(t, unique("o"), "tok_never")
		lee := signedIn(t, s.base, "lee", "support")
		path := "/support/attempts/" + pending.ID
		form := lee.get(path + "/recheck")
		key := form.hidden(t, "key")
		lee.post(path+"/recheck", "key", key, "reason", " ").is(t, http.StatusUnprocessableEntity)
		require.Empty(t, s.deeds(t, "lee"))
		ask := func() answer { return lee.post(path+"/recheck", "key", key, "reason", "case 1") }
		// The reconciler looks the payment up all the time, too.
		eventually(t, "the recheck", func() bool { return ask().status == http.StatusSeeOther })
		require.Contains(t, lee.followed(ask()).page(), "The status was re-checked. The payment is now processing.")
		require.Equal(t, 1, one[int](t, s.rig, `SELECT count(*) FROM staff_audit WHERE action = 'attempt.recheck' AND outcome = 'done' AND target = $1`, pending.ID),
			"the same form is done once")
		require.Contains(t, s.deeds(t, "lee"), "attempt.recheck "+pending.ID+" begun case 1")
		require.Contains(t, lee.get(path).page(), "lee re-checked the status with the provider. Reason: case 1")
	})
	t.Run("asks about a refund", func(t *testing.T) {
		t.Parallel()
		paid := s.bought(t, unique("o"), "tok_success")
		lou := signedIn(t, s.base, "lou", "support")
		path := "/support/attempts/" + paid.ID
		one[string](t, s.rig, `WITH refund AS (
				INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency, created_at, updated_at)
				SELECT order_id, gen_random_uuid(), attempt_id, 'shop', 'lost-refund', '', account, 'pending', 500, currency,
					now() - interval '1 day', now() - interval '1 day'
				FROM payment_attempts WHERE attempt_id = $1 RETURNING *
			)
			INSERT INTO operations (order_id, attempt_id, kind, number, account, refund_id, amount, origin, state, sends, fence, next_at, first_sent_at, created_at)
			SELECT order_id, attempt_id, 'refund', 0, account, refund_id, amount, 'request', 'unknown', 1, 1, now() + interval '1 day', created_at, created_at
			FROM refund RETURNING refund_id::text`, paid.ID)
		require.Contains(t, lou.get(path).page(), "Re-check status", "final as it is")
		form := lou.get(path + "/recheck")
		asked := lou.followed(lou.post(path+"/recheck", "key", form.hidden(t, "key"), "reason", "case 7")).page()
		require.Contains(t, asked, "The status was re-checked.")
		require.Contains(t, asked, "The refund of €5.00 failed")
	})
	t.Run("sees how an order stands", func(t *testing.T) {
		t.Parallel()
		order := unique("o")
		s.bought(t, order, "tok_decline")
		paid := s.customer().pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		page := signedIn(t, s.base, "max", "support").get("/support/orders?id=" + order).page()
		require.Contains(t, page, "for order "+order+" succeeded on", "by its newest attempt")
		require.Contains(t, page, paid.ID)
	})
	t.Run("applies a webhook again", func(t *testing.T) {
		t.Parallel()
		kim, other := signedIn(t, s.base, "kim", "support"), s.bought(t, unique("o"), "tok_success")
		s.tellAgain(t, other.ID, 1)
		event := one[string](t, s.rig, `SELECT event_id::text FROM provider_events WHERE attempt_id = $1 ORDER BY received_at LIMIT 1`, other.ID)
		path := "/support/events/" + event
		require.Contains(t, kim.get(path).page(), "The provider reported that the payment succeeded (€19.99).")
		tried := kim.post(path+"/replay", "key", kim.get(path+"/replay").hidden(t, "key"), "reason", "case 2")
		tried.is(t, http.StatusOK)
		require.Contains(t, tried.page(), "This was a dry run: nothing was changed.")
		require.Equal(t, "event.replay.view "+event+" done case 2", s.deeds(t, "kim")[1])
		done := kim.followed(kim.post(path+"/replay", "key", tried.hidden(t, "key"), "reason", tried.hidden(t, "reason"), "sure", tried.hidden(t, "sure")))
		require.Contains(t, done.page(), "The event was applied again.")

		unsaid := kim.post(path+"/reveal", "reason", "")
		unsaid.is(t, http.StatusUnprocessableEntity)
		require.NotEmpty(t, unsaid.hidden(t, "key"), "the form is there again")
		shown := kim.post(path+"/reveal", "reason", "case 3")
		shown.is(t, http.StatusOK)
		require.Contains(t, shown.page(), other.ID)
		require.Equal(t, []string{"event.view", "event.replay.view", "event.replay", "event.view", "event.reveal"}, actions(s.deeds(t, "kim")))
	})
	t.Run("refunds once", func(t *testing.T) {
		t.Parallel()
		path := "/support/attempts/" + a.ID + "/refund"
		sam.get(path).is(t, http.StatusForbidden)
		sam.post(path, "amount", "1", "reason", "r", "sure", "yes").is(t, http.StatusForbidden)
		first := ada.get(path)
		require.Contains(t, string(first.text), `value="14.99"`)
		key := first.hidden(t, "key")
		for _, amount := range []string{"", "0", "-1", "1.001", "x", "1e3", "1,5", "0x5", "99999999999999999999"} {
			ada.post(path, "key", key, "amount", amount, "reason", "case 4").is(t, http.StatusUnprocessableEntity)
		}
		ada.post(path, "key", key, "amount", "1", "reason", " ").is(t, http.StatusUnprocessableEntity)
		ada.post(path, "key", key, "amount", "15.00", "reason", "case 4", "sure", "yes").is(t, http.StatusConflict)
		sure := ada.post(path, "key", key, "amount", "2.5", "reason", "case 4")
		sure.is(t, http.StatusOK)
		require.Contains(t, sure.page(), "This refunds €2.50 of €14.99 to the customer. This can't be undone.")
		require.Equal(t, 1, one[int](t, s.rig, `SELECT count(*) FROM refunds WHERE attempt_id = $1`, a.ID))
		payBack := func(int) answer {
			return ada.post(path, "key", key, "amount", "2.5", "reason", "case 4", "expected", sure.hidden(t, "expected"), "sure", "yes")
		}
		answers := atOnce(3, payBack)
		for _, done := range answers {
			done.is(t, http.StatusSeeOther)
		}
		require.Equal(t, []int64{500, 250}, column[int64](t, s.rig, `SELECT amount FROM refunds WHERE attempt_id = $1 ORDER BY created_at`, a.ID))
		require.Contains(t, ada.followed(payBack(0)).page(), "The refund of €2.50 is succeeded.")
		require.Contains(t, ada.get("/support/attempts/"+a.ID).page(), "ada requested a refund. Reason: case 4")
	})
	t.Run("refunds what was seen", func(t *testing.T) {
		t.Parallel()
		paid := s.bought(t, unique("o"), "tok_success")
		path := "/support/attempts/" + paid.ID + "/refund"
		sure := func(p *person, key string) answer {
			page := p.post(path, "key", key, "amount", "5", "reason", "case 6")
			page.is(t, http.StatusOK)
			return page
		}
		payBack := func(p *person, page answer) answer {
			return p.post(path, "key", page.hidden(t, "key"), "amount", page.hidden(t, "amount"), "reason", page.hidden(t, "reason"),
				"expected", page.hidden(t, "expected"), "sure", page.hidden(t, "sure"))
		}
		eve := signedIn(t, s.base, "eve", "admin")
		one, other := sure(ada, ada.get(path).hidden(t, "key")), sure(eve, eve.get(path).hidden(t, "key"))
		payBack(ada, one).is(t, http.StatusSeeOther)
		late := payBack(eve, other)
		late.is(t, http.StatusConflict)
		require.Contains(t, late.page(), "Somebody else has refunded since you opened the page.")
		require.Contains(t, late.page(), "€14.99 of this payment can be refunded.")
		require.Equal(t, []int64{500}, column[int64](t, s.rig, `SELECT amount FROM refunds WHERE attempt_id = $1`, paid.ID))

		unseen := eve.post(path, "key", late.hidden(t, "key"), "amount", "5", "reason", "case 6", "sure", "yes")
		unseen.is(t, http.StatusOK)
		require.Contains(t, unseen.page(), "This refunds €5.00 of €14.99", "who has not seen what is left is asked")
		payBack(eve, unseen).is(t, http.StatusSeeOther)
		rest := ada.post(path, "key", ada.get(path).hidden(t, "key"), "amount", "9.99", "reason", "case 6")
		for _, pressed := range atOnce(3, func(int) answer { return payBack(ada, rest) }) {
			pressed.is(t, http.StatusSeeOther)
		}
		require.Equal(t, []int64{500, 500, 999}, column[int64](t, s.rig, `SELECT amount FROM refunds WHERE attempt_id = $1 ORDER BY created_at`, paid.ID))
	})
	t.Run("settles", func(t *testing.T) {
		t.Parallel()
		lateOne := s.late(t)
		id := one[string](t, s.rig, `SELECT discrepancy_id::text FROM discrepancies WHERE attempt_id = $1`, lateOne.ID)
		jo := signedIn(t, s.base, "jo", "support")
		waiting := jo.get("/support/discrepancies").page()
		require.Regexp(t, "late success €19\\.99, waiting for (less than a minute|[0-9]+ minutes?)", waiting)
		require.Contains(t, waiting, "What to do:")
		path := "/support/discrepancies/" + id + "/resolve"
		key := jo.get(path).hidden(t, "key")
		jo.post(path, "key", key, "reason", "case 5").is(t, http.StatusUnprocessableEntity)
		refused := jo.post(path, "key", key, "reason", "case 5", "resolution", "not_paid")
		refused.is(t, http.StatusConflict)
		require.Contains(t, refused.page(), "case 5")
		done := jo.post(path, "key", key, "reason", "case 5", "resolution", "accepted")
		require.Contains(t, jo.followed(done).page(), "Resolved: late success, as accepted.")
		settled := jo.get("/support/discrepancies?status=resolved").page()
		require.Contains(t, settled, "jo resolved this as accepted on")
		require.NotContains(t, settled, "What to do:")
		jo.get("/support/audit").is(t, http.StatusForbidden)
	})
}

func actions(deeds []string) []string {
	out := make([]string, len(deeds))
	for i, d := range deeds {
		out[i], _, _ = strings.Cut(d, " ")
	}
	return out
}
