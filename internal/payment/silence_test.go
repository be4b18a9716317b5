package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// An account is silent when attempts have waited for a while and nothing has come
// since they began.
func TestASilentAccountIsSeen(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, change: func(o *payment.Options) {
		o.SilentAfter = 30 * time.Minute
		account := o.Accounts["sandbox"]
		account.Hears = true
		o.Accounts["sandbox"] = account
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	silent := func() []payment.Silence {
		require.NoError(t, r.NoteHeard(t.Context()))
		all, err := r.Silent(t.Context())
		require.NoError(t, err)
		return all
	}
	require.Empty(t, silent(), "it has not waited for long")
	r.age(t, id, 31*time.Minute)
	all := silent()
	require.Len(t, all, 1)
	require.Equal(t, payment.Silence{Account: "sandbox", Pending: 1, Since: all[0].Since}, all[0])
	require.WithinDuration(t, time.Now().Add(-31*time.Minute), all[0].Since, time.Minute)

	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindActionRequired))
	require.Empty(t, silent(), "something has come")
	r.exec(t, "UPDATE accounts_heard SET heard_at = now() - interval '45 minutes'")
	heard := silent()
	require.Len(t, heard, 1)
	require.NotNil(t, heard[0].HeardAt)
	r.age(t, id, time.Hour)
	require.Empty(t, silent(), "the last webhook came after it began: nobody has to hear more of it")
	r.age(t, id, -time.Hour)
	deaf := r.another(t, func(o *payment.Options) { o.Accounts = map[string]payment.Account{"sandbox": {}} })
	none, err := deaf.Silent(t.Context())
	require.NoError(t, err)
	require.Empty(t, none, "an account that takes no webhooks has none to miss")
	r.say(t, id, webhooks.KindSucceeded)
	require.Empty(t, silent())
}

// Who sends what nobody signs could hide that a provider sends nothing. Of such an
// account is heard what the provider confirms of one of its payments.
func TestOnlyWhatIsProvenIsHeard(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (payment.Outcome, error) { return payment.Outcome{}, payment.ErrNoSuchPayment }}
	r := newRig(t, setup{silent: true, provider: look.on})
	paid := r.paid(t, "A-1", "tok_never")
	heard := func() []time.Time {
		require.NoError(t, r.NoteHeard(t.Context()))
		return rows[time.Time](t, r, "SELECT heard_at FROM accounts_heard")
	}
	ignored := event(webhooks.KindIgnored)
	ignored.SecretIndex = -1
	r.tell(t, ignored, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	r.retry(t, true)
	require.Empty(t, heard())

	look.lookup = says(fsm.NewsSucceeded)
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

func TestAnAccountMayBeSilentForDays(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, change: func(o *payment.Options) {
		o.SilentAfter = 48 * time.Hour
		o.Accounts["sandbox"] = payment.Account{Provider: o.Accounts["sandbox"].Provider, Hears: true}
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	for _, c := range []struct {
		older  time.Duration
		silent int
	}{{47 * time.Hour, 0}, {2 * time.Hour, 1}, {24 * time.Hour, 0}} {
		r.age(t, id, c.older)
		all, err := r.Silent(t.Context())
		require.NoError(t, err)
		require.Len(t, all, c.silent)
	}
}

// What a pay, a question and a capture make of a call that was held back.
func TestCommandsThatAreHeldBack(t *testing.T) {
	t.Parallel()
	p := &tapped{charge: dead(errHeldBack)}
	r := newRig(t, setup{silent: true, provider: p.on})
	first := r.paid(t, "A-1", "tok_success")
	require.Equal(t, notStarted, standingOf(first.Attempt), "nothing was sent: it can be tried anew")
	require.True(t, first.CanStartNew)

	p.charge = dead(errNoAnswer)
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, unknown, standingOf(second.Attempt))
	p.charge = dead(errHeldBack)
	require.Equal(t, unknown, standingOf(r.recheck(t, second.ID).Attempt), "it speaks of this call, not of the one before")
	p.charge = nil
	require.Equal(t, succeeded, standingOf(r.recheck(t, second.ID).Attempt))
	r.audit(t, "A-1")
}
