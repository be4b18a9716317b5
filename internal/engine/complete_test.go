package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestComplete(t *testing.T) {
	t.Parallel()
	t.Run("at_once", completeAtOnce)
	t.Run("approval_found_by_a_check", completeApprovalFoundByACheck)
	t.Run("not_when_cancelled_or_expired", completeNotWhenCancelledOrExpired)
	t.Run("approval_during_a_lookup", completeApprovalDuringALookup)
}

// approving is a provider with a page on which the customer only approves; the money is captured
// when the charge is completed.
type approving struct {
	gateway.Provider

	mu       sync.Mutex
	approved bool
	finished []gateway.Completion
	// during is called while a lookup is under way.
	during func()
	// With deaf a cancel gets no response, with refusing it is not carried out.
	deaf, refusing bool
}

var _ gateway.Provider = (*approving)(nil)

func (p *approving) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *approving) Charge(_ context.Context, c gateway.Charge) (gateway.Outcome, error) {
	return gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: "order_" + c.Attempt.String(), NextAction: payment.Redirect("https://pay.example")}, nil
}

func (p *approving) Complete(_ context.Context, c gateway.Completion) (gateway.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := c.Permit.Check(); err != nil {
		return gateway.Outcome{}, err
	}
	p.finished = append(p.finished, c)
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: c.ProviderPaymentID, Money: &c.Money}, nil
}

func (p *approving) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	p.mu.Lock()
	said := gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: id, NextAction: payment.Redirect("https://pay.example")}
	if p.approved {
		said = gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: id, Approved: true}
	}
	during := p.during
	p.mu.Unlock()
	if during != nil {
		during()
	}
	return said, nil
}

func (p *approving) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	if p.deaf {
		return gateway.Outcome{}, errNoAnswer
	}
	if p.refusing {
		return gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
	}
	return gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: c.ProviderPaymentID, Failure: payment.NewFailure("canceled", "")}, nil
}

func (p *approving) approve() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved = true
}

func (p *approving) finishes() []gateway.Completion {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.finished)
}

// approval is the webhook that reports it.
func approval(id payment.AttemptID) webhooks.Event {
	e := event(webhooks.KindProcessing, id.String())
	e.Approved = true
	return e
}

func (r *env) due(t *testing.T) []payment.AttemptID {
	t.Helper()
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	return due
}

// rests requires that no attempt is due. It requires nothing if the machine was so busy that the first delay has passed since the time.
func (r *env) rests(t *testing.T, since time.Time, why ...any) {
	t.Helper()
	if due := r.due(t); time.Since(since) < r.opts.RecheckAfter {
		require.Empty(t, due, why...)
	}
}

// The customer approved on the provider's page; completing the charge is up to this side.
func completeAtOnce(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "wallet")
	began := time.Now()
	r.recheck(t, paid.ID)
	require.Empty(t, p.finishes())
	r.rests(t, began)

	p.approve()
	r.tell(t, approval(paid.ID))
	require.Equal(t, []payment.AttemptID{paid.ID}, r.due(t))
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
	all := p.finishes()
	require.Len(t, all, 1)
	require.Equal(t, paid.ProviderPaymentID, all[0].ProviderPaymentID)
	require.Equal(t, payment.Money{Minor: price, Currency: "EUR"}, all[0].Money)
	require.Empty(t, all[0].Details)
	require.Equal(t, fsm.Stale, r.tell(t, approval(paid.ID))[0])
	require.Empty(t, r.due(t), "a final attempt is not asked about")
}

func completeApprovalFoundByACheck(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "wallet")
	p.approve()
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
}

// A charge is not completed once its attempt was cancelled, or has expired.
func completeNotWhenCancelledOrExpired(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	p.approve()
	cancelled := r.paid(t, "A-1", "wallet")
	done, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), cancelled.ID)
	require.NoError(t, err)
	require.True(t, done.Failed())

	p.deaf = true
	wished := r.paid(t, "A-3", "wallet")
	_, err = r.Cancel(t.Context(), customer, request("cancel", "cancel-key-3", ""), wished.ID)
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", r.recheck(t, wished.ID).Stage(), "the wish counts, though nobody has heard it yet")

	r.exec(t, "UPDATE operations SET next_at = now() + interval '1 hour' WHERE attempt_id = $1", wished.ID.String())
	old := r.paid(t, "A-2", "wallet")
	r.age(t, old.ID, 61*time.Minute)
	require.Equal(t, "awaiting_customer", r.recheck(t, old.ID).Stage())
	require.Equal(t, []payment.AttemptID{old.ID}, r.due(t), "it is given up")
	began := time.Now()
	require.Equal(t, "awaiting_customer", r.recheck(t, old.ID).Stage())
	r.rests(t, began, "and asked about on the schedule, not at once for ever")
	require.Empty(t, p.finishes())
}

// The lookup had begun before the customer approved, and the webhook came during it.
func completeApprovalDuringALookup(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "wallet")
	p.during = func() {
		p.approve()
		r.tell(t, approval(paid.ID))
	}
	r.recheck(t, paid.ID)
	p.during = nil
	require.Equal(t, []payment.AttemptID{paid.ID}, r.due(t))
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
}
