package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestFetchAgain(t *testing.T) {
	t.Parallel()
	t.Run("until_it_agrees", fetchAgainUntilItAgrees)
	t.Run("not_for_ever", fetchAgainNotForEver)
	t.Run("not_where_nothing_is_missing", fetchAgainNotWhereNothingIsMissing)
	t.Run("chargeback", fetchAgainChargeback)
	t.Run("chargeback_is_no_second_payment", fetchAgainChargebackIsNoSecondPayment)
	t.Run("adapters", fetchAgainAdapters)
}

// asOld makes the waiting notices older, and tries the ones that are then due.
func (r *env) asOld(t *testing.T, by time.Duration) {
	t.Helper()
	r.exec(t, "UPDATE provider_events SET received_at = received_at - $1::interval, next_try_at = next_try_at - $1::interval WHERE next_try_at IS NOT NULL", by)
	r.retry(t, false)
}

// fetchAges are the ages of a notice at which it is fetched again, as the provider's API may be behind it.
var fetchAges = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// A notice came, and the provider's API is a moment behind: it is fetched again until both
// agree, or a discrepancy is opened.
func fetchAgainUntilItAgrees(t *testing.T) {
	t.Parallel()
	held, waits := standing{"pending", "authorized", ""}, standing{"pending", "awaiting_customer", ""}
	for name, c := range map[string]struct {
		kind           webhooks.Kind
		token          string
		behind, then   fsm.Event
		meanwhile, end standing
	}{
		"paid, and it says canceled":        {webhooks.KindSucceeded, "tok_never", fsm.EventFailed, fsm.EventSucceeded, requested, succeeded},
		"paid, and it says declined":        {webhooks.KindSucceeded, "tok_never", fsm.EventSoftFailed, fsm.EventSucceeded, requested, succeeded},
		"paid, and it says open":            {webhooks.KindSucceeded, "tok_redirect", fsm.EventProcessing, fsm.EventSucceeded, waits, succeeded},
		"held, and it says canceled":        {webhooks.KindAuthorized, "tok_never", fsm.EventFailed, fsm.EventAuthorized, requested, held},
		"something, and it says open":       {webhooks.KindNotice, "tok_redirect", fsm.EventActionRequired, fsm.EventSucceeded, waits, succeeded},
		"something, and it says processing": {webhooks.KindNotice, "tok_never", fsm.EventProcessing, fsm.EventFailed, requested, standing{"failed", "final", "provider_rejected"}},
		"over, and it says open":            {webhooks.KindFailed, "tok_redirect", fsm.EventActionRequired, fsm.EventFailed, waits, standing{"failed", "final", "provider_rejected"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: says(c.behind)}
			r := newEnv(t, setup{silent: true, provider: look.on})
			id := r.paid(t, "A-1", c.token).ID
			r.tell(t, hint(c.kind, r.attempt(t, id).ProviderPaymentID))
			r.retry(t, true)
			require.Equal(t, c.meanwhile, standingOf(r.attempt(t, id).Attempt))
			require.EqualValues(t, 1, r.parked(t), "it will be asked again")
			require.Empty(t, r.verify(t))

			look.lookup = says(c.then)
			for range 2 {
				r.retry(t, true)
			}
			require.Equal(t, c.end, standingOf(r.attempt(t, id).Attempt))
			require.Equal(t, []string{"applied"}, r.verdicts(t, id))
			require.EqualValues(t, 2, look.lookups.Load(), "once it agrees it is left alone")
			require.Empty(t, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
		})
	}
}

