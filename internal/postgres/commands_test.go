package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/testdb"
)

// TestACommandIsTakenOverAsItsAnswerComes lets a confirm outlive its lease, and
// the same command arrive at another replica just as the provider's answer is to
// be written: both need the key and the attempt.
func TestACommandIsTakenOverAsItsAnswerComes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	stores := []*postgres.Store{open(t, url), open(t, url)}
	a, provider := authorized(t, stores[0]), newSlow()
	confirm := func(store *postgres.Store) error {
		_, err := hasty(store, provider).Confirm(t.Context(), customer, again, payment.Confirm{AttemptID: a.ID})
		return err
	}
	watch, holder := connect(t, url), connect(t, url)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- confirm(stores[0]) }()
	<-provider.called
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM payment_attempts FOR NO KEY UPDATE")
	require.NoError(t, err)
	close(provider.answer)
	waiting(t, watch, 1)
	go func() { second <- confirm(stores[1]) }()
	waiting(t, watch, 2)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	there, err := stores[0].Attempt(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.Succeeded, there.State)
	require.EqualValues(t, 1000, there.Captured)
}

// TestWhatAnOvertakenRunnerBringsIsAFact lets a cancel outlive its lease. A
// webhook says that it failed, the same command at another replica is answered
// by that, and then the first learns that the money was taken.
func TestWhatAnOvertakenRunnerBringsIsAFact(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := open(t, url)
	a, provider := authorized(t, store), newSlow()
	cancel := func() error {
		_, err := hasty(store, provider).Cancel(t.Context(), customer, again, a.ID)
		return err
	}
	first := make(chan error, 1)
	go func() { first <- cancel() }()
	<-provider.called
	gone := noon
	a.State, a.FinalizedAt, a.NextCheckAt, a.Version = fsm.Failed, &gone, nil, 3
	inTx(t, store, func(ctx context.Context, tx payment.Tx) error {
		held, err := tx.AttemptLock(ctx, a.ID)
		if err != nil {
			return err
		}
		a.Fence = held.Fence
		return tx.SaveChanges(ctx, []payment.Change{{Attempt: a, Was: 2}})
	})
	require.NoError(t, cancel())
	close(provider.answer)
	require.NoError(t, <-first)

	there, err := store.Attempt(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.Failed, there.State)
	require.EqualValues(t, 1000, there.Captured)
	require.Equal(t, "late_success", one[string](t, connect(t, url), "SELECT kind FROM discrepancies"))
}

var (
	customer = payment.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleCustomer}}
	again    = idempotency.Request{User: "u1", Endpoint: "command", Key: "key-00000001"}
)

// hasty is a service whose runners are taken for dead at once.
func hasty(store *postgres.Store, p payment.Provider) *payment.Service {
	return payment.New(payment.Options{
		Store: store, Accounts: map[string]payment.Account{"acc": {Provider: p}},
		Wait: time.Second, Lease: time.Millisecond, ProviderTimeout: soon, RecheckAfter: time.Second, Now: time.Now,
	})
}

func authorized(t *testing.T, store *postgres.Store) payment.Attempt {
	t.Helper()
	a := placed(t, store, "o1")
	a.State, a.Authorized, a.ProviderPaymentID, a.Version = fsm.Authorized, 1000, "pp-1", 2
	inTx(t, store, func(ctx context.Context, tx payment.Tx) error {
		return tx.SaveChanges(ctx, []payment.Change{{Attempt: a, Was: 1}})
	})
	return a
}

// slow is a provider that answers when it is told to: the money is taken.
type slow struct {
	payment.Provider
	called, answer chan struct{}
}

func newSlow() slow { return slow{called: make(chan struct{}, 4), answer: make(chan struct{})} }

func (slow) Capabilities() payment.Capabilities {
	return payment.Capabilities{Capture: true, Cancel: true}
}

func (s slow) taken() (payment.Outcome, error) {
	s.called <- struct{}{}
	<-s.answer
	return payment.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: "pp-1", Money: &payment.Money{Minor: 1000, Currency: "EUR"}}, nil
}

func (s slow) Capture(context.Context, payment.Capture) (payment.Outcome, error) { return s.taken() }

func (s slow) Cancel(context.Context, payment.Cancel) (payment.Outcome, error) { return s.taken() }

func (s slow) Lookup(context.Context, string) (payment.Outcome, error) { return s.taken() }
