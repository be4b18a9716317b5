package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/webhooks"
)

func TestStale(t *testing.T) {
	t.Parallel()
	t.Run("account", staleAccount)
	t.Run("proven_webhooks_only", staleProvenWebhooksOnly)
	t.Run("after_days", staleAfterDays)
}

// An account is stale when attempts have waited for a while and nothing has come since they
// began.
func staleAccount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.StaleAfter = 30 * time.Minute
		account := o.Accounts["sandbox"]
		account.Hears = true
		o.Accounts["sandbox"] = account
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	silent := func() []intake.StaleAccount {
		require.NoError(t, r.SaveLastWebhooks(t.Context()))
		all, err := r.Stale(t.Context())
		require.NoError(t, err)
		return all
	}
	require.Empty(t, silent(), "it has not waited for long")
	r.age(t, id, 31*time.Minute)
	all := silent()
	require.Len(t, all, 1)
	require.Equal(t, intake.StaleAccount{Account: "sandbox", Pending: 1, Since: all[0].Since}, all[0])
	require.WithinDuration(t, time.Now().Add(-31*time.Minute), all[0].Since, time.Minute)

	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindActionRequired))
	require.Empty(t, silent(), "something has come")
	r.exec(t, "UPDATE account_webhooks SET last_webhook_at = now() - interval '45 minutes'")
	heard := silent()
	require.Len(t, heard, 1)
	require.NotNil(t, heard[0].LastWebhookAt)
	r.age(t, id, time.Hour)
	require.Empty(t, silent(), "the last webhook came after it began: nobody has to hear more of it")
	r.age(t, id, -time.Hour)
	deaf := r.another(t, func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {}} })
	none, err := deaf.Stale(t.Context())
	require.NoError(t, err)
	require.Empty(t, none, "an account that takes no webhooks has none to miss")
	r.say(t, id, webhooks.KindSucceeded)
	require.Empty(t, silent())
}

// Unsigned notices could hide that a provider sends nothing. At such an account a notice counts once the provider
// confirms a payment of it.
func staleProvenWebhooksOnly(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, gateway.ErrNoSuchPayment }}
	r := newEnv(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	heard := func() []time.Time {
		require.NoError(t, r.SaveLastWebhooks(t.Context()))
		return rows[time.Time](t, r, "SELECT last_webhook_at FROM account_webhooks")
	}
	ignored := event(webhooks.KindIgnored)
	ignored.SecretIndex = -1
	r.tell(t, ignored, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	r.retry(t, true)
	require.Empty(t, heard())

	look.lookup = says(fsm.EventSucceeded)
	r.tell(t, hint(webhooks.KindNotice, "tr_of_nobody"))
	r.exec(t, "UPDATE provider_events SET next_try_at = NULL WHERE $1 = ANY(refs)", paid.ProviderPaymentID)
	r.retry(t, true)
	require.Empty(t, heard(), "it is no payment of ours")
	came := time.Now()
	r.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	went := time.Now()
	require.Empty(t, heard())
	r.retry(t, true)
	all := heard()
	require.Len(t, all, 1)
	require.WithinRange(t, all[0], came.Add(-time.Millisecond), went, "when it came, not when it was asked about")
}

func staleAfterDays(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.StaleAfter = 48 * time.Hour
		o.Accounts["sandbox"] = gateway.Account{Provider: o.Accounts["sandbox"].Provider, Hears: true}
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	for _, c := range []struct {
		older  time.Duration
		silent int
	}{{47 * time.Hour, 0}, {2 * time.Hour, 1}, {24 * time.Hour, 0}} {
		r.age(t, id, c.older)
		all, err := r.Stale(t.Context())
		require.NoError(t, err)
		require.Len(t, all, c.silent)
	}
}
