package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestCapture(t *testing.T) {
	t.Parallel()
	t.Run("refused_in_a_check", captureRefusedInACheck)
	t.Run("refused_in_the_response", captureRefusedInTheResponse)
	t.Run("refused_for_another_amount", captureRefusedForAnotherAmount)
	t.Run("declined_in_a_lookup", captureDeclinedInALookup)
	t.Run("refusal_of_an_older_one", captureRefusalOfAnOlderOne)
	t.Run("refusal_ends_no_cancel", captureRefusalEndsNoCancel)
	t.Run("lost", captureLost)
	t.Run("not_shown_yet", captureNotShownYet)
}

// capturing is a provider with captures that the test chooses.
type capturing struct {
	gateway.Provider

	says func(c gateway.Capture) (gateway.Outcome, error)
}

func (p *capturing) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o, err := p.says(c)
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, err
}

func newCapturing(t *testing.T) (*env, *capturing) {
	t.Helper()
	p := &capturing{}
	return newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.Provider = of
		return p
	}}), p
}

func (r *env) confirm(t *testing.T, id payment.AttemptID, key string) error {
	t.Helper()
	_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), commands.Confirm{AttemptID: id})
	return err
}

// The response to the confirm was that the capture is under way: when a check finds that it is
// not, a discrepancy is opened, each time once.
func captureRefusedInACheck(t *testing.T) {
	t.Parallel()
	under := func(gateway.Capture) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventProcessing}, nil
	}
	lost := func(gateway.Capture) (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
	refused := func(gateway.Capture) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
	}
	for name, c := range map[string]struct {
		first, then func(gateway.Capture) (gateway.Outcome, error)
		later       time.Duration
	}{
		"refused after all": {under, refused, time.Minute},
		"never seen there":  {lost, lost, time.Hour},
		"never sent": {lost, func(gateway.Capture) (gateway.Outcome, error) {
			return gateway.Outcome{}, gateway.ErrUnsupportedRequest
		}, time.Minute},
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
				r.exec(t, "UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind IN ('capture', 'cancel')", c.later)
				for range 2 {
					r.recheck(t, id)
				}
				a := r.attempt(t, id)
				require.Equal(t, intent{Number: number + 1}, a.Intent)
				require.Equal(t, "authorized", a.Stage())
				require.Len(t, r.open(t, id), number+1)
				require.NoError(t, r.confirm(t, id, key), "the same press is shown the attempt")

				late := event(webhooks.KindAuthorized, id.String())
				late.ID, late.Refuses = "late-"+key, webhooks.CommandCapture
				require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, late), "it is known")
				require.Len(t, r.open(t, id), number+1)
			}
			require.Equal(t, []string{"needs_review", "needs_review"}, r.discrepancies(t, id))
			require.Equal(t, []string{"The capture of this payment was requested and not executed. The money is still held. " +
				"Find the reason in the provider's dashboard, then confirm or cancel the payment."}, rows[string](t, r, "SELECT DISTINCT text FROM discrepancies"))
			require.Empty(t, r.ledger(t))
			require.Empty(t, r.verify(t))
		})
	}
}

// Neither a refusal in the response nor a capture by another way opens a discrepancy.
func captureRefusedInTheResponse(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	p.says = func(gateway.Capture) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
	}
	require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
	require.Equal(t, intent{Number: 1}, r.attempt(t, id).Intent)

	p.says = func(gateway.Capture) (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }
	require.NoError(t, r.confirm(t, id, "second-key"))
	p.says = func(gateway.Capture) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSucceeded, Refused: true}, nil
	}
	r.recheck(t, id)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// If another amount was captured in the dashboard than the confirmed amount, a discrepancy is opened, though the
// provider refuses the call.
func captureRefusedForAnotherAmount(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	p.says = func(gateway.Capture) (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSucceeded, Money: &payment.Money{Minor: 500, Currency: "EUR"}, Refused: true}, nil
	}
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	a := r.attempt(t, id)
	require.Equal(t, "pending", standingOf(a.Attempt).status, "nothing of ours has asked for that part")
	require.EqualValues(t, 500, a.Captured)
	require.Equal(t, []string{"amount_mismatch"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
	require.Empty(t, r.verify(t))
}

// A capture that was under way and is declined afterwards ends the payment, as it does in the
// response. Until another call with its key could last have been sent the decline may be of an
// older one.
func captureDeclinedInALookup(t *testing.T) {
	t.Parallel()
	asked := &answering{lookup: func() (gateway.Outcome, error) {
		return gateway.Outcome{Event: fsm.EventSoftFailed, Failure: payment.NewFailure("card_declined", "")}, nil
	}}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return asked.on(lostCapture{p}) }})
	id := r.held(t, "A-1").ID
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	for _, c := range []struct {
		age  time.Duration
		want payment.OperationKind
	}{{9 * time.Minute, payment.OperationCapture}, {5 * time.Minute, payment.OperationCapture}, {2 * time.Minute, payment.OperationCancel}} {
		r.exec(t, "UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind IN ('capture', 'cancel')", c.age)
		r.recheck(t, id)
		require.Equal(t, c.want, r.attempt(t, id).Intent.Kind, c.age)
	}
	for range 2 { // the provider goes on reporting it so
		r.recheck(t, id)
	}
	require.Equal(t, standing{"failed", "final", "card_declined"}, standingOf(r.attempt(t, id).Attempt))
	require.Nil(t, r.attempt(t, id).NextCheckAt)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
	r.audit(t, "A-1")
}

