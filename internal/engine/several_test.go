package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/webhooks"
)

func TestSeveralCaptures(t *testing.T) {
	t.Parallel()
	t.Run("in_parts", severalInParts)
	t.Run("the_last_one_releases_the_rest", severalLastReleases)
	t.Run("a_cancel_releases_the_rest", severalCancelReleases)
	t.Run("a_lost_one_is_made_once", severalLostIsMadeOnce)
	t.Run("a_lost_one_that_was_not_made", severalNeverMade)
	t.Run("refused", severalRefused)
	t.Run("refused, and taken under the same key", severalRefusedThenTaken)
	t.Run("beside_each_other", severalBesideEachOther)
	t.Run("webhooks_in_any_order", severalWebhooksInAnyOrder)
	t.Run("who_may", severalWhoMay)
	t.Run("refunds", severalRefunds)
}

// heldInParts is an attempt with a hold that is captured in parts.
func (r *env) heldInParts(t *testing.T) payment.AttemptID {
	t.Helper()
	r.order(t, "A-1")
	made, err := r.Pay(t.Context(), shop, request("pay A-1", "first-key", "parts"), commands.Pay{
		OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureSeveral,
	})
	require.NoError(t, err)
	require.Equal(t, "authorized", made.Stage())
	require.Equal(t, payment.CaptureSeveral, made.Capture)
	return made.ID
}

// part captures a part of a hold under the key of its amount; 0 is all that is left.
func part(ctx context.Context, s *service, id payment.AttemptID, key string, amount int64, final bool) (commands.Reply, error) {
	cmd := commands.Confirm{AttemptID: id}
	if amount > 0 {
		cmd.Amount = &amount
	}
	if final {
		cmd.Final = &final
	}
	return s.Confirm(ctx, shop, request("confirm", "the-part-"+key, fmt.Sprint(amount, final)), cmd)
}

func (r *env) part(t *testing.T, id payment.AttemptID, key string, amount int64) commands.Reply {
	t.Helper()
	made, err := part(t.Context(), r.service, id, key, amount, false)
	require.NoError(t, err)
	return made
}

// taken is the sum of the money that the sandbox has taken.
func (r *env) taken(t *testing.T) (sum int64) {
	t.Helper()
	for _, e := range r.ledger(t) {
		if e.Kind == "charge" {
			sum += e.Amount
		}
	}
	return sum
}

// auditParts compares the attempt with the sandbox's ledger, and derives the database again. Tests let time pass by
// changing times.
func (r *env) auditParts(t *testing.T, id payment.AttemptID) {
	t.Helper()
	require.Equal(t, r.taken(t), r.attempt(t, id).Captured)
	for _, d := range r.verify(t) {
		require.Equal(t, "times_follow_log", d.Check, "%+v", d)
	}
}

// firstPayment is the first payment of an attempt.
func (r *env) firstPayment(t *testing.T, id payment.AttemptID) payment.Payment {
	t.Helper()
	return r.attempt(t, id).Payments[0]
}

func severalInParts(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{})
	id := r.heldInParts(t)
	made := r.part(t, id, "one", 500)
	require.True(t, made.Succeeded(), "the first part pays the order")
	require.EqualValues(t, 500, made.Captured)
	require.Equal(t, payment.OrderPaid, r.orderOf(t, "A-1").Status())
	version := made.Version
	made = r.part(t, id, "two", 700)
	require.EqualValues(t, 1200, made.Captured)
	require.Greater(t, made.Version, version)
	require.EqualValues(t, 1200, r.part(t, id, "two", 700).Captured, "the same request captures once")
	require.Len(t, r.ledger(t), 2)

	for _, tooMuch := range []int64{800, price} {
		_, err := part(t.Context(), r.service, id, fmt.Sprint("too much ", tooMuch), tooMuch, false)
		require.ErrorIs(t, err, payment.ErrCaptureExceeds)
	}
	require.EqualValues(t, price, r.part(t, id, "all the rest", 0).Captured)
	_, err := part(t.Context(), r.service, id, "after all", 1, false)
	require.ErrorIs(t, err, payment.ErrNotCapturable)
	require.EqualValues(t, price, r.taken(t))
	require.Empty(t, r.discrepancies(t, id))
	r.auditParts(t, id)
}

func severalLastReleases(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]int64{"the first is the last": nil, "the third is the last": {300, 400}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{})
			id := r.heldInParts(t)
			want := int64(500)
			for i, amount := range before {
				r.part(t, id, strconv.Itoa(i), amount)
				want += amount
			}
			made, err := part(t.Context(), r.service, id, "last", 500, true)
			require.NoError(t, err)
			require.Equal(t, want, made.Captured)
			require.Equal(t, want, r.firstPayment(t, id).Authorized, "nothing is on hold any more")
			_, err = part(t.Context(), r.service, id, "another", 1, false)
			require.ErrorIs(t, err, payment.ErrNotCapturable)
			_, err = r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
			require.ErrorIs(t, err, payment.ErrAttemptFinal)
			require.Equal(t, want, r.taken(t))
			require.Empty(t, r.discrepancies(t, id))
			r.auditParts(t, id)
		})
	}
}

