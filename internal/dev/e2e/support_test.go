package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// course is an attempt's page, as far as the test reads it.
type course struct {
	Summary  string  `json:"summary"`
	Attempt  attempt `json:"attempt"`
	Timeline []struct {
		At    time.Time `json:"at"`
		Kind  string    `json:"kind"`
		Actor string    `json:"actor"`
		Text  string    `json:"text"`
	} `json:"timeline"`
	Events []struct {
		ID      string         `json:"event_id"`
		Verdict string         `json:"verdict"`
		Payload map[string]any `json:"payload"`
	} `json:"events"`
}

// A customer presses twice, each webhook comes three times, and the shop refunds. A person from support finds the payment by any
// quoted text and reads its course. The audit log has the person and the search; the program's own log has only ids and
// addresses.
func TestSupportSeesWhatHappened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	const (
		key, token1, reason = "key-of-the-first-press", "tok_twice", "reason-known-to-the-audit-log"
		person              = "sam-from-support"
	)
	support, admin, shop := token(person, "support"), token("ada-the-admin", "admin"), token("shop-backend", "service")
	customer := token("customer-with-a-name", "customer")
	order := "order-" + unique("s")
	s.as(customer).createOrder(t.Context(), order, unique("key")).is(t, http.StatusCreated)
	first := s.as(customer).pay(t.Context(), order, key, token1).attempt(t, http.StatusCreated)
	s.as(customer).pay(t.Context(), order, key, token1).is(t, http.StatusCreated)
	a := s.as(customer).settled(t, first.ID)
	eventually(t, "three deliveries", func() bool {
		return one[int](t, r, `SELECT coalesce(sum(times), 0)::int FROM attempt_log WHERE attempt_id = $1 AND kind = 'duplicate'`, a.ID) >= 2
	})
	refund := s.as(shop).send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds", `{"amount":500}`,
		"Idempotency-Key: "+unique("refund"), "On-Behalf-Of: customer-with-a-name")
	refund.is(t, http.StatusCreated)

	for _, quoted := range []string{order, "customer-with-a-name", a.ID, a.ID[:20], key, *a.ProviderPaymentID} {
		found := s.as(support).send(t.Context(), http.MethodGet, "/v1/support/search?q="+quoted, "")
		found.is(t, http.StatusOK)
		require.Contains(t, string(found.text), a.ID, quoted)
	}
	asked := s.as(support).send(t.Context(), http.MethodPost, "/v1/support/attempts/"+a.ID+"/recheck", `{"reason":"`+reason+`"}`)
	asked.is(t, http.StatusOK)

	page := s.as(support).send(t.Context(), http.MethodGet, "/v1/support/attempts/"+a.ID, "")
	page.is(t, http.StatusOK)
	var c course
	require.NoError(t, json.Unmarshal(page.text, &c))
	require.Contains(t, c.Summary, "The payment of €19.99 for order "+order+" succeeded on ")
	require.Contains(t, c.Summary, "The customer was charged once for this order.")
	kinds := map[string]int{}
	for _, e := range c.Timeline {
		kinds[e.Kind]++
	}
	require.Equal(t, "pay", c.Timeline[0].Kind)
	for kind, least := range map[string]int{"reuse": 1, "provider_call": 2, "webhook": 2, "transition": 1, "refund": 1, "news": 1, "staff_action": 1} {
		require.GreaterOrEqual(t, kinds[kind], least, "%s: %s", kind, page.text)
	}
	require.NotEmpty(t, c.Events)
	require.Equal(t, "charge.succeeded", c.Events[0].Payload["type"])
	require.True(t, slices.IsSortedFunc(c.Timeline, func(a, b struct {
		At    time.Time `json:"at"`
		Kind  string    `json:"kind"`
		Actor string    `json:"actor"`
		Text  string    `json:"text"`
	},
	) int {
		return a.At.Compare(b.At)
	}))

	audit := s.as(admin).send(t.Context(), http.MethodGet, "/v1/support/audit?actor="+person, "")
	audit.is(t, http.StatusOK)
	for _, text := range []string{`"attempt.recheck"`, reason, `"search.view"`, "127.0.0.1", "customer-with-a-name"} {
		require.Contains(t, string(audit.text), text)
	}
	s.bluntly(support).send(t.Context(), http.MethodGet, "/v1/support/audit", "").is(t, http.StatusForbidden)

	s.as(customer).pay(t.Context(), order, key, token1).is(t, http.StatusCreated)
	code, _ := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	require.Equal(t, 2, one[int](t, r, `SELECT sum(times)::int FROM attempt_log WHERE attempt_id = $1 AND kind = 'reuse'`, a.ID), "a stop writes what was noted")

	said := s.stderr.String() + s.stdout.String()
	for _, hidden := range []string{
		key, token1, reason, support, admin, customer, shop, secret,
		sandboxSecret, strings.TrimPrefix(sandboxSecret, "whsec_"), first.StatusToken,
	} {
		require.NotContains(t, said, hidden)
	}
	for _, named := range []string{
		a.ID, `"sub":"` + person + `"`, `"sub":"ada-the-admin"`, `"sub":"customer-with-a-name"`, `"sub":"shop-backend","on_behalf_of":"customer-with-a-name"`, `"peer":"127.0.0.1"`,
	} {
		require.Contains(t, said, named, "the log names the attempt, who asked, and from where")
	}
}