// A provider may report late that a capture failed, when the money has been confirmed again since. The payment is looked
// up at once where possible. The failure of the old capture must not end the new one, or a third capture would be made.
func captureRefusalOfAnOlderOne(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	failed := map[string]bool{}
	p.says = func(c gateway.Capture) (gateway.Outcome, error) {
		if failed[c.IdempotencyKey] {
			return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
		}
		return gateway.Outcome{Event: fsm.EventProcessing}, nil
	}
	fail := func() { failed[r.captureKey(t, id)] = true }
	told := event(webhooks.KindAuthorized, id.String())
	told.Refuses = webhooks.CommandCapture

	require.NoError(t, r.confirm(t, id, "confirm-key"))
	fail()
	r.recheck(t, id)
	began := time.Now()
	require.NoError(t, r.confirm(t, id, "second-key"))
	r.rests(t, began)
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told))
	require.Equal(t, []payment.AttemptID{id}, r.due(t))
	r.recheck(t, id)
	require.Equal(t, payment.OperationCapture, r.attempt(t, id).Intent.Kind)
	require.ErrorIs(t, r.confirm(t, id, "third-key"), payment.ErrBusy)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))

	fail()
	told.ID = "of the new one"
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told))
	require.Equal(t, []payment.AttemptID{id}, r.due(t))
	r.recheck(t, id)
	require.Equal(t, intent{Number: 2}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review", "needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// captureKey is the provider's key of the capture that is under way.
func (r *env) captureKey(t *testing.T, id payment.AttemptID) string {
	t.Helper()
	i := r.attempt(t, id).Intent
	require.Equal(t, payment.OperationCapture, i.Kind)
	return fmt.Sprintf("%x-capture-%d", id[:], i.Number)
}

// The result of a runner's capture ends that one only: not the cancel that took its place
// meanwhile, when a webhook reported that the capture was declined.
func captureRefusalEndsNoCancel(t *testing.T) {
	t.Parallel()
	r, p := newCapturing(t)
	id := r.held(t, "A-1").ID
	p.says = func(gateway.Capture) (gateway.Outcome, error) {
		declined := event(webhooks.KindSoftFailed, id.String())
		declined.Refuses = webhooks.CommandCapture
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, declined))
		return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
	}
	require.ErrorIs(t, r.confirm(t, id, "confirm-key"), payment.ErrNotCapturable)
	a := r.attempt(t, id)
	require.Equal(t, payment.OperationCancel, a.Intent.Kind)
	require.Equal(t, 1, a.Intent.Number)
}

// A capture with a lost result stays open while it may still arrive: with its number gone the
// next one would be another capture.
func captureLost(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	deaf := r.another(t, func(o *options) {
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: lostCapture{o.Accounts["sandbox"].Provider}}}
	})
	_, err := deaf.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	for _, c := range []struct {
		age  time.Duration
		want payment.OperationKind
	}{{9 * time.Minute, payment.OperationCapture}, {2 * time.Minute, payment.OperationCapture}, {5 * time.Minute, payment.OperationKind("")}} {
		r.exec(t, "UPDATE operations SET created_at = created_at - $1::interval, first_sent_at = first_sent_at - $1::interval WHERE kind IN ('capture', 'cancel')", c.age)
		_, err := deaf.Recheck(t.Context(), id, byTest)
		require.NoError(t, err)
		require.Equal(t, c.want, r.attempt(t, id).Intent.Kind)
	}
	require.Equal(t, 1, r.attempt(t, id).Intent.Number)
	require.Empty(t, r.ledger(t))
	_, err = r.Confirm(t.Context(), customer, request("confirm", "other-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	r.audit(t, "A-1")
}

// Some providers accept a capture and carry it out hours later. So an authorized payment does not prove that no capture
// exists.
func captureNotShownYet(t *testing.T) {
	t.Parallel()
	slow := &answering{can: func(c *payment.Capabilities) { c.CapturesSeen = false }}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return slow.on(lostCapture{p}) }})
	id := r.held(t, "A-1").ID
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '1 day', first_sent_at = first_sent_at - interval '1 day' WHERE kind IN ('capture', 'cancel')")
	r.recheck(t, id)
	require.Equal(t, intent{Kind: payment.OperationCapture, Amount: price, At: r.attempt(t, id).Intent.At}, r.attempt(t, id).Intent)
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
}

// lostCapture is a provider that captures never reach.
type lostCapture struct{ gateway.Provider }

func (lostCapture) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, errNoAnswer
}
