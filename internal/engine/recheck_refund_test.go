package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
)

func TestRecheckRefund(t *testing.T) {
	t.Parallel()
	t.Run("not_in_a_consistent_list", recheckRefundNotInAConsistentList)
	t.Run("one_runner", recheckRefundOneRunner)
	t.Run("overtaken_leaves_the_lease", recheckRefundOvertakenLeavesTheLease)
	t.Run("age_of_the_call", recheckRefundAgeOfTheCall)
	t.Run("part_carried_out_later", recheckRefundPartCarriedOutLater)
	t.Run("lost_may_show_later", recheckRefundLostMayShowLater)
	t.Run("part_that_may_be_another", recheckRefundPartThatMayBeAnother)
}

// later is an env with T-Bank, which carries refunds out later (SBP's) and reports a refund only
// by how its payment stands.
type later struct {
	*env

	status, cancelled atomic.Pointer[string]
	amount            atomic.Int64
}

func newLater(t *testing.T) *later {
	t.Helper()
	l := &later{}
	body := func(status string) string {
		return fmt.Sprintf(`{"TerminalKey":"t","Success":true,"ErrorCode":"0","Status":%q,"PaymentId":"77","Amount":%d}`, status, l.amount.Load())
	}
	s := answers(t, map[string]func() string{
		"POST /v2/Init":        func() string { return body("NEW") },
		"POST /v2/GetCardList": func() string { return `[{"RebillId":"rebill","Status":"A"}]` },
		"POST /v2/Charge":      func() string { return body("CONFIRMED") },
		"POST /v2/GetState":    func() string { return body(*l.status.Load()) },
		"POST /v2/Cancel":      func() string { return *l.cancelled.Load() },
	})
	client, err := tbank.New(s.URL, "t", "secret", "EUR", s.Client())
	require.NoError(t, err)
	l.env = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return client }})
	l.amount.Store(price)
	return l
}

// took makes a refund that the bank has accepted and not carried out. before is the amount left of the payment in its
// response.
func (l *later) took(t *testing.T, id payment.AttemptID, key string, amount, before int64) payment.Refund {
	t.Helper()
	l.says("ASYNC_REFUNDING", fmt.Sprintf(`{"Success":true,"ErrorCode":"0","Status":"ASYNC_REFUNDING","PaymentId":77,"OriginalAmount":%d,"NewAmount":%d}`, before, before-amount))
	r := l.refundOf(t, id, key, amount)
	require.Equal(t, fsm.RefundPending, r.State)
	return r
}

func (l *later) says(status, cancelled string) {
	l.status.Store(&status)
	l.cancelled.Store(&cancelled)
}

func (l *later) looked(t *testing.T, r payment.Refund) fsm.RefundState {
	t.Helper()
	now, err := l.RecheckRefund(t.Context(), r.ID, byTest)
	require.NoError(t, err)
	return now.State
}

// A part that the bank carries out later shows in the state of the payment, which reports that a
// part was refunded: by the only refund that there is.
func recheckRefundPartCarriedOutLater(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.RefundState{"PARTIAL_REFUNDED": fsm.RefundSucceeded, "CONFIRMED": fsm.RefundFailed} {
		l := newLater(t)
		id := l.paid(t, "A-1", "rebill").ID
		r := l.took(t, id, "refund-key", 700, price)
		for range 12 {
			require.Equal(t, fsm.RefundPending, l.looked(t, r))
		}
		require.Empty(t, l.discrepancies(t, id), "the bank is at work on it")
		l.says(status, "")
		if want == fsm.RefundFailed {
			require.Equal(t, fsm.RefundPending, l.looked(t, r), "it may not show yet")
			l.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '11 minutes', updated_at = updated_at - interval '11 minutes') UPDATE operations SET created_at = created_at - interval '11 minutes', first_sent_at = first_sent_at - interval '11 minutes' WHERE kind = 'refund'")
		}
		require.Equal(t, want, l.looked(t, r), status)
		require.Equal(t, map[fsm.RefundState]int64{fsm.RefundSucceeded: 700}[want], l.attempt(t, id).Refunded)
		require.Empty(t, l.discrepancies(t, id))
		require.Empty(t, l.verify(t))
	}
}

// Nor does one with a lost response have to show at once: were it called not made, the same
// money could be refunded twice.
func recheckRefundLostMayShowLater(t *testing.T) {
	t.Parallel()
	l := newLater(t)
	id := l.paid(t, "A-1", "rebill").ID
	l.says("CONFIRMED", "")
	r := l.refundOf(t, id, "refund-key", 700)
	l.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '9 minutes', updated_at = updated_at - interval '9 minutes') UPDATE operations SET created_at = created_at - interval '9 minutes', first_sent_at = first_sent_at - interval '9 minutes' WHERE kind = 'refund'")
	require.Equal(t, fsm.RefundPending, l.looked(t, r))
	l.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - interval '2 minutes', updated_at = updated_at - interval '2 minutes') UPDATE operations SET created_at = created_at - interval '2 minutes', first_sent_at = first_sent_at - interval '2 minutes' WHERE kind = 'refund'")
	require.Equal(t, fsm.RefundFailed, l.looked(t, r))
	require.Empty(t, l.discrepancies(t, id))
	require.Empty(t, l.verify(t))
}

