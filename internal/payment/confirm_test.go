package payment_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

type refusedCapture struct{ payment.Provider }

func (refusedCapture) Capture(context.Context, payment.Capture) (payment.Outcome, error) {
	return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
}

// A confirm that was refused and is tried again does not pass off as its own a
// capture of another amount that somebody confirmed meanwhile.
func TestAConfirmIsNotAnsweredWithTheCaptureOfAnotherAmount(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	half := int64(500)
	confirm := func(p payment.Provider, key string, amount *int64) error {
		with := r.another(t, func(o *payment.Options) { o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}} })
		_, err := with.Confirm(t.Context(), customer, request("confirm", key, ""), payment.Confirm{AttemptID: id, Amount: amount})
		return err
	}
	p := r.opts.Accounts["sandbox"].Provider
	require.ErrorIs(t, confirm(refusedCapture{p}, "key-of-half", &half), payment.ErrNotCapturable)
	require.NoError(t, confirm(lostCapture{p}, "key-of-all", nil))
	require.ErrorIs(t, confirm(p, "key-of-half", &half), payment.ErrBusy)
	require.Empty(t, r.ledger(t))

	r.recheck(t, id)
	require.EqualValues(t, price, r.attempt(t, id).Captured)
	require.ErrorIs(t, confirm(p, "key-of-half", &half), payment.ErrNotCapturable, "nor once it is made")
	r.audit(t, "A-1")
}
