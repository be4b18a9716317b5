package payment_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// approving is a provider at whose page the customer only agrees; the money is
// taken when the charge is finished.
type approving struct {
	payment.Provider

	mu       sync.Mutex
	approved bool
	finished []payment.Charge
	// during is called while a lookup is under way.
	during func()
	// deaf providers don't answer a cancellation, refusing ones don't carry it out.
	deaf, refusing bool
}

var _ payment.Provider = (*approving)(nil)

func (p *approving) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

func (p *approving) Charge(_ context.Context, c payment.Charge) (payment.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ProviderPaymentID == "" {
		return payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: "order_" + c.Attempt.String(), NextActionURL: "https://pay.example"}, nil
	}
	if err := c.Licence.Check(); err != nil {
		return payment.Outcome{}, err
	}
	p.finished = append(p.finished, c)
	return payment.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: c.ProviderPaymentID, Money: &c.Money}, nil
}

func (p *approving) Lookup(_ context.Context, id string) (payment.Outcome, error) {
	p.mu.Lock()
	said := payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: id, NextActionURL: "https://pay.example"}
	if p.approved {
		said = payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: id, Approved: true}
	}
	during := p.during
	p.mu.Unlock()
	if during != nil {
		during()
	}
	return said, nil
}

func (p *approving) Cancel(_ context.Context, c payment.Cancel) (payment.Outcome, error) {
	if p.deaf {
		return payment.Outcome{}, errNoAnswer
	}
	if p.refusing {
		return payment.Outcome{News: fsm.NewsActionRequired, ProviderPaymentID: c.ProviderPaymentID, Refused: true}, nil
	}
	return payment.Outcome{News: fsm.NewsFailed, ProviderPaymentID: c.ProviderPaymentID, Failure: payment.NewFailure("canceled", "")}, nil
}

func (p *approving) approve() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approved = true
}

func (p *approving) finishes() []payment.Charge {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.finished)
}

// approval is the webhook that tells of it.
func approval(id payment.AttemptID) webhooks.Event {
	e := event(webhooks.KindProcessing, id.String())
	e.Approved = true
	return e
}

func (r *rig) due(t *testing.T) []payment.AttemptID {
	t.Helper()
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	return due
}

// The customer agreed at the provider; who takes the money is we.
func TestAnApprovedPaymentIsFinishedAtOnce(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "wallet")
	r.recheck(t, paid.ID)
	require.Empty(t, p.finishes())
	require.Empty(t, r.due(t))

	p.approve()
	r.tell(t, approval(paid.ID))
	require.Equal(t, []payment.AttemptID{paid.ID}, r.due(t))
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
	all := p.finishes()
	require.Len(t, all, 1)
	require.Equal(t, paid.ProviderPaymentID, all[0].ProviderPaymentID)
	require.Equal(t, payment.Money{Minor: price, Currency: "EUR"}, all[0].Money)
	require.Empty(t, all[0].Token)
	require.Equal(t, fsm.Stale, r.tell(t, approval(paid.ID))[0])
	require.Empty(t, r.due(t), "a final attempt is not asked about")
}

func TestAnApprovalThatNobodyToldOfIsFoundByTheCheck(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newRig(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "wallet")
	p.approve()
	require.Equal(t, succeeded, standingOf(r.recheck(t, paid.ID).Attempt))
}

// What the customer gave up, or waited for too long, takes no money.
func TestAnApprovalThatIsNoLongerWantedIsNotFinished(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newRig(t, setup{silent: true, provider: p.on})
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

	old := r.paid(t, "A-2", "wallet")
	r.age(t, old.ID, 61*time.Minute)
	require.Equal(t, "awaiting_customer", r.recheck(t, old.ID).Stage())
	require.Equal(t, []payment.AttemptID{old.ID}, r.due(t), "it is given up")
	require.Equal(t, "awaiting_customer", r.recheck(t, old.ID).Stage())
	require.Empty(t, r.due(t), "and asked about on the schedule, not at once for ever")
	require.Empty(t, p.finishes())
}

// The look had begun before the customer agreed, and the webhook came during it.
func TestAnApprovalDuringALookIsNotForgotten(t *testing.T) {
	t.Parallel()
	p := &approving{}
	r := newRig(t, setup{silent: true, provider: p.on})
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

// A notice that names only the payment, and whose fetch tells that the bank took
// the money back.
func TestMoneyTakenBackThatOnlyALookTells(t *testing.T) {
	t.Parallel()
	back := &charger{}
	r := newRig(t, setup{silent: true, provider: back.on})
	paid := r.paid(t, "A-1", "tok_success")
	for range 2 {
		notice := event(webhooks.KindNotice, paid.ProviderPaymentID)
		notice.NeedsFetch, notice.ProviderPaymentID = true, paid.ProviderPaymentID
		require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, notice))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	a := r.attempt(t, paid.ID)
	require.Equal(t, succeeded, standingOf(a))
	require.EqualValues(t, 700, a.AmountDisputed())
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, paid.ID))
	require.ElementsMatch(t, []string{"applied", "repeat"}, r.verdicts(t, paid.ID))
}

// charger is a provider that tells of a chargeback.
type charger struct{ payment.Provider }

func (p *charger) on(of payment.Provider) payment.Provider {
	p.Provider = of
	return p
}

func (p *charger) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	out, err := p.Provider.Lookup(ctx, id)
	out.Movements = []payment.MovementTold{{Kind: payment.Chargeback, Money: payment.Money{Minor: 700, Currency: "EUR"}}}
	return out, err
}
