package engine_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/webhooks"
	checkouthooks "github.com/paylatch/paylatch/webhooks/checkout"
)

// TestFlow: a payment session of Checkout.com, in which the customer's browser makes the payments.
func TestFlow(t *testing.T) {
	t.Parallel()
	t.Run("a_decline_and_a_success", flowDeclineAndSuccess)
	t.Run("lost_webhooks", flowLostWebhooks)
	t.Run("two_tabs", flowTwoTabs)
	t.Run("another_amount", flowAnotherAmount)
	t.Run("a_webhook_before_the_answer", flowEarlyWebhook)
	t.Run("a_cancelled_order", flowCancelled)
	t.Run("a_session_made_elsewhere", flowElsewhere)
}

// flowing is an environment with the API of Checkout.com, whose payments are made by the test.
type flowing struct {
	*env

	v    *checkouthooks.Verifier
	mu   sync.Mutex
	made []string // the payments, as JSON
	refs []string // the references of the sessions
	// before runs when a session is created, before the response.
	before func(attempt string)
}

func newFlow(t *testing.T) *flowing {
	t.Helper()
	v, err := checkouthooks.New(webhooks.Config{Secrets: []string{"key"}})
	require.NoError(t, err)
	f := &flowing{v: v}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.env = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		c := checkout.New(s.URL, "sk_sbox_fake", s.Client())
		c.Now = time.Now
		return c
	}})
	return f
}

func (f *flowing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	made, before := f.made, f.before
	f.mu.Unlock()
	switch path := r.Method + " " + r.URL.Path; {
	case path == "POST /payment-sessions":
		var in struct {
			Reference string            `json:"reference"`
			Metadata  map[string]string `json:"metadata"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in) // an empty reference fails the test
		f.mu.Lock()
		f.refs = append(f.refs, in.Reference)
		f.mu.Unlock()
		if before != nil {
			before(in.Metadata["payment_attempt_id"])
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"ps_1","payment_session_token":"t","payment_session_secret":"s"}`)
	case path == "GET /payments":
		hits := []string{}
		if r.URL.Query().Get("reference") == f.refs[0] {
			hits = made
		}
		_, _ = io.WriteString(w, `{"data":[`+strings.Join(hits, ",")+`]}`)
	case path == "GET /disputes":
		_, _ = io.WriteString(w, `{"data":[]}`)
	case strings.HasSuffix(path, "/actions"):
		_, _ = io.WriteString(w, `[]`)
	default:
		for _, p := range made {
			if strings.Contains(p, `"`+strings.TrimPrefix(r.URL.Path, "/payments/")+`"`) {
				_, _ = io.WriteString(w, p)
			}
		}
	}
}

// session begins an attempt with a payment session.
func (f *flowing) session(t *testing.T) payment.AttemptID {
	t.Helper()
	return f.payAs(t, "flow", gateway.Details{
		Token: "flow", ReturnURL: "https://shop.example/back", Customer: gateway.Customer{Billing: &gateway.Address{Country: "DE"}},
	})
}

// tries makes a payment in the session, which a lookup shows.
func (f *flowing) tries(id payment.AttemptID, name, status, code string, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made = append(f.made, fmt.Sprintf(`{"id":%q,"status":%q,"response_code":%q,"amount":%d,"currency":"EUR","reference":%q,`+
		`"metadata":{"payment_attempt_id":%q,"cko_payment_session_id":"ps_1"}}`, name, status, code, amount, f.refs[0], id))
}

// tells delivers a signed webhook about a payment of the session.
func (f *flowing) tells(t *testing.T, attempt, name, kind, code string, amount int64) []fsm.Verdict {
	t.Helper()
	d := webhooks.Delivery{Header: http.Header{}, Body: fmt.Appendf(nil, `{"id":"evt_%s_%s","type":%q,"timestamp":"2026-03-14T15:09:26Z","data":{"id":%q,"action_id":"act_%s","reference":%q,`+
		`"amount":%d,"currency":"EUR","response_code":%q,"metadata":{"payment_attempt_id":%q,"cko_payment_session_id":"ps_1"}}}`,
		name, kind, kind, name, name, f.refs[0], amount, code, attempt)}
	require.NoError(t, f.v.Sign(&d))
	return f.notify(t, f.v, d)
}

