package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	t.Run("twice_captures_once", confirmTwiceCapturesOnce)
	t.Run("against_cancel", confirmAgainstCancel)
	t.Run("captured_already", confirmCapturedAlready)
	t.Run("parameters_of_the_calls", confirmParametersOfTheCalls)
	t.Run("after_a_capture_of_another_amount", confirmAfterACaptureOfAnotherAmount)
	t.Run("unsendable_amount", confirmUnsendableAmount)
	t.Run("captured_with_another_amount", confirmCapturedWithAnotherAmount)
	t.Run("more_than_the_payment", confirmMoreThanThePayment)
	t.Run("capture_refused_afterwards", confirmCaptureRefusedAfterwards)
	t.Run("replayed_refusal_ends_no_newer_capture", confirmReplayedRefusalEndsNoNewerCapture)
	t.Run("declined_capture_is_cancelled", confirmDeclinedCaptureIsCancelled)
	t.Run("carried_out_by_the_reconciler", confirmCarriedOutByTheReconciler)
}

type refusedCapture struct{ gateway.Provider }

func (refusedCapture) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{Event: fsm.EventAuthorized, Refused: true}, nil
}

// A confirm that was refused and is tried again does not return as its own a capture of another
// amount that was confirmed meanwhile.
func confirmAfterACaptureOfAnotherAmount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	half := int64(500)
	confirm := func(p gateway.Provider, key string, amount *int64) error {
		with := r.another(t, func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}} })
		_, err := with.Confirm(t.Context(), customer, request("confirm", key, ""), commands.Confirm{AttemptID: id, Amount: amount})
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

// An amount that the provider is never sent may be changed by the caller, at once, also where
// the payment can't be looked up.
func confirmUnsendableAmount(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(p gateway.Provider) gateway.Provider{
		"asked":       func(p gateway.Provider) gateway.Provider { return p },
		"can't be":    func(p gateway.Provider) gateway.Provider { return &blind{Provider: p} },
		"not reached": func(p gateway.Provider) gateway.Provider { return (&answering{lookup: noAnswer}).on(p) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return wholeOnly{of(p)} }})
			id := r.held(t, "A-1").ID
			confirm := func(amount *int64) (commands.Reply, error) {
				content := "" // another amount is another request
				if amount != nil {
					content = strconv.FormatInt(*amount, 10)
				}
				return r.Confirm(t.Context(), customer, request("confirm", "confirm-key", content), commands.Confirm{AttemptID: id, Amount: amount})
			}
			half := int64(999)
			_, err := confirm(&half)
			var invalid *payment.ValidationError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, "amount", invalid.Fields[0].Field)
			require.Equal(t, intent{Number: 1}, r.attempt(t, id).Intent)
			require.Equal(t, "authorized", r.attempt(t, id).Stage())

			_, err = confirm(nil)
			require.NoError(t, err)
			require.Len(t, r.ledger(t), 1)
			require.Empty(t, r.verify(t))
		})
	}
}

func noAnswer() (gateway.Outcome, error) { return gateway.Outcome{}, errNoAnswer }

// wholeOnly is a provider that captures no part of the money.
type wholeOnly struct{ gateway.Provider }

func (p wholeOnly) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	if !c.Whole {
		return gateway.Outcome{}, gateway.ErrUnsupportedRequest
	}
	return p.Provider.Capture(ctx, c)
}

// A capture of another amount than was confirmed opens a discrepancy, once, whichever report comes first. It has paid the
// order if it is the whole amount.
func confirmCapturedWithAnotherAmount(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	part, all := int64(700), int64(price)
	for order, c := range map[payment.OrderID]struct {
		asked  *int64
		taken  int64
		opened []string
	}{
		"all for a part":      {&part, price, []string{"amount_mismatch"}},
		"less for a part":     {&part, 600, []string{"amount_mismatch"}},
		"a part for all":      {&all, 1, []string{"amount_mismatch"}},
		"a part, not said":    {nil, 1, []string{"amount_mismatch"}},
		"the part":            {&part, 700, []string{}},
		"all, where not said": {nil, price, []string{}},
	} {
		for _, first := range []string{"answer", "webhook"} {
			id := r.held(t, order+payment.OrderID(" by "+first)).ID
			took := gateway.Outcome{Event: fsm.EventSucceeded, Money: &payment.Money{Minor: c.taken, Currency: "EUR"}}
			var p gateway.Provider = decliningCapture{r.opts.Accounts["sandbox"].Provider, took}
			if first == "webhook" {
				p = lostCapture{p}
			}
			with := r.another(t, func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {Provider: p}} })
			_, err := with.Confirm(t.Context(), customer, request("confirm", "key-"+id.String(), ""), commands.Confirm{AttemptID: id, Amount: c.asked})
			require.NoError(t, err, order)
			told := event(webhooks.KindSucceeded, id.String())
			told.Money.Minor = c.taken
			want, verdicts := succeeded, map[string]fsm.Verdict{"answer": fsm.Repeat, "webhook": fsm.Applied}
			if c.taken < price && len(c.opened) > 0 {
				want, verdicts["webhook"] = standing{"pending", "requested", ""}, fsm.Conflict // nothing is on hold any more
			}
			require.Equal(t, []fsm.Verdict{verdicts[first]}, r.tell(t, told), order)
			told.ID += "-again"
			require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told), order)

			require.Equal(t, want, standingOf(r.attempt(t, id).Attempt), order)
			require.Equal(t, c.taken, r.attempt(t, id).Captured, order)
			require.Equal(t, c.opened, r.discrepancies(t, id), order)
		}
	}
	require.Contains(t, rows[string](t, r, "SELECT DISTINCT text FROM discrepancies"),
		"The captured amount differs from the requested amount. Compare the amounts in the provider's dashboard, and correct the difference with the customer.")
	require.Empty(t, r.verify(t))
}

