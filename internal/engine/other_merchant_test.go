package engine_test

import (
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// stranger is the provider with the credentials of another merchant: it has none of the payments.
type stranger struct {
	gateway.Provider

	calls atomic.Int32
	// shows is another payment with the id that is looked up; nil if there is none.
	shows *gateway.Outcome
}

func (p *stranger) noSuch() error {
	p.calls.Add(1)
	return gateway.ErrNoSuchPayment
}

func (p *stranger) Complete(context.Context, gateway.Completion) (gateway.Outcome, error) {
	return gateway.Outcome{}, p.noSuch()
}

func (p *stranger) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	if p.shows != nil {
		p.shows.ProviderPaymentID = id
		return *p.shows, nil
	}
	return gateway.Outcome{}, p.noSuch()
}

func (p *stranger) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	return gateway.Outcome{}, p.noSuch()
}

func (p *stranger) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, p.noSuch()
}

func (p *stranger) Cancel(context.Context, gateway.Cancel) (gateway.Outcome, error) {
	return gateway.Outcome{}, p.noSuch()
}

func (p *stranger) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, p.noSuch()
}

func (p *stranger) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, p.noSuch()
}

// otherMerchant is another process, whose account has another merchant.
func (r *env) otherMerchant(t *testing.T) (*env, *stranger) {
	t.Helper()
	other := &stranger{Provider: r.opts.Accounts["sandbox"].Provider}
	theirs := &env{dsn: r.dsn, store: r.store, db: r.db, opts: r.opts}
	theirs.service = r.another(t, func(o *options) {
		o.Accounts = maps.Clone(o.Accounts)
		o.Accounts["sandbox"] = gateway.Account{Provider: other, Merchant: 1}
	})
	return theirs, other
}

// TestNoticeOfAnEarlierMerchant: the merchant of now is asked about a notice, and neither that it has no such payment nor that it has
// another one of the same id counts.
func TestNoticeOfAnEarlierMerchant(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_never")
	theirs, other := r.otherMerchant(t)
	theirs.tell(t, hint(webhooks.KindNotice, paid.ProviderPaymentID))
	for range 6 {
		theirs.retry(t, true)
	}
	require.Positive(t, other.calls.Load())
	other.shows = &gateway.Outcome{Event: fsm.EventSucceeded, Money: &payment.Money{Minor: price, Currency: "EUR"}}
	theirs.retry(t, true)
	require.Equal(t, paid.State, r.attempt(t, paid.ID).State)
	require.NotContains(t, rows[string](t, r, "SELECT verdict FROM provider_events"), "ignored")
	r.retry(t, true)
	require.Equal(t, paid.State, r.attempt(t, paid.ID).State, "its own merchant shows it as it is")
}

// TestMerchantReplacedDuringAPay: a pay whose account gets another merchant after its first commit sends nothing, and may be repeated.
func TestMerchantReplacedDuringAPay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	open := r.paid(t, "A-1", "tok_never")
	theirs, other := r.otherMerchant(t)
	a := open.Attempt
	a.Operations = nil
	task := runner.TaskOf(a, a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, time.Now()), payment.Send, "")
	require.Equal(t, gateway.CallNotSent, theirs.Runner.Send(t.Context(), task, theirs.Runner.Permit(), byTest).Outcome)
	require.Zero(t, other.calls.Load())
}

// TestOtherMerchant: nothing is sent to another merchant than the one with which an attempt was begun, by a command, by the due list
// or by a lookup, and its "not found" ends nothing.
func TestOtherMerchant(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	open, held, paid := r.paid(t, "A-1", "tok_never").ID, r.held(t, "A-2").ID, r.paid(t, "A-3", "tok_success").ID
	back := r.refund(t, paid, "first-refund")
	all := []payment.AttemptID{open, held, paid}
	was := map[payment.AttemptID]attempt{}
	for _, id := range all {
		was[id] = r.attempt(t, id)
	}

	theirs, other := r.otherMerchant(t)
	for _, id := range all {
		theirs.recheck(t, id)
		theirs.everyOperation(t, id)
		_, err := theirs.Ask(t.Context(), id, byTest)
		require.NoError(t, err)
		sight, err := theirs.Look(t.Context(), id, byTest)
		require.NoError(t, err)
		require.True(t, sight.Silent)
	}
	_, err := theirs.RecheckRefund(t.Context(), back.ID, byTest)
	require.NoError(t, err)
	refused := func(err error) {
		t.Helper()
		var invalid *payment.ValidationError
		require.ErrorAs(t, err, &invalid)
		require.ErrorContains(t, err, "account: this attempt belongs to another merchant")
	}
	_, err = theirs.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: paid})
	refused(err)
	_, err = theirs.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: held})
	refused(err)
	for i, id := range []payment.AttemptID{open, held} {
		_, err = theirs.Cancel(t.Context(), customer, request("cancel", "cancel-key-"+string(rune('a'+i)), ""), id)
		refused(err)
	}
	require.Zero(t, other.calls.Load())
	for _, id := range all {
		require.Equal(t, was[id].State, r.attempt(t, id).State)
	}

	require.NoError(t, r.confirm(t, held, "confirm-by-ours"))
	require.EqualValues(t, price, r.attempt(t, held).Captured, "the merchant of before goes on")
	theirs.order(t, "A-4")
	fresh, err := try(t.Context(), theirs.service, "A-4", "first-key", "tok_success")
	require.NoError(t, err)
	require.Equal(t, []int{1}, rows[int](t, r, "SELECT merchant FROM payment_attempts WHERE attempt_id = $1", fresh.ID.String()))
	require.Equal(t, []int{0}, rows[int](t, r, "SELECT DISTINCT merchant FROM payment_attempts WHERE attempt_id <> $1", fresh.ID.String()))
}
