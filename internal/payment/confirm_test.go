package payment_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
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

// An amount that the provider is never sent is the caller's to change, at once, also
// where the provider can't be asked how the payment stands.
func TestAnAmountThatIsNeverSentBlocksNoConfirm(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(p payment.Provider) payment.Provider{
		"asked":       func(p payment.Provider) payment.Provider { return p },
		"can't be":    func(p payment.Provider) payment.Provider { return &blind{Provider: p} },
		"not reached": func(p payment.Provider) payment.Provider { return (&answering{lookup: noAnswer}).on(p) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return wholeOnly{of(p)} }})
			id := r.held(t, "A-1").ID
			confirm := func(amount *int64) (payment.Reply, error) {
				content := "" // another amount is another request
				if amount != nil {
					content = strconv.FormatInt(*amount, 10)
				}
				return r.Confirm(t.Context(), customer, request("confirm", "confirm-key", content), payment.Confirm{AttemptID: id, Amount: amount})
			}
			half := int64(999)
			_, err := confirm(&half)
			var invalid *payment.ValidationError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, "amount", invalid.Fields[0].Field)
			require.Equal(t, payment.Intent{Number: 1}, r.attempt(t, id).Intent)
			require.Equal(t, "authorized", r.attempt(t, id).Stage())

			_, err = confirm(nil)
			require.NoError(t, err)
			require.Len(t, r.ledger(t), 1)
			require.Empty(t, r.verify(t))
		})
	}
}

func noAnswer() (payment.Outcome, error) { return payment.Outcome{}, errNoAnswer }

// wholeOnly has no digits for a part of the money.
type wholeOnly struct{ payment.Provider }

func (p wholeOnly) Capture(ctx context.Context, c payment.Capture) (payment.Outcome, error) {
	if !c.Whole {
		return payment.Outcome{}, payment.ErrUnfit
	}
	return p.Provider.Capture(ctx, c)
}

// A provider that takes another amount than a confirm asked for has paid the order all
// the same, and a person is told, once, whoever tells of it first.
func TestACaptureOfAnotherAmountAsksAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
			took := payment.Outcome{News: fsm.NewsSucceeded, Money: &payment.Money{Minor: c.taken, Currency: "EUR"}}
			var p payment.Provider = decliningCapture{r.opts.Accounts["sandbox"].Provider, took}
			if first == "webhook" {
				p = lostCapture{p}
			}
			with := r.another(t, func(o *payment.Options) { o.Accounts = map[string]payment.Account{"sandbox": {Provider: p}} })
			_, err := with.Confirm(t.Context(), customer, request("confirm", "key-"+id.String(), ""), payment.Confirm{AttemptID: id, Amount: c.asked})
			require.NoError(t, err, order)
			told := event(webhooks.KindSucceeded, id.String())
			told.Money.Minor = c.taken
			verdicts := map[string]fsm.Verdict{"answer": fsm.Repeat, "webhook": fsm.Applied}
			require.Equal(t, []fsm.Verdict{verdicts[first]}, r.tell(t, told), order)
			told.ID += "-again"
			require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, told), order)

			require.Equal(t, succeeded, standingOf(r.attempt(t, id)), order)
			require.Equal(t, c.taken, r.attempt(t, id).Captured, order)
			require.Equal(t, c.opened, r.discrepancies(t, id), order)
		}
	}
	require.Equal(t, []string{"The provider took another amount than it was asked to capture. Compare with its dashboard, and put right what the customer pays."},
		rows[string](t, r, "SELECT DISTINCT text FROM discrepancies"))
	require.Empty(t, r.verify(t))
}

// Whatever a provider says that it took, a confirm takes no more than the payment is for.
func TestAConfirmTakesNoMoreThanThePaymentIsFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	odd := event(webhooks.KindSucceeded, id.String())
	odd.Money.Minor = 2500
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, odd))
	_, err := r.Confirm(t.Context(), customer, request("confirm", "key-of-more", ""), payment.Confirm{AttemptID: id, Amount: &odd.Money.Minor})
	require.ErrorIs(t, err, payment.ErrCaptureExceeds)
	_, err = r.Confirm(t.Context(), customer, request("confirm", "key-of-all", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	require.EqualValues(t, price, r.ledger(t)[0].Amount)
	require.Empty(t, r.verify(t))
}

// A provider that took a capture and then does not carry it out leaves the money
// held: it can be confirmed again, and a person is told. What it says is late once the
// payment is over.
func TestACaptureThatIsRefusedAfterwardsCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	confirm := func(key string) error {
		_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), payment.Confirm{AttemptID: id})
		return err
	}
	refused := func(name string) webhooks.Event {
		e := event(webhooks.KindAuthorized, id.String())
		e.ID, e.CaptureRefused = name, true
		return e
	}
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, refused("nobody's")), "nobody here asked for one")
	require.NoError(t, confirm("confirm-key"))
	require.ErrorIs(t, confirm("second-key"), payment.ErrBusy)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, refused("ours")))
	require.Equal(t, payment.Intent{Number: 1}, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, "authorized", r.attempt(t, id).Stage())

	require.NoError(t, confirm("second-key"))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, refused("late")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
	require.Empty(t, r.verify(t))
}