func flowDeclineAndSuccess(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	id := f.session(t)
	require.NotNil(t, f.attempt(t, id).NextAction)
	f.tries(id, "pay_1", "Declined", "20051", price)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, f.tells(t, id.String(), "pay_1", "payment_declined", "20051", price))
	require.NotNil(t, f.attempt(t, id).NextAction, "the page loads the same session again")
	f.keepsPage(t, id, func() {
		require.Equal(t, []fsm.Verdict{fsm.Applied}, f.tells(t, id.String(), "pay_2", "payment_captured", "10000", price))
	})
	require.Equal(t, "pay_2", f.attempt(t, id).ProviderPaymentID)
}

// No webhook came: the payments are found by our reference.
func flowLostWebhooks(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	id := f.session(t)
	require.Equal(t, standing{"pending", "awaiting_customer", ""}, standingOf(f.recheck(t, id).Attempt), "no payment was begun")
	f.tries(id, "pay_1", "Declined", "20051", price)
	require.Equal(t, triedOnce, standingOf(f.recheck(t, id).Attempt))
	f.tries(id, "pay_2", "Captured", "10000", price)
	require.Equal(t, succeeded, standingOf(f.recheck(t, id).Attempt))
	require.Equal(t, "pay_2", f.attempt(t, id).ProviderPaymentID)
	require.Empty(t, f.discrepancies(t, id))
	require.Empty(t, f.verify(t))
}

// The customer pays the session in two tabs.
func flowTwoTabs(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	id := f.session(t)
	for _, name := range []string{"pay_1", "pay_2"} {
		f.tries(id, name, "Captured", "10000", price)
		f.tells(t, id.String(), name, "payment_captured", "10000", price)
	}
	require.Equal(t, succeeded, standingOf(f.attempt(t, id).Attempt))
	require.Equal(t, []string{"needs_review second_payment pay_2"}, f.about(t, id))
	require.Empty(t, f.verify(t))
}

func flowAnotherAmount(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	id := f.session(t)
	f.tries(id, "pay_1", "Captured", "10000", 500)
	f.tells(t, id.String(), "pay_1", "payment_captured", "10000", 500)
	require.False(t, f.attempt(t, id).Succeeded())
	f.recheck(t, id)
	require.False(t, f.attempt(t, id).Succeeded())
	require.Equal(t, []string{"amount_mismatch"}, f.discrepancies(t, id))
	require.Empty(t, f.verify(t))
}

// The answer to the request for a session comes after the webhook of its payment.
func flowEarlyWebhook(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.before = func(attempt string) { f.tells(t, attempt, "pay_1", "payment_captured", "10000", price) }
	id := f.session(t)
	require.Equal(t, succeeded, standingOf(f.attempt(t, id).Attempt))
	require.Equal(t, "pay_1", f.attempt(t, id).ProviderPaymentID)
	require.Empty(t, f.discrepancies(t, id))
	require.Empty(t, f.verify(t))
}

// A session can't be closed: the attempt of a cancelled order ends with its session.
func flowCancelled(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	id := f.session(t)
	f.cancelOrder(t)
	f.recheck(t, id)
	require.False(t, f.attempt(t, id).State.Final(), "the customer may still pay")
	f.later(t, id, 2*time.Hour)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(f.recheck(t, id).Attempt))
	require.Empty(t, f.verify(t))
}

// The end of a session that the shop itself created is unknown, and its payments may have another reference.
func flowElsewhere(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	f.refs = []string{"order-17"}
	id := f.register(t, commands.External{}).ID
	f.tells(t, id.String(), "pay_1", "payment_declined", "20051", price)
	require.Equal(t, triedOnce, standingOf(f.recheck(t, id).Attempt))
	f.cancelOrder(t)
	f.recheck(t, id)
	f.later(t, id, 2*time.Hour)
	require.False(t, f.recheck(t, id).State.Final())
	f.tries(id, "pay_2", "Captured", "10000", price)
	f.tells(t, id.String(), "pay_2", "payment_captured", "10000", price)
	require.Equal(t, succeeded, standingOf(f.attempt(t, id).Attempt))
}
