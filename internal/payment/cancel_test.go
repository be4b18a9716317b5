package payment_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// unwilling cancels nothing: how the payment stands is all that it says.
func unwilling(news fsm.News) *answering {
	refused := func() (payment.Outcome, error) { return payment.Outcome{News: news, Refused: true}, nil }
	return &answering{cancel: refused, lookup: says(news)}
}

// A payment that its provider does not cancel, as YooKassa before the customer has
// confirmed it, goes on: it is not said to be over.
func TestACancellationThatIsRefusedShowsThePaymentAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		news fsm.News
		err  error
		end  standing
	}{
		"it awaits its customer": {fsm.NewsActionRequired, nil, standing{"pending", "awaiting_customer", ""}},
		"it is being worked at":  {fsm.NewsProcessing, nil, standing{"pending", "requested", ""}},
		"it is paid":             {fsm.NewsSucceeded, payment.ErrAttemptFinal, succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return unwilling(c.news).on(p) }})
			id := r.paid(t, "A-1", "tok_never").ID
			cancel := func() (payment.Reply, error) {
				return r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
			}
			_, err := cancel()
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.end, standingOf(r.attempt(t, id)))
			p, err := cancel()
			if c.err != nil {
				requireReplayed(t, c.err, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, idempotency.Reused, p.Result)
			require.Equal(t, c.end, standingOf(p.Attempt))
		})
	}
}

// What was paid with another amount is for a person to decide: until then the attempt
// is pending, and is shown so.
func TestACancellationOfWhatWasPaidWithAnotherAmountShowsThePaymentAsItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_wrong_amount").ID
	for _, result := range []idempotency.Result{idempotency.Created, idempotency.Reused} {
		p, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
		require.NoError(t, err)
		require.Equal(t, result, p.Result)
		require.Equal(t, requested, standingOf(p.Attempt))
		require.EqualValues(t, price+1, p.Captured)
	}
	require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, id))
}

// The wish to cancel an order outlives a provider's refusal: what is held only then
// is given up, and nobody is to take a payment meanwhile.
func TestACancelledOrdersHoldIsGivenUpThoughTheCancellationWasRefused(t *testing.T) {
	t.Parallel()
	p := unwilling(fsm.NewsActionRequired)
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { return p.on(of) }})
	r.order(t, "A-1")
	paid, err := r.Pay(t.Context(), customer, request("pay", "first-key", ""), payment.Pay{OrderID: "A-1", Token: "tok_never", Capture: payment.CaptureManual})
	require.NoError(t, err)
	o, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderOpen, o.Status())
	require.Equal(t, payment.IntentNone, r.attempt(t, paid.ID).Intent.Kind, "refused")
	may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindSucceeded, paid.ID.String()))
	require.NoError(t, err)
	require.Equal(t, webhooks.AnswerRefuse, may)

	p.cancel, p.lookup = nil, nil
	require.Equal(t, fsm.Applied, r.say(t, paid.ID, webhooks.KindAuthorized))
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{paid.ID}, due)
	r.recheck(t, paid.ID)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.attempt(t, paid.ID)))
	o, err = r.store.Order(t.Context(), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderCancelled, o.Status())
}

// The same if the hold is told of while the provider is being asked: what it refuses
// is what it refused before.
func TestAHoldDuringARefusedCancellationIsGivenUp(t *testing.T) {
	t.Parallel()
	var r *rig
	var id payment.AttemptID
	p := &answering{}
	r = newRig(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	paid, err := r.Pay(t.Context(), customer, request("pay", "first-key", ""), payment.Pay{OrderID: "A-1", Token: "tok_never", Capture: payment.CaptureManual})
	require.NoError(t, err)
	id = paid.ID
	p.cancel = func() (payment.Outcome, error) {
		r.say(t, id, webhooks.KindAuthorized)
		return payment.Outcome{News: fsm.NewsActionRequired, Refused: true}, nil
	}
	_, _, err = r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.IntentCancel, r.attempt(t, id).Intent.Kind)
	p.cancel = nil
	r.recheck(t, id)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.attempt(t, id)))
}

// What a cancellation of an order was answered it is answered again, whatever has
// become of the order since.
func TestACancellationOfAnOrderIsReplayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first fsm.News
		err   error
	}{
		"not cancelled yet": {fsm.NewsActionRequired, nil},
		"paid instead":      {fsm.NewsSucceeded, payment.ErrOrderPaid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return unwilling(c.first).on(p) }})
			id := r.paid(t, "A-1", "tok_never").ID
			cancel := func() (payment.Order, idempotency.Result, error) {
				return r.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
			}
			_, result, err := cancel()
			require.ErrorIs(t, err, c.err)
			require.Equal(t, idempotency.Created, result)
			r.say(t, id, webhooks.KindSucceeded)
			o, result, err := cancel()
			if c.err != nil {
				requireReplayed(t, c.err, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, idempotency.Reused, result)
			require.Equal(t, payment.OrderPaid, o.Status())
		})
	}
}

// An order that is cancelled stays so for whoever cancels it again, also where money
// came in since: whom that concerns is told otherwise.
func TestACancelledOrderIsCancelledAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_decline").ID
	cancel := func(key string) {
		o, _, err := r.CancelOrder(t.Context(), customer, request("cancel order", key, ""), "A-1")
		require.NoError(t, err, key)
		require.Equal(t, payment.OrderCancelled, o.Status(), key)
	}
	cancel("first-cancel")
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"paid_after_cancel"}, r.discrepancies(t, id))
	cancel("first-cancel")
	cancel("second-cancel")
}