// A capture elsewhere of more than the amount pays the order. A discrepancy is opened, and a confirm takes no more
// money.
func confirmMoreThanThePayment(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	odd := event(webhooks.KindSucceeded, id.String())
	odd.Money.Minor = 2500
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, odd))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
	_, err := r.Confirm(t.Context(), customer, request("confirm", "key-of-more", ""), commands.Confirm{AttemptID: id, Amount: &odd.Money.Minor})
	require.ErrorIs(t, err, payment.ErrNotCapturable)
	require.Empty(t, r.ledger(t))
	require.Empty(t, r.verify(t))
}

// A provider that accepted a capture and then does not carry it out leaves the money held: it
// can be confirmed again, and a discrepancy is opened. The refusal is stale once the payment is
// over.
func confirmCaptureRefusedAfterwards(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	confirm := func(key string) error {
		_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), commands.Confirm{AttemptID: id})
		return err
	}
	refused := func(name string) webhooks.Event {
		e := event(webhooks.KindAuthorized, id.String())
		e.ID, e.Refuses = name, webhooks.CommandCapture
		return e
	}
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, refused("nobody's")), "nobody here asked for one")
	require.NoError(t, confirm("confirm-key"))
	require.ErrorIs(t, confirm("second-key"), payment.ErrBusy)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, refused("ours")))
	require.Equal(t, intent{Number: 1}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, "authorized", r.attempt(t, id).Stage())

	require.NoError(t, confirm("second-key"))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, refused("late")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Empty(t, r.verify(t))
}

// The refusal of a capture that was tried again since ends no newer one, however often it is
// replayed.
func confirmReplayedRefusalEndsNoNewerCapture(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	confirm := func(key string) {
		_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), commands.Confirm{AttemptID: id})
		require.NoError(t, err)
	}
	refused := event(webhooks.KindAuthorized, id.String())
	refused.Refuses = webhooks.CommandCapture
	confirm("confirm-key")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, refused))
	confirm("second-key")
	under := r.attempt(t, id).Intent
	require.Equal(t, 1, under.Number)

	stored, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events")[0])
	require.NoError(t, err)
	done, err := r.Replay(t.Context(), intake.Replay{ID: stored})
	require.NoError(t, err)
	require.Equal(t, fsm.Repeat, done.Verdict)
	require.Equal(t, webhooks.CommandCapture, done.Event.Event.Refuses)
	require.Equal(t, under, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, []string{"applied"}, r.verdicts(t, id))
}

// Where the payment can't survive it the attempt is cancelled, whether the refusal comes by a
// webhook or in the response.
func confirmDeclinedCaptureIsCancelled(t *testing.T) {
	t.Parallel()
	declined := gateway.Outcome{Event: fsm.EventSoftFailed, Refused: true, Failure: payment.NewFailure("card_declined", "")}
	for name, atOnce := range map[string]bool{"by a webhook": false, "in the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
				if atOnce {
					return decliningCapture{p, declined}
				}
				return lostCapture{p}
			}})
			id := r.held(t, "A-1").ID
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
			if atOnce {
				require.ErrorIs(t, err, payment.ErrNotCapturable)
			} else {
				require.NoError(t, err)
				e := event(webhooks.KindSoftFailed, id.String())
				e.Refuses, e.FailureCode = webhooks.CommandCapture, "card_declined"
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
			}
			require.Equal(t, payment.OperationCancel, r.attempt(t, id).Intent.Kind)
			r.recheck(t, id)
			require.Equal(t, standing{"failed", "final", "card_declined"}, standingOf(r.attempt(t, id).Attempt))
			require.Empty(t, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
			r.audit(t, "A-1")
		})
	}
}

