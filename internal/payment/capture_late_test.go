package payment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// capturing answers captures as it is told to.
type capturing struct {
	payment.Provider

	says func(c payment.Capture) (payment.Outcome, error)
}

func (p *capturing) Capture(_ context.Context, c payment.Capture) (payment.Outcome, error) {
	o, err := p.says(c)
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, err
}

func newCapturing(t *testing.T) (*rig, *capturing) {
	t.Helper()
	p := &capturing{}
	return newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider {
		p.Provider = of
		return p
	}}), p
}

func (r *rig) confirm(t *testing.T, id payment.AttemptID, key string) error {
	t.Helper()
	_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), payment.Confirm{AttemptID: id})
	return err
}

// Whoever confirmed was answered that the capture is under way: when a check finds
// that it is not, a person is told, each time once.
func TestACaptureThatACheckFindsRefusedIsToldToAPerson(t *testing.T) {
	t.Parallel()
	under := func(payment.Capture) (payment.Outcome, error) { return payment.Outcome{News: fsm.NewsProcessing}, nil }
	lost := func(payment.Capture) (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }
	refused := func(payment.Capture) (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
	}
	for name, c := range map[string]struct {
		first, then func(payment.Capture) (payment.Outcome, error)
		later       time.Duration
	}{
		"refused after all":   {under, refused, time.Minute},
		"never seen there":    {lost, lost, time.Hour},
		"never sent":          {lost, func(payment.Capture) (payment.Outcome, error) { return payment.Outcome{}, payment.ErrUnfit }, time.Minute},
		"refused at a resend": {lost, refused, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := newCapturing(t)
			id := r.held(t, "A-1").ID
			for number, key := range []string{"confirm-key", "second-key"} {
				p.says = c.first
				require.NoError(t, r.confirm(t, id, key))
				require.Len(t, r.open(t, id), number)
				p.says = c.then
				r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - $1::interval", c.later)
				for range 2 {
					r.recheck(t, id)
				}
				a := r.attempt(t, id)
				require.Equal(t, payment.Intent{Number: number + 1}, a.Intent)
				require.Equal(t, "authorized", a.Stage())
				require.Len(t, r.open(t, id), number+1)
				require.NoError(t, r.confirm(t, id, key), "the same press is shown the attempt")

				late := event(webhooks.KindAuthorized, id.String())
				late.ID, late.CaptureRefused = "late-"+key, true
				require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, late), "it is known")
				require.Len(t, r.open(t, id), number+1)
			}
			require.Equal(t, []string{"needs_review", "needs_review"}, r.discrepancies(t, id))
			require.Equal(t, []string{"The capture of this payment was asked for and not carried out. The money is still held: " +
				"see in the provider's dashboard why, then confirm it or cancel it."}, rows[string](t, r, "SELECT DISTINCT text FROM discrepancies"))
			require.Empty(t, r.ledger(t))
			require.Empty(t, r.verify(t))
		})
	}
}

// Who is told in the answer needs no person; nor does what was captured by another way.
func TestARefusalThatTheCallerIsToldOpensNothing(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	p.says = func(payment.Capture) (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
	}
	require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
	require.Equal(t, payment.Intent{Number: 1}, r.attempt(t, id).Intent)

	p.says = func(payment.Capture) (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }
	require.NoError(t, r.confirm(t, id, "second-key"))
	p.says = func(payment.Capture) (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsSucceeded, Refused: true}, nil
	}
	r.recheck(t, id)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// A capture that was under way and is declined afterwards ends the payment, as it
// does in the answer. Until another call with its key could last have been sent that
// may speak of an older one.
func TestACaptureThatALookupFindsDeclinedIsFollowedByItsCancellation(t *testing.T) {
	t.Parallel()
	asked := &answering{lookup: func() (payment.Outcome, error) {
		return payment.Outcome{News: fsm.NewsSoftFailed, Failure: payment.NewFailure("card_declined", "")}, nil
	}}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return asked.on(lostCapture{p}) }})
	id := r.held(t, "A-1").ID
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	for _, c := range []struct {
		age  time.Duration
		want payment.IntentKind
	}{{9 * time.Minute, payment.IntentCapture}, {5 * time.Minute, payment.IntentCapture}, {2 * time.Minute, payment.IntentCancel}} {
		r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - $1::interval", c.age)
		r.recheck(t, id)
		require.Equal(t, c.want, r.attempt(t, id).Intent.Kind, c.age)
	}
	for range 2 { // the provider goes on calling it so
		r.recheck(t, id)
	}
	require.Equal(t, standing{"failed", "final", "card_declined"}, standingOf(r.attempt(t, id)))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
	r.audit(t, "A-1")
}

// A provider may tell late that a capture failed, when the money has been confirmed
// again since. Where it can be asked it is, at once: the new capture is not ended for
// what became of the old one, or it would be made a third time.
func TestTheRefusalOfAnOlderCaptureEndsNoNewerOne(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	failed := map[string]bool{}
	p.says = func(c payment.Capture) (payment.Outcome, error) {
		if failed[c.IdempotencyKey] {
			return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
		}
		return payment.Outcome{News: fsm.NewsProcessing}, nil
	}
	fail := func() { failed[r.captureKey(t, id)] = true }
	due := func() []payment.AttemptID {
		ids, err := r.Due(t.Context(), 10)
		require.NoError(t, err)
		return ids
	}
	told := event(webhooks.KindAuthorized, id.String())
	told.CaptureRefused = true

	require.NoError(t, r.confirm(t, id, "confirm-key"))
	fail()
	r.recheck(t, id)
	require.NoError(t, r.confirm(t, id, "second-key"))
	require.Empty(t, due())
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told))
	require.Equal(t, []payment.AttemptID{id}, due())
	r.recheck(t, id)
	require.Equal(t, payment.IntentCapture, r.attempt(t, id).Intent.Kind)
	require.ErrorIs(t, r.confirm(t, id, "third-key"), payment.ErrBusy)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))

	fail()
	told.ID = "of the new one"
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told))
	require.Equal(t, []payment.AttemptID{id}, due())
	r.recheck(t, id)
	require.Equal(t, payment.Intent{Number: 2}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review", "needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// captureKey is the provider's key of the capture that is under way.
func (r *rig) captureKey(t *testing.T, id payment.AttemptID) string {
	t.Helper()
	i := r.attempt(t, id).Intent
	require.Equal(t, payment.IntentCapture, i.Kind)
	return fmt.Sprintf("%x-capture-%d", id[:], i.Number)
}

// What a runner is told of its capture ends that one only: not the cancellation that took
// its place meanwhile, when a webhook said that the capture was declined.
func TestTheRefusalOfACaptureEndsNoCancellation(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	p.says = func(payment.Capture) (payment.Outcome, error) {
		declined := event(webhooks.KindSoftFailed, id.String())
		declined.CaptureRefused = true
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, declined))
		return payment.Outcome{News: fsm.NewsAuthorized, Refused: true}, nil
	}
	require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
	a := r.attempt(t, id)
	require.Equal(t, payment.IntentCancel, a.Intent.Kind)
	require.Equal(t, 1, a.Intent.Number)
}