// A wish that comes while a pay is under way, from another process which does not wait for
// it, is seen to as soon as that has ended.
func TestAWishDuringAPayIsNotLeftToTheSchedule(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.order(t, "A-1")
	f := r.freeze(t, false)
	id := f.pay(t, "A-1", "tok_never")
	hasty := r.another(t, func(o *payment.Options) { o.Wait = time.Millisecond })
	_, _, err := hasty.CancelOrder(t.Context(), customer, request("cancel order", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, requested, standingOf(f.wake(0, 0).Attempt))
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(r.recheck(t, id).Attempt))
}

// Nobody commands another's payment or order, and nothing of it moves.
func TestNobodyCommandsAnothersPayment(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.held(t, "A-1").ID
	before := r.attempt(t, id)
	for i, stranger := range []payment.Actor{
		{Subject: "u2", Roles: []payment.Role{payment.RoleCustomer}},
		{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u2"},
		{Subject: "u1", Roles: []payment.Role{payment.RoleSupport}},
	} {
		req := func(endpoint string) idempotency.Request {
			req := request(endpoint, "key-of-case-"+string(rune('0'+i)), "")
			req.User = string(stranger.User())
			return req
		}
		_, err := r.Confirm(t.Context(), stranger, req("confirm"), payment.Confirm{AttemptID: id})
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, err = r.Cancel(t.Context(), stranger, req("cancel"), id)
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, _, err = r.CancelOrder(t.Context(), stranger, req("cancel order"), "A-1")
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
	after := r.attempt(t, id)
	after.ReadAt = before.ReadAt
	require.Equal(t, before, after)
	o, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Nil(t, o.CancelRequestedAt)
}

// An order is not cancelled while it holds money, be it of an attempt that had failed,
// nor while its money is being taken.
func TestAnOrderWhoseMoneyIsTakenIsNotCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { return lostCapture{p} }})
	require.Equal(t, fsm.Conflict, r.say(t, r.paid(t, "A-1", "tok_decline").ID, webhooks.KindSucceeded))
	id := r.held(t, "A-2").ID
	_, err := r.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), payment.Confirm{AttemptID: id})
	require.NoError(t, err)
	for order, want := range map[payment.OrderID]error{"A-1": payment.ErrOrderPaid, "A-2": payment.ErrBusy} {
		_, _, err := r.CancelOrder(t.Context(), customer, request("cancel "+string(order), "cancel-key", ""), order)
		require.ErrorIs(t, err, want)
		o, err := r.Order(t.Context(), customer, order)
		require.NoError(t, err)
		require.Nil(t, o.CancelRequestedAt)
	}
	require.Equal(t, payment.IntentCapture, r.attempt(t, id).Intent.Kind, "it may still arrive")
}

// requireReplayed wants a refusal to be the one that was stored.
func requireReplayed(t *testing.T, refusal, err error) {
	t.Helper()
	var replay *idempotency.ReplayError
	require.ErrorAs(t, err, &replay)
	require.Equal(t, refusal.Error(), string(replay.Answer.Body))
}

// A provider is told since when nothing can have been sent any more that takes the
// money: an answer that was not waited for may belong to a request under way.
func TestACancellationSaysForHowLongItHasBeenQuiet(t *testing.T) {
	t.Parallel()
	told := &quietly{}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider { told.Provider = p; return told }})
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.InDelta(t, -lease.Seconds(), told.quiet.Seconds(), 5)
	r.exec(t, "UPDATE payment_attempts SET intent_at = intent_at - interval '10 minutes'")
	r.recheck(t, id)
	require.InDelta(t, (10*time.Minute - lease).Seconds(), told.quiet.Seconds(), 5)
}

// quietly loses cancellations, and keeps what the last one said.
type quietly struct {
	payment.Provider

	quiet time.Duration
}

func (p *quietly) Cancel(_ context.Context, c payment.Cancel) (payment.Outcome, error) {
	p.quiet = c.Quiet
	return payment.Outcome{}, errNoAnswer
}

// What was just declined may be cancelled at once: the decline answered all that was
// sent.
func TestADeclineIsQuiet(t *testing.T) {
	t.Parallel()
	told := &quietly{}
	p := &tapped{charge: func(_ context.Context, _ payment.Charge, send func() (payment.Outcome, error)) (payment.Outcome, error) {
		o, err := send()
		return payment.Outcome{News: fsm.NewsSoftFailed, ProviderPaymentID: o.ProviderPaymentID, Failure: payment.NewFailure("card_declined", "")}, err
	}}
	r := newRig(t, setup{silent: true, provider: func(of payment.Provider) payment.Provider { told.Provider = of; return p.on(told) }})
	r.paid(t, "A-1", "tok_never")
	require.Greater(t, told.quiet, 24*time.Hour)
}

// A customer's browser may choose the name: the database can't hold each.
func TestAQuestionAboutANameThatNobodyCanHaveIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for _, name := range []string{"ch_\x00", "ch_\xff", strings.Repeat("x", 1<<13)} {
		may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindQuestion, name))
		require.NoError(t, err)
		require.Equal(t, webhooks.AnswerUnknown, may)
	}
}
