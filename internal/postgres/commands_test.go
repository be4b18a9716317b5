package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

// TestACommandIsTakenOverAsItsAnswerComes lets a confirm outlive its lease, and
// the same command arrive at another replica just as the provider's answer is to
// be written: both need the key and the attempt.
func TestACommandIsTakenOverAsItsAnswerComes(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	stores := []*postgres.Store{enginetest.Store(t, url), enginetest.Store(t, url)}
	a, provider := authorized(t, stores[0]), newSlow()
	confirm := func(store *postgres.Store) error {
		_, err := hasty(store, provider).Confirm(t.Context(), shop, again, commands.Confirm{AttemptID: a.ID})
		return err
	}
	watch, holder := testdb.Connect(t, url), testdb.Connect(t, url)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- confirm(stores[0]) }()
	<-provider.called
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM payment_attempts FOR NO KEY UPDATE")
	require.NoError(t, err)
	close(provider.answer)
	testdb.Waiting(t, watch, 1)
	go func() { second <- confirm(stores[1]) }()
	testdb.Waiting(t, watch, 2)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	there, err := stores[0].Attempt(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.Succeeded, there.State)
	require.EqualValues(t, 1000, there.Captured)
}

// TestWhatAnOvertakenRunnerBringsIsAFact lets a cancel outlive its lease. A webhook reports that the payment failed. The
// same command at another replica gets that response. Then the first learns that the money was taken.
func TestWhatAnOvertakenRunnerBringsIsAFact(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	a, provider := authorized(t, store), newSlow()
	cancel := func() error {
		_, err := hasty(store, provider).Cancel(t.Context(), shop, again, a.ID)
		return err
	}
	first := make(chan error, 1)
	go func() { first <- cancel() }()
	<-provider.called
	gone := noon
	a.State, a.FinalizedAt, a.Version = fsm.Failed, &gone, 3
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Was: 2, Changed: true})
	})
	require.NoError(t, cancel())
	close(provider.answer)
	require.NoError(t, <-first)

	there, err := store.Attempt(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, fsm.Failed, there.State)
	require.EqualValues(t, 1000, there.Captured)
	require.Equal(t, "late_success", testdb.One[string](t, testdb.Connect(t, url), "SELECT kind FROM discrepancies"))
}

var (
	shop  = authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u1"}
	again = idempotency.Request{User: "u1", Endpoint: "command", Key: "key-00000001"}
)

// hasty is a service whose runners count as dead at once.
func hasty(store *postgres.Store, p gateway.Provider) *engine.Engine {
	return newService(store, p, timing{time.Second, time.Millisecond, soon, time.Second})
}

func authorized(t *testing.T, store *postgres.Store) payment.Attempt {
	t.Helper()
	a := placed(t, store, "o1")
	a.State, a.Authorized, a.ProviderPaymentID, a.Version = fsm.Authorized, 1000, "pp-1", 2
	inTx(t, store, func(ctx context.Context, tx postgres.Tx) error {
		return save(ctx, tx, changeset.AttemptWrite{Attempt: a, Was: 1, Changed: true})
	})
	return a
}

// slow is a provider that responds when the test permits it: the money is taken.
type slow struct {
	gateway.Provider
	called, answer chan struct{}
}

func newSlow() slow { return slow{called: make(chan struct{}, 4), answer: make(chan struct{})} }

func (slow) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		Lookup: payment.LookupByID, Identity: payment.IdentityOwn, Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
	}
}

func (s slow) taken() (gateway.Outcome, error) {
	s.called <- struct{}{}
	<-s.answer
	return gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: "pp-1", Money: &payment.Money{Minor: 1000, Currency: "EUR"}}, nil
}

func (s slow) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) { return s.taken() }

func (s slow) Cancel(context.Context, gateway.Cancel) (gateway.Outcome, error) { return s.taken() }

func (s slow) Lookup(context.Context, string) (gateway.Outcome, error) { return s.taken() }