// Which of several refunds was carried out the bank does not report, nor whether it is one
// beside a refund that was made in its cabinet.
func recheckRefundPartThatMayBeAnother(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]func(l *later, id payment.AttemptID){
		"pending": func(l *later, id payment.AttemptID) { l.took(t, id, "another-key", 300, price) },
		"paid": func(l *later, id payment.AttemptID) {
			l.says("PARTIAL_REFUNDED", `{"Success":true,"ErrorCode":"0","Status":"PARTIAL_REFUNDED","PaymentId":77,"OriginalAmount":1999,"NewAmount":1699}`)
			require.Equal(t, fsm.RefundSucceeded, l.refundOf(t, id, "another-key", 300).State)
		},
		"in the cabinet, before": func(*later, payment.AttemptID) {},
		"in the cabinet, and told of in all": func(l *later, id payment.AttemptID) {
			total := cents(webhooks.KindRefundSucceeded, id, "", 1000)
			total.Cumulative = true
			l.tell(t, total)
			require.EqualValues(t, 300, l.attempt(t, id).Refunded)
		},
		"in the cabinet, meanwhile": func(l *later, _ payment.AttemptID) { l.amount.Store(price - 300) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLater(t)
			id := l.paid(t, "A-1", "rebill").ID
			before := int64(price)
			if name == "in the cabinet, before" {
				before -= 300
			}
			r := l.took(t, id, "refund-key", 700, before)
			another(l, id)
			l.says("PARTIAL_REFUNDED", "")
			require.Equal(t, fsm.RefundPending, l.looked(t, r))
			require.Empty(t, l.verify(t))
		})
	}
}

// How payments are found proves nothing of refunds: Stripe's search trails, its list of a
// payment's refunds does not.
func recheckRefundNotInAConsistentList(t *testing.T) {
	t.Parallel()
	r, p := newListing(t, true)
	id := r.paid(t, "A-1", "tok_success").ID
	now := r.lost(t, id, "refund-1")
	require.Equal(t, fsm.RefundFailed, now.State)
	require.Equal(t, "not_started", now.Failure.Code)
	require.Empty(t, r.discrepancies(t, id))
	p.refund = nil
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, id, "refund-2").State, "the money is free again")

	r, _ = newListing(t, false)
	id = r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundPending, r.lost(t, id, "refund-1").State)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}

// While a runner has a refund no other sends it, and it is not listed as due.
func recheckRefundOneRunner(t *testing.T) {
	t.Parallel()
	r, _ := newListing(t, false)
	made := r.refund(t, r.paid(t, "A-1", "tok_success").ID, "refund-1")
	r.exec(t, "UPDATE operations SET lease_until = now() + interval '1 hour', next_at = now() + interval '1 hour' WHERE kind = 'refund' AND open")
	due := func() []payment.RefundID {
		ids, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		return ids
	}
	require.Empty(t, due())
	_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.ErrorIs(t, err, payment.ErrBusy)
	r.exec(t, "UPDATE operations SET lease_until = now(), next_at = now() WHERE kind = 'refund' AND open")
	require.Equal(t, []payment.RefundID{made.ID}, due())
	now, err := r.RecheckRefund(t.Context(), made.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundPending, now.State)
	require.Equal(t, []int64{2}, rows[int64](t, r, "SELECT fence FROM operations WHERE kind = 'refund'"))
}

// A runner that was overtaken while it sent a refund leaves the lease to the new runner.
func recheckRefundOvertakenLeavesTheLease(t *testing.T) {
	t.Parallel()
	var r *env
	p := &refunding{refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
		r.exec(t, "UPDATE operations SET fence = fence + 1, lease_until = now() + interval '1 minute', next_at = now() + interval '1 minute' WHERE kind = 'refund'")
		return gateway.RefundOutcome{}, errNoAnswer
	}}
	r = newEnv(t, setup{silent: true, provider: p.on})
	made := r.refund(t, r.paid(t, "A-1", "tok_success").ID, "refund-1")
	require.Equal(t, fsm.RefundPending, made.State)
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT lease_until > now() AND next_at = lease_until FROM operations WHERE kind = 'refund'"))
}

// asking keeps the parameters of a provider's last lookup.
type asking struct {
	*refunding

	about gateway.RefundRef
}

func (p *asking) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	p.about = r
	return p.refunding.LookupRefund(ctx, r)
}

// Some providers no longer return a cancelled refund. For a refund that the provider does not find, an adapter needs the
// time of the call, not the time of the decision.
func recheckRefundAgeOfTheCall(t *testing.T) {
	t.Parallel()
	pending := func() (gateway.RefundOutcome, error) {
		return gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_1"}, nil
	}
	p := &asking{refunding: &refunding{lookup: pending, refund: func(func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) { return pending() }}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { p.on(of); return p }, change: func(o *options) {
		account := o.Accounts["sandbox"]
		account.LateMoney = gateway.LateMoneyRefunded
		o.Accounts["sandbox"] = account
	}})
	id := r.paid(t, "A-1", "tok_decline").ID
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	due, err := r.DueRefunds(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	for _, c := range []struct {
		older time.Duration
		want  time.Duration
	}{{2 * time.Hour, 0}, {0, time.Minute}, {20 * time.Minute, 21 * time.Minute}} {
		r.exec(t, "WITH r AS (UPDATE refunds SET created_at = created_at - $1::interval, updated_at = updated_at - $1::interval) UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind = 'refund'", c.older)
		now, err := r.RecheckRefund(t.Context(), due[0], byTest)
		require.NoError(t, err)
		require.Equal(t, fsm.RefundPending, now.State)
		require.LessOrEqual(t, p.about.Age, c.want)
	}
	require.GreaterOrEqual(t, p.about.Age, 20*time.Minute)
}