// A lookup that never agrees counts in the end, and a discrepancy is opened if the notice was
// about money. It is made no more often than that.
func fetchAgainNotForEver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind webhooks.Kind
		says fsm.Event
		end  standing
		open []string
	}{
		"paid, and canceled":     {webhooks.KindSucceeded, fsm.EventFailed, standing{"failed", "final", "provider_rejected"}, []string{"needs_review"}},
		"paid, and processing":   {webhooks.KindSucceeded, fsm.EventProcessing, requested, []string{"needs_review"}},
		"something, and no news": {webhooks.KindNotice, fsm.EventProcessing, requested, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := &answering{lookup: says(c.says)}
			r := newEnv(t, setup{silent: true, provider: look.on})
			id := r.paid(t, "A-1", "tok_never").ID
			for range 2 {
				r.tell(t, hint(c.kind, r.attempt(t, id).ProviderPaymentID))
			}
			r.retry(t, true)
			for i, age := range fetchAges {
				require.Equal(t, requested, standingOf(r.attempt(t, id).Attempt))
				for _, next := range rows[time.Duration](t, r, "SELECT next_try_at - received_at FROM provider_events") {
					require.Contains(t, fetchAges[i:], next) // a busy machine leaves some out
				}
				r.exec(t, "UPDATE provider_events SET received_at = now() - $1::interval", age)
				r.retry(t, true)
			}
			r.asOld(t, time.Hour)
			require.Equal(t, c.end, standingOf(r.attempt(t, id).Attempt))
			require.Equal(t, c.open, r.discrepancies(t, id), "once, however many notices")
			require.Zero(t, r.parked(t))
			require.EqualValues(t, 2*(len(fetchAges)+1), look.lookups.Load())
			require.Empty(t, r.verify(t))
		})
	}
}

// A notice without new content causes no second lookup: the notice of a call's result, and a notice that arrives twice.
func fetchAgainNotWhereNothingIsMissing(t *testing.T) {
	t.Parallel()
	for kind, token := range map[webhooks.Kind]string{webhooks.KindNotice: "tok_success", webhooks.KindSucceeded: "tok_success", webhooks.KindFailed: "tok_decline"} {
		look := &answering{}
		r := newEnv(t, setup{silent: true, provider: look.on})
		id := r.paid(t, "A-1", token).ID
		for range 2 {
			r.tell(t, hint(kind, r.attempt(t, id).ProviderPaymentID))
			r.retry(t, true)
		}
		require.EqualValues(t, 2, look.lookups.Load(), kind)
		require.Equal(t, []string{"repeat", "repeat"}, r.verdicts(t, id), kind)
	}
}

// Long after a payment is final a notice without content may be of a chargeback, which the
// provider's API shows a moment later.
func fetchAgainChargeback(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventSucceeded)}
	r := newEnv(t, setup{silent: true, provider: look.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.exec(t, "UPDATE payment_attempts SET updated_at = updated_at - interval '1 day' WHERE attempt_id = $1", id.String())
	r.tell(t, hint(webhooks.KindNotice, r.attempt(t, id).ProviderPaymentID))
	r.retry(t, true)
	look.lookup = func() (gateway.Outcome, error) {
		taken := payment.MovementReport{Kind: payment.MovementChargeback, ID: "chb_1", Money: payment.Money{Minor: 500, Currency: "EUR"}}
		return gateway.Outcome{Event: fsm.EventSucceeded, Movements: []payment.MovementReport{taken}}, nil
	}
	r.retry(t, true)
	require.EqualValues(t, price-500, r.attempt(t, id).Held())
	require.Equal(t, []string{"applied"}, r.verdicts(t, id))
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, id))
}

// A chargeback that a lookup lists beside the payment's own transaction is no second payment.
func fetchAgainChargebackIsNoSecondPayment(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) {
		taken := payment.MovementReport{Kind: payment.MovementChargeback, ID: "chb_1", Money: payment.Money{Minor: 500, Currency: "EUR"}}
		return gateway.Outcome{Event: fsm.EventSucceeded, Movements: []payment.MovementReport{taken}}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: look.on})
	id := r.paid(t, "A-1", "tok_never").ID
	paid := event(webhooks.KindSucceeded, id.String())
	r.tell(t, paid)
	r.tell(t, hint(webhooks.KindNotice, r.attempt(t, id).ProviderPaymentID))
	r.retry(t, true)
	require.EqualValues(t, price-500, r.attempt(t, id).Held())
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, id))
}