func severalCancelReleases(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{change: func(o *options) { o.CustomersMay = nil }})
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	_, err := r.Cancel(t.Context(), customer, request("cancel", "customers-key", ""), id)
	require.ErrorIs(t, err, payment.ErrForbidden)
	made, err := r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.True(t, made.Succeeded(), "captured money stays")
	require.EqualValues(t, 500, made.Captured)
	require.EqualValues(t, 500, r.firstPayment(t, id).Authorized)
	again, err := r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.True(t, again.Succeeded())
	_, err = part(t.Context(), r.service, id, "another", 1, false)
	require.ErrorIs(t, err, payment.ErrNotCapturable)
	require.EqualValues(t, 500, r.taken(t))
	require.Empty(t, r.discrepancies(t, id))
	r.auditParts(t, id)
}

// losing is a provider with captures whose responses are lost.
type losing struct {
	gateway.Provider

	// fate decides about the next capture: sent reports whether it arrives, heard whether its response does.
	fate func(c gateway.Capture) (sent, heard bool)
}

func (p *losing) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	sent, heard := p.fate(c)
	if !sent {
		return gateway.Outcome{}, errNoAnswer
	}
	o, err := p.Provider.Capture(ctx, c)
	if !heard {
		return gateway.Outcome{}, errNoAnswer
	}
	return o, err
}

func newLosing(t *testing.T) (*env, *losing) {
	t.Helper()
	p := &losing{fate: func(gateway.Capture) (bool, bool) { return true, true }}
	return newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.Provider = of
		return p
	}}), p
}

func severalLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]bool{"arrived": true, "did not arrive": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := newLosing(t)
			id := r.heldInParts(t)
			for i, amount := range []int64{500, 500, 999} {
				p.fate = func(gateway.Capture) (bool, bool) { return sent, false }
				r.part(t, id, strconv.Itoa(i), amount)
				if !sent { // else the lookup after the lost response has found it
					_, err := part(t.Context(), r.service, id, "meanwhile", 1, false)
					require.ErrorIs(t, err, payment.ErrBusy, "one after another")
					_, err = r.Cancel(t.Context(), shop, request("cancel", "cancel-key", ""), id)
					require.ErrorIs(t, err, payment.ErrBusy)
				}
				p.fate = func(gateway.Capture) (bool, bool) { return true, true }
				r.recheck(t, id)
			}
			require.EqualValues(t, price, r.attempt(t, id).Captured)
			require.EqualValues(t, price, r.taken(t))
			require.Len(t, r.ledger(t), 3)
			require.Empty(t, r.discrepancies(t, id))
			r.auditParts(t, id)
		})
	}
}

// A capture that never arrived, long after it could be sent, is not made. A person is told, and the rest stays on hold.
func severalNeverMade(t *testing.T) {
	t.Parallel()
	r, p := newLosing(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	p.fate = func(gateway.Capture) (bool, bool) { return false, false }
	r.part(t, id, "two", 700)
	r.exec(t, "UPDATE operations SET created_at = created_at - interval '2 hours', first_sent_at = first_sent_at - interval '2 hours' WHERE kind = 'capture'")
	r.recheck(t, id)
	a := r.attempt(t, id)
	require.EqualValues(t, 500, a.Captured)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, rows[string](t, r, "SELECT kind FROM operations WHERE kind = 'capture' AND open"))
	p.fate = func(gateway.Capture) (bool, bool) { return true, true }
	require.EqualValues(t, 1200, r.part(t, id, "three", 700).Captured)
	require.EqualValues(t, 1200, r.taken(t))
	require.Empty(t, r.verify(t))
}

