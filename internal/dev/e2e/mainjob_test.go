package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryTokenEndsRight takes an order through payment, webhook and status for
// each of the sandbox's misbehaviours that ends by itself.
func TestEveryTokenEndsRight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	for name, c := range map[string]struct {
		answers string // statuses that the answer to the pay may have
		status  string
		code    string
		charged int64
	}{
		"tok_success":          {"succeeded", "succeeded", "", 1999},
		"tok_decline":          {"failed", "failed", "card_declined", 0},
		"tok_async_success":    {"pending succeeded", "succeeded", "", 1999},
		"tok_async_decline":    {"pending failed", "failed", "card_declined", 0},
		"tok_webhook_first":    {"succeeded", "succeeded", "", 1999},
		"tok_twice":            {"succeeded", "succeeded", "", 1999},
		"tok_disorder":         {"pending succeeded", "succeeded", "", 1999},
		"tok_hang_charged":     {"pending succeeded", "succeeded", "", 1999},
		"tok_hang_not_charged": {"pending", "succeeded", "", 1999},
		"tok_500_charged":      {"pending succeeded", "succeeded", "", 1999},
		"tok_500_once":         {"pending", "succeeded", "", 1999},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := s.customer()
			order, key := u.order(t), unique("pay")
			said := u.pay(t.Context(), order, key, name)
			a := said.attempt(t, http.StatusCreated)
			said.result(t, "created")
			require.Contains(t, strings.Fields(c.answers), a.Status)
			if c.answers == "pending" {
				require.Equal(t, "outcome_unknown", a.Stage)
			}

			end := u.settled(t, a.ID)
			require.Equal(t, c.status, end.Status)
			require.Equal(t, c.charged, end.AmountCaptured)
			require.Equal(t, c.status == "failed", end.CanStartNew)
			if c.code != "" {
				require.Equal(t, c.code, end.Failure.Code)
				require.Empty(t, r.ledger(t, a.ID))
			} else {
				require.Nil(t, end.Failure)
				r.charged(t, a.ID, c.charged)
			}
			eventually(t, "its webhooks", func() bool {
				return len(column[string](t, r, `SELECT event_type FROM provider_events WHERE attempt_id = $1`, a.ID)) > 0
			})
			r.told(t, u.read(t.Context(), a.ID).attempt(t, http.StatusOK))
			require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies WHERE attempt_id = $1`, a.ID))

			again := u.pay(t.Context(), order, key, name)
			require.Equal(t, a.ID, again.attempt(t, http.StatusCreated).ID)
			require.Equal(t, "reused", again.header.Get("Idempotency-Result"))
		})
	}
}

func TestRedirect(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.serve().customer()
	for decision, status := range map[string]string{"approve": "succeeded", "decline": "failed"} {
		a := u.pay(t.Context(), u.order(t), unique("pay"), "tok_redirect").attempt(t, http.StatusCreated)
		require.Equal(t, "awaiting_customer", a.Stage)
		require.Equal(t, "redirect", a.NextAction.Type)
		resp, err := plain.PostForm(a.NextAction.URL, url.Values{"decision": {decision}})
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusSeeOther, resp.StatusCode)
		end := u.settled(t, a.ID)
		require.Equal(t, status, end.Status)
		require.Nil(t, end.NextAction)
		r.told(t, end)
		if status == "succeeded" {
			r.charged(t, a.ID, 1999)
		} else {
			require.Empty(t, r.ledger(t, a.ID))
		}
	}
}

// TestNeverStaysPending: a check does not end an attempt that the provider has not ended.
func TestNeverStaysPending(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.serve().customer()
	a := u.pay(t.Context(), u.order(t), unique("pay"), "tok_never").attempt(t, http.StatusCreated)
	require.Equal(t, "pending", a.Status)
	eventually(t, "two checks", func() bool {
		return one[int](t, r, `SELECT tries FROM operations WHERE open AND attempt_id = $1`, a.ID) >= 2
	})
	now := u.read(t.Context(), a.ID)
	require.Equal(t, "pending", now.attempt(t, http.StatusOK).Status)
	require.NotEmpty(t, now.header.Get("Retry-After"))

	cancelled := client{base: r.sandbox}.send(t.Context(), http.MethodPost, "/v1/charges/"+*a.ProviderPaymentID+"/cancel", "{}", "Idempotency-Key: by-the-dashboard")
	cancelled.is(t, http.StatusOK)
	end := u.settled(t, a.ID)
	require.Equal(t, "failed", end.Status)
	require.Equal(t, "canceled", end.Failure.Code)
	require.Empty(t, r.ledger(t, a.ID))
	r.told(t, end)
}

// TestLateSuccess: money that comes after a failure changes no status, opens a discrepancy, and prevents a second charge.
func TestLateSuccess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.serve().customer()
	order := u.order(t)
	r.hooks.shut() // on a busy machine the success would be there before the failure
	a := u.pay(t.Context(), order, unique("pay"), "tok_late_success").attempt(t, http.StatusCreated)
	require.Equal(t, "failed", a.Status)
	r.hooks.Mend()
	eventually(t, "the money", func() bool { return u.read(t.Context(), a.ID).peek().AmountCaptured == 1999 })
	end := u.read(t.Context(), a.ID).attempt(t, http.StatusOK)
	require.Equal(t, "failed", end.Status)
	require.False(t, end.CanStartNew)
	r.charged(t, a.ID, 1999)
	require.Equal(t, []string{"late_success"}, column[string](t, r, `SELECT kind FROM discrepancies WHERE attempt_id = $1`, a.ID))
	u.pay(t.Context(), order, unique("pay"), "tok_success").problem(t, http.StatusConflict, "order-already-paid")
	r.told(t, end)
}

// TestWrongAmount: more than the amount pays the order, and a discrepancy reports the rest.
func TestWrongAmount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.serve().customer()
	order := u.order(t)
	a := u.pay(t.Context(), order, unique("pay"), "tok_wrong_amount").attempt(t, http.StatusCreated)
	eventually(t, "its webhook", func() bool {
		return len(column[string](t, r, `SELECT verdict FROM provider_events WHERE refs @> ARRAY[$1]`, a.ID)) > 0
	})
	end := u.read(t.Context(), a.ID).attempt(t, http.StatusOK)
	require.Equal(t, "succeeded", end.Status)
	require.Equal(t, int64(2000), end.AmountCaptured)
	r.charged(t, a.ID, 2000)
	require.Equal(t, []string{"amount_mismatch"}, column[string](t, r, `SELECT DISTINCT kind FROM discrepancies WHERE order_id = $1`, order))
	refused := u.pay(t.Context(), order, unique("pay"), "tok_success")
	refused.problem(t, http.StatusConflict, "order-already-paid")
	require.Len(t, r.ledger(t, a.ID), 1)
}