// The refusal of a capture that was tried again since says nothing of the new one,
// however often somebody has it applied.
func TestAReplayedRefusalEndsNoNewerCapture(t *testing.T) {
	t.Parallel()
	r, _ := newBlind(t)
	id := r.held(t, "A-1").ID
	confirm := func(key string) {
		_, err := r.Confirm(t.Context(), customer, request("confirm", key, ""), payment.Confirm{AttemptID: id})
		require.NoError(t, err)
	}
	refused := event(webhooks.KindAuthorized, id.String())
	refused.CaptureRefused = true
	confirm("confirm-key")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, refused))
	confirm("second-key")
	under := r.attempt(t, id).Intent
	require.Equal(t, 1, under.Number)

	stored, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events")[0])
	require.NoError(t, err)
	done, err := r.Replay(t.Context(), payment.Replay{ID: stored})
	require.NoError(t, err)
	require.Equal(t, fsm.Repeat, done.Verdict)
	require.True(t, done.Event.Event.CaptureRefused)
	require.Equal(t, under, r.attempt(t, id).Intent)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Equal(t, []string{"applied"}, r.verdicts(t, id))
}

// Where the payment can't survive it the attempt is given up, whether the refusal
// comes by a webhook or in the answer.
func TestACaptureThatEndsThePaymentIsFollowedByItsCancellation(t *testing.T) {
	t.Parallel()
	declined := payment.Outcome{News: fsm.NewsSoftFailed, Refused: true, Failure: payment.NewFailure("card_declined", "")}
	for name, atOnce := range map[string]bool{"by a webhook": false, "in the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
				if atOnce {
					return decliningCapture{p, declined}
				}
				return lostCapture{p}
			}})
			id := r.held(t, "A-1").ID
			_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
			if atOnce {
				require.ErrorIs(t, err, payment.ErrNotCapturable)
			} else {
				require.NoError(t, err)
				e := event(webhooks.KindSoftFailed, id.String())
				e.CaptureRefused, e.FailureCode = true, "card_declined"
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
			}
			require.Equal(t, payment.IntentCancel, r.attempt(t, id).Intent.Kind)
			r.recheck(t, id)
			require.Equal(t, standing{"failed", "final", "card_declined"}, standingOf(r.attempt(t, id)))
			require.Empty(t, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
			r.audit(t, "A-1")
		})
	}
}

// decliningCapture answers a capture with an outcome.
type decliningCapture struct {
	payment.Provider

	says payment.Outcome
}

func (p decliningCapture) Capture(_ context.Context, c payment.Capture) (payment.Outcome, error) {
	o := p.says
	o.ProviderPaymentID = c.ProviderPaymentID
	return o, nil
}

// A confirm whose runner died, and that the reconciler has carried out, has what it wanted.
func TestAConfirmThatOthersCarriedOutIsMet(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	mortal := r.another(t, func(o *payment.Options) {
		o.Accounts = map[string]payment.Account{"sandbox": {Provider: deadly{o.Accounts["sandbox"].Provider}}}
	})
	confirm := func(s *payment.Service) (payment.Reply, error) {
		return s.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
	}
	require.PanicsWithValue(t, "killed", func() { _, _ = confirm(mortal) })
	r.age(t, id, lease)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = now() WHERE endpoint = 'confirm'")
	require.Equal(t, succeeded, standingOf(r.recheck(t, id).Attempt))
	for range 2 {
		p, err := confirm(r.Service)
		require.NoError(t, err)
		require.Equal(t, idempotency.Reused, p.Result)
		require.Equal(t, succeeded, standingOf(p.Attempt))
	}
	require.Len(t, r.ledger(t), 1)
}

// deadly is the end of whoever captures by it.
type deadly struct{ payment.Provider }

func (deadly) Capture(context.Context, payment.Capture) (payment.Outcome, error) { panic("killed") }
