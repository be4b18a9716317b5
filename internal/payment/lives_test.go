package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// The life of a hold begins with it, however old its attempt is by then.
func TestALateAuthorisationHasItsWholeLife(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	r.exec(t, "UPDATE payment_attempts SET created_at = created_at - interval '8 days' WHERE attempt_id = $1", id.String())
	require.Equal(t, "authorized", r.recheck(t, id).Stage())
	require.Equal(t, payment.IntentNone, r.attempt(t, id).Intent.Kind)
}

// What is always held back asks a person all the same, once the schedule would have ended.
func TestWhatIsHeldBackForDaysAsksAPerson(t *testing.T) {
	t.Parallel()
	held := func() (payment.Outcome, error) { return payment.Outcome{}, payment.ErrHeldBack }
	p := &answering{lookup: held, cancel: held}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.tried(t, "tok_never", payment.CaptureAutomatic)
	r.exec(t, "UPDATE payment_attempts SET intent = 'cancel', intent_at = now() WHERE attempt_id = $1", id.String())
	r.age(t, id, 24*time.Hour)
	r.recheck(t, id)
	require.Empty(t, r.discrepancies(t, id))
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '5 days' WHERE attempt_id = $1", id.String())
	r.age(t, id, 4*24*time.Hour)
	r.recheck(t, id)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
}