// The provider's refusal of a further capture is the caller's answer, and the money of the earlier ones stays.
func severalRefused(t *testing.T) {
	t.Parallel()
	r, p := newLosing(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	inner := p.Provider
	p.Provider = refusedCapture2{inner}
	_, err := part(t.Context(), r.service, id, "two", 700, false)
	require.ErrorIs(t, err, payment.ErrNotCapturable)
	p.Provider = inner
	require.EqualValues(t, 1200, r.part(t, id, "three", 700).Captured)
	require.Empty(t, r.discrepancies(t, id))
	r.auditParts(t, id)
}

// A capture was refused, and its key was free again. The second capture of the key is taken, and its process dies. A third
// command of the key answers with the second one's capture, and takes nothing.
func severalRefusedThenTaken(t *testing.T) {
	t.Parallel()
	r, p := newLosing(t)
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	inner := p.Provider
	p.Provider = refusedCapture2{inner}
	_, err := part(t.Context(), r.service, id, "two", 700, false)
	require.ErrorIs(t, err, payment.ErrNotCapturable)
	p.Provider = inner

	asleep, thaw, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	dying := r.another(t, func(o *options) {
		o.Accounts = map[string]gateway.Account{"sandbox": {Provider: frozenCapture{inner, func() {
			close(asleep)
			<-thaw
		}}}}
	})
	go func() {
		defer close(done)
		_, _ = part(t.Context(), dying, id, "two", 700, false)
	}()
	<-asleep
	r.age(t, id, lease)
	r.recheck(t, id)
	r.exec(t, "UPDATE idempotency_keys SET lease_until = lease_until - $1::interval WHERE key = 'the-part-two'", lease)
	require.EqualValues(t, 1200, r.part(t, id, "two", 700).Captured)
	close(thaw)
	<-done
	require.EqualValues(t, 1200, r.taken(t))
	require.Empty(t, r.discrepancies(t, id))
	r.auditParts(t, id)
}

// frozenCapture freezes after a capture, before the process hears the response.
type frozenCapture struct {
	gateway.Provider

	freeze func()
}

func (p frozenCapture) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o, err := p.Provider.Capture(ctx, c)
	p.freeze()
	return o, err
}

// refusedCapture2 refuses captures of a charge that has captured a part.
type refusedCapture2 struct{ gateway.Provider }

func (p refusedCapture2) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o, err := p.Lookup(ctx, c.ProviderPaymentID)
	o.Refused = true
	return o, err
}

func severalBesideEachOther(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{})
	id := r.heldInParts(t)
	const presses = 8
	got := make(chan error, presses)
	for i := range presses {
		go func() {
			got <- untilAvailable(func() error {
				_, err := part(t.Context(), r.service, id, fmt.Sprint("press ", i), 700, false)
				return err
			})
		}()
	}
	made := 0
	for range presses {
		err := <-got
		if err == nil {
			made++
		} else {
			require.True(t, errors.Is(err, payment.ErrBusy) || errors.Is(err, payment.ErrCaptureExceeds), err)
		}
	}
	require.Positive(t, made)
	require.LessOrEqual(t, made, 2)
	require.EqualValues(t, made*700, r.taken(t))
	require.EqualValues(t, made*700, r.attempt(t, id).Captured)
	r.auditParts(t, id)
}

// Each capture has its own webhook with the sum so far. In any order they leave the sum of all.
func severalWebhooksInAnyOrder(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	r.part(t, id, "two", 700)
	for i, sum := range []int64{1200, 500, 1200, 500} {
		e := event(webhooks.KindSucceeded, id.String())
		e.ID, e.Money = fmt.Sprint("capture-", i), &webhooks.Money{Minor: sum, Currency: "EUR"}
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, e), i)
	}
	e := event(webhooks.KindAuthorized, id.String())
	e.ID, e.Money = "authorized", &webhooks.Money{Minor: price, Currency: "EUR"}
	r.tell(t, e)
	require.EqualValues(t, 1200, r.attempt(t, id).Captured)
	require.EqualValues(t, price, r.firstPayment(t, id).Authorized)
	require.Empty(t, r.discrepancies(t, id))
	require.EqualValues(t, price, r.part(t, id, "rest", 0).Captured)
	require.Empty(t, r.verify(t))
}

func severalWhoMay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.Accounts["once"] = gateway.Account{Provider: standard.New("http://127.0.0.1:1", "key", nil)}
	}})
	r.order(t, "A-1")
	pay := commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureSeveral}
	_, err := r.Pay(t.Context(), customer, request("pay A-1", "customers-key", ""), pay)
	require.ErrorIs(t, err, payment.ErrForbidden)
	pay.Account = "once"
	_, err = r.Pay(t.Context(), shop, request("pay A-1", "shops-key", ""), pay)
	var invalid *payment.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "capture", invalid.Fields[0].Field)

	id := r.held(t, "A-2").ID
	last := false
	_, err = r.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id, Final: &last})
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "final", invalid.Fields[0].Field)
}

func severalRefunds(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{})
	id := r.heldInParts(t)
	r.part(t, id, "one", 500)
	back := r.refund(t, id, "refund-one")
	require.EqualValues(t, 500, back.Money.Minor)
	made := r.part(t, id, "two", 700)
	require.EqualValues(t, 700, made.Held(), "what was paid back stays on hold no more, and the rest does")
	require.EqualValues(t, 700, r.refund(t, id, "refund-two").Money.Minor)
	require.Empty(t, r.discrepancies(t, id))
	r.auditParts(t, id)
}
