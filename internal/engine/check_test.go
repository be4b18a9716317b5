package engine_test

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	t.Run("asks_at_once", checkAsksAtOnce)
	t.Run("asks_once_in_three_seconds", checkAsksOnceInThreeSeconds)
	t.Run("puts_no_lookup_off", checkPutsNoLookupOff)
	t.Run("is_limited_by_user", checkIsLimitedByUser)
	t.Run("leaves_what_nobody_answers", checkLeavesWhatNobodyAnswers)
	t.Run("is_of_owner_service_and_bearer", checkIsOfOwnerServiceAndBearer)
}

// stopped stops a process's clock. The returned function moves this clock on. The database's own clock goes on.
func stopped(o *options) (passes func(time.Duration)) {
	var later atomic.Int64
	began := time.Now()
	o.Now = func() time.Time { return began.Add(time.Duration(later.Load())) }
	return func(d time.Duration) { later.Add(int64(d)) }
}

// clockTx is a transaction that takes its time from a process's clock.
type clockTx struct {
	allTx

	now func() time.Time
}

func (t clockTx) Now() time.Time { return t.now() }

// However often a page asks, the next lookup of the schedule is due soon.
func checkPutsNoLookupOff(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_redirect").ID
	for range payment.LastTry + 1 {
		r.recheck(t, id)
	}
	next := rows[time.Time](t, r, "SELECT next_at FROM operations WHERE attempt_id = $1 AND open", id.String())
	require.Len(t, next, 1)
	require.WithinDuration(t, time.Now(), next[0], 10*time.Minute)
}

// The customer has paid on the provider's page, no webhook came, and the schedule is far from asking.
func checkAsksAtOnce(t *testing.T) {
	t.Parallel()
	look := &answering{}
	r := newEnv(t, setup{silent: true, provider: look.on})
	p := r.paid(t, "A-1", "tok_redirect")
	require.Equal(t, "awaiting_customer", p.Stage())
	look.lookup = says(fsm.EventSucceeded)
	v, err := r.Check(t.Context(), customer, p.ID)
	require.NoError(t, err)
	require.True(t, v.Succeeded())
	require.EqualValues(t, 1, look.lookups.Load())

	v, err = r.Check(t.Context(), customer, p.ID)
	require.NoError(t, err)
	require.True(t, v.Succeeded())
	require.EqualValues(t, 1, look.lookups.Load(), "a final attempt asks nobody")
}

// A customer with any number of pending payments causes few lookups at the provider. Other customers' payments are
// looked up.
func checkIsLimitedByUser(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventActionRequired)}
	r := newEnv(t, setup{silent: true, provider: look.on, change: func(o *options) { stopped(o) }})
	for i := range 14 {
		id := r.paid(t, payment.OrderID("A-"+strconv.Itoa(i)), "tok_redirect").ID
		by := customer
		if i%2 == 0 { // a page that has only its status token
			by = authz.Actor{OnlyAttempt: &id}
		}
		v, err := r.Check(t.Context(), by, id)
		require.NoError(t, err)
		require.Equal(t, "awaiting_customer", v.Stage())
	}
	require.EqualValues(t, 10, look.lookups.Load())
	id := r.paid(t, "B-1", "tok_redirect").ID
	_, err := r.Check(t.Context(), authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}}, id)
	require.NoError(t, err)
	require.EqualValues(t, 11, look.lookups.Load(), "the shop is no stranger")
}

func checkAsksOnceInThreeSeconds(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: says(fsm.EventActionRequired)}
	var passes func(time.Duration)
	r := newEnv(t, setup{silent: true, provider: look.on, change: func(o *options) {
		passes = stopped(o)
		now := o.Now
		o.Store = spyStore{store: o.Store, wrap: func(tx allTx) allTx { return clockTx{tx, now} }}
	}})
	id := r.paid(t, "A-1", "tok_redirect").ID
	for range 5 {
		v, err := r.Check(t.Context(), customer, id)
		require.NoError(t, err)
		require.Equal(t, "awaiting_customer", v.Stage())
	}
	require.EqualValues(t, 1, look.lookups.Load())
	_, err := r.another(t, nil).Check(t.Context(), customer, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, look.lookups.Load(), "nor by another process")
	other := r.paid(t, "A-2", "tok_redirect").ID
	_, err = r.Check(t.Context(), customer, other)
	require.NoError(t, err)
	require.EqualValues(t, 2, look.lookups.Load(), "another attempt has its own")
	passes(3 * time.Second)
	_, err = r.Check(t.Context(), customer, id)
	require.NoError(t, err)
	require.EqualValues(t, 3, look.lookups.Load())
}

// Neither a provider that is away nor a runner that is at work with the attempt is the caller's error.
func checkLeavesWhatNobodyAnswers(t *testing.T) {
	t.Parallel()
	look := &answering{lookup: func() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }}
	r := newEnv(t, setup{silent: true, provider: look.on})
	id := r.paid(t, "A-1", "tok_redirect").ID
	v, err := r.Check(t.Context(), customer, id)
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", v.Stage())
	require.Nil(t, v.Failure)

	busy := r.paid(t, "A-2", "tok_redirect").ID
	r.exec(t, "UPDATE operations SET lease_until = now() + interval '1 hour' WHERE attempt_id = $1", busy.String())
	v, err = r.Check(t.Context(), customer, busy)
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", v.Stage())
	require.EqualValues(t, 1, look.lookups.Load())
}

func checkIsOfOwnerServiceAndBearer(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_redirect").ID
	for name, who := range map[string]authz.Actor{
		"owner": customer, "service": {Subject: "shop", Roles: []payment.Role{payment.RoleService}}, "bearer": {OnlyAttempt: &id},
	} {
		_, err := r.Check(t.Context(), who, id)
		require.NoError(t, err, name)
	}
	for name, who := range map[string]authz.Actor{
		"another customer": {Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}}, "support": sam,
		"bearer of another": {OnlyAttempt: new(payment.AttemptID)},
	} {
		_, err := r.Check(t.Context(), who, id)
		require.ErrorIs(t, err, payment.ErrForbidden, name)
	}
}