// decliningCapture returns an outcome for a capture.
type decliningCapture struct {
	gateway.Provider

	says gateway.Outcome
}

func (p decliningCapture) Capture(_ context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o := p.says
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, nil
}

// A confirm with a runner that died, and that the reconciler has carried out, has succeeded.
func confirmCarriedOutByTheReconciler(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	mortal := r.another(t, func(o *options) {
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: deadly{o.Accounts["sandbox"].Provider}}}
	})
	confirm := func(s *service) (commands.Reply, error) {
		return s.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	}
	require.PanicsWithValue(t, "killed", func() { _, _ = confirm(mortal) })
	r.age(t, id, lease)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = now() WHERE endpoint = 'confirm'")
	require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
	for range 2 {
		p, err := confirm(r.service)
		require.NoError(t, err)
		require.Equal(t, idempotency.Reused, p.Result)
		require.Equal(t, succeeded, standingOf(p.Attempt))
	}
	require.Len(t, r.ledger(t), 1)
}

// deadly is a provider that kills the runner of a capture.
type deadly struct{ gateway.Provider }

func (deadly) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) { panic("killed") }

// Capture and cancel that are requested twice reach the provider once (open-mercato #4036).
func confirmTwiceCapturesOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 10 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		p := r.held(t, order)
		half := int64(500)
		race(times(8, func(i int) {
			s := []*service{r.service, second}[i%2]
			_, err := s.Confirm(t.Context(), customer, request("confirm", fmt.Sprintf("key-of-%s", order), ""), commands.Confirm{AttemptID: p.ID, Amount: &half})
			if err != nil && !errors.Is(err, payment.ErrBusy) && !errors.Is(err, idempotency.ErrInProgress) {
				t.Error(err)
			}
		})...)
		a := r.attempt(t, p.ID)
		require.Equal(t, succeeded, standingOf(a.Attempt))
		require.Equal(t, half, a.Captured)
		r.audit(t, order)
	}
	require.Len(t, r.ledger(t), 10)
}

func confirmAgainstCancel(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	second := r.another(t, nil)
	for round := range 20 {
		order := payment.OrderID(fmt.Sprintf("A-%d", round))
		p := r.held(t, order)
		race(func() {
			_, _ = r.Confirm(t.Context(), customer, request("confirm", "confirm-key-"+string(order), ""), commands.Confirm{AttemptID: p.ID})
		}, func() {
			_, _ = second.Cancel(t.Context(), customer, request("cancel", "cancel-key-"+string(order), ""), p.ID)
		})
		a := r.attempt(t, p.ID)
		require.True(t, a.State.Final(), a.State)
		r.audit(t, order)
	}
}

// The payment was captured in the provider's dashboard: the confirm that the provider therefore
// refuses has succeeded.
func confirmCapturedAlready(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return capturedByHand{p} }})
	id := r.held(t, "A-1").ID
	for range 2 {
		p, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
		require.NoError(t, err)
		require.Equal(t, succeeded, standingOf(p.Attempt))
	}
	require.Len(t, r.ledger(t), 1)
}

// capturedByHand is a provider with a dashboard in which the payment is captured a moment
// earlier.
type capturedByHand struct{ gateway.Provider }

func (p capturedByHand) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	byHand := c
	byHand.IdempotencyKey = "by hand"
	if _, err := p.Provider.Capture(ctx, byHand); err != nil {
		return gateway.Outcome{}, err
	}
	return p.Provider.Capture(ctx, c)
}

// A charge has its customer, and a capture whether it is of all that is held: some providers
// take a part in another way.
func confirmParametersOfTheCalls(t *testing.T) {
	t.Parallel()
	told := &listener{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider {
		told.Provider = p
		return told
	}})
	half, whole := int64(500), int64(price)
	for order, c := range map[payment.OrderID]struct {
		amount *int64
		whole  bool
	}{"A-1": {nil, true}, "A-2": {&whole, true}, "A-3": {&half, false}} {
		p := r.held(t, order)
		require.Equal(t, "u1", told.charge.Customer.Reference)
		_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-"+string(order), ""), commands.Confirm{AttemptID: p.ID, Amount: c.amount})
		require.NoError(t, err)
		require.Equal(t, c.whole, told.capture.Whole, order)
		r.audit(t, order)
	}
}

// listener keeps the parameters of the last calls.
type listener struct {
	gateway.Provider

	charge  gateway.Charge
	capture gateway.Capture
}

func (l *listener) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	l.charge = c
	return l.Provider.Charge(ctx, c)
}

func (l *listener) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	l.capture = c
	return l.Provider.Capture(ctx, c)
}
