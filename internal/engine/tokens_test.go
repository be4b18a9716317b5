package engine_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// standing is how an attempt stands, as a caller sees it.
type standing struct{ status, stage, failure string }

func standingOf(a payment.Attempt) standing {
	s := standing{status: string(a.State.Status()), stage: a.Stage()}
	if a.Failure != nil {
		s.failure = a.Failure.Code
	}
	return s
}

var (
	succeeded = standing{"succeeded", "final", ""}
	declined  = standing{"failed", "final", "card_declined"}
	requested = standing{"pending", "requested", ""}
	awaiting  = standing{"pending", "awaiting_customer", ""}
	unknown   = standing{"pending", "outcome_unknown", ""}
)

// course is how the payment with a token goes.
type course struct {
	answer, end standing
	captured    int64
	// events is how many webhooks there are in the end, a repeat not counted.
	events int
	opens  []string
}

// webhookFirst is the token of a charge with a response after its webhook.
const webhookFirst = "tok_webhook_first"

var courses = map[string]course{
	"tok_success":          {succeeded, succeeded, price, 1, nil},
	"tok_decline":          {declined, declined, 0, 1, nil},
	"tok_async_success":    {requested, succeeded, price, 1, nil},
	"tok_async_decline":    {requested, declined, 0, 1, nil},
	"tok_redirect":         {awaiting, succeeded, price, 1, nil},
	webhookFirst:           {succeeded, succeeded, price, 1, nil},
	"tok_twice":            {succeeded, succeeded, price, 1, nil},
	"tok_disorder":         {requested, succeeded, price, 2, nil},
	"tok_hang_charged":     {unknown, succeeded, price, 1, nil},
	"tok_hang_not_charged": {unknown, succeeded, price, 1, nil},
	"tok_500_charged":      {unknown, succeeded, price, 1, nil},
	"tok_500_once":         {unknown, succeeded, price, 1, nil},
	"tok_never":            {requested, requested, 0, 0, nil},
	"tok_late_success":     {declined, declined, price, 2, []string{"late_success"}},
	"tok_wrong_amount":     {succeeded, succeeded, price + 1, 1, []string{"amount_mismatch"}},
}

func paySandboxTokens(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	r := newEnv(t, setup{
		ready:  ready,
		delays: sandbox.Delays{Late: 100 * time.Millisecond, RetryMin: 50 * time.Millisecond, RetryMax: time.Second},
	})
	// The calls return first, however long that takes; one returns only after its webhook.
	answers := r.payAll(t)
	close(ready)
	answers[webhookFirst] = r.paid(t, webhookFirst, webhookFirst)
	for token, want := range courses {
		require.Equal(t, want.answer, standingOf(answers[token].Attempt), "%s: the answer", token)
	}
	approve(t, answers["tok_redirect"].NextAction.URL)
	for token, want := range courses {
		id := answers[token].ID
		require.Eventually(t, func() bool {
			_, err := r.Recheck(t.Context(), id, byTest)
			require.NoError(t, err)
			_, err = r.RetryParked(t.Context(), 100)
			require.NoError(t, err)
			return standingOf(r.attempt(t, id).Attempt) == want.end && len(r.verdicts(t, id)) == want.events
		}, waitFor, 5*tick, token)
		a := r.attempt(t, id)
		require.Equal(t, want.captured, a.Captured, token)
		require.ElementsMatch(t, want.opens, r.discrepancies(t, id), token)
		r.audit(t, a.OrderID)
	}
}

// payAll pays one order for each token at the same time, without the token of webhookFirst.
func (r *env) payAll(t *testing.T) map[string]commands.Reply {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	answers := map[string]commands.Reply{}
	for token := range courses {
		if token == webhookFirst {
			continue
		}
		r.order(t, payment.OrderID(token))
		all.Go(func() {
			p, err := try(t.Context(), r.service, payment.OrderID(token), "key-"+token, token)
			if err != nil {
				t.Errorf("%s: %v", token, err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[token] = p
		})
	}
	all.Wait()
	return answers
}

// approve clicks the button of the hosted page.
func approve(t *testing.T, page string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page, strings.NewReader(url.Values{"decision": {"approve"}}.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
}
