package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestReviews(t *testing.T) {
	t.Parallel()
	t.Run("in_any_order", reviewsInAnyOrder)
	t.Run("before_the_answer", reviewsBeforeTheAnswer)
	t.Run("declined", reviewsDeclined)
	t.Run("of_a_hold", reviewsOfAHold)
	t.Run("of_money_that_comes_back", reviewsOfMoneyThatComesBack)
	t.Run("a_second_one", reviewsASecondOne)
}

// reviewing is an env whose account holds back order.paid for reviews, or does not.
func reviewing(t *testing.T, hold bool) *env {
	t.Helper()
	return newEnv(t, setup{silent: true, change: func(o *options) {
		for name, a := range o.Accounts {
			a.HoldPaidForReview = hold
			o.Accounts[name] = a
		}
	}})
}

// published lists the types of an order's messages for the shop.
func (r *env) published(t *testing.T, order payment.OrderID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT type FROM outbox WHERE order_id = $1 ORDER BY batch, nth", string(order))
}

// paidEvents is how often the shop was told that an order is paid.
func (r *env) paidEvents(t *testing.T, order payment.OrderID) (n int) {
	t.Helper()
	for _, told := range r.published(t, order) {
		if told == "order.paid" {
			n++
		}
	}
	return n
}

// reviewed is a Stripe event about the payment, or about its review, in a second.
func reviewed(event, intent string, second int) string {
	at := disputeEpoch.Add(time.Duration(second) * time.Second).Unix()
	object := `"id":"prv_` + intent + `","object":"review","payment_intent":"` + intent + `","open":true,"reason":"rule"`
	switch event {
	case "review.closed":
		object = `"id":"prv_` + intent + `","object":"review","payment_intent":"` + intent + `","open":false,"reason":"approved","closed_reason":"approved"`
	case "payment_intent.succeeded":
		object = `"id":"` + intent + `","object":"payment_intent","amount":1999,"amount_received":1999,"currency":"eur","review":"prv_` + intent + `"`
	}
	return fmt.Sprintf(`{"id":%q,"type":%q,"created":%d,"livemode":false,"data":{"object":{%s}}}`, serial(), event, at, object)
}

// The events of a reviewed payment may arrive in any order and number: the review ends approved, and the shop is told once that the
// order is paid. Where the account says so, that waits for the end of the review.
func reviewsInAnyOrder(t *testing.T) {
	t.Parallel()
	events := []string{"review.opened", "payment_intent.succeeded", "review.closed"}
	for _, hold := range []bool{true, false} {
		t.Run(fmt.Sprint("held ", hold), func(t *testing.T) {
			t.Parallel()
			r := reviewing(t, hold)
			v, sign := signer(t, "stripe", disputingProviders["stripe"].config)
			for i, order := range permutations(len(events)) {
				id := payment.OrderID(fmt.Sprintf("A-%d", i))
				a := r.paid(t, id, "tok_never").Attempt
				var paid []int
				for _, n := range append(slices.Clone(order), order[0], 0) {
					r.notify(t, v, sign(t, reviewed(events[n], a.ProviderPaymentID, n+1)))
					paid = append(paid, r.paidEvents(t, id))
				}
				got := r.attempt(t, a.ID)
				require.Equal(t, payment.ReviewApproved, got.Review.Status, "%v", order)
				require.False(t, got.Review.PaidHeld, "%v", order)
				require.True(t, got.Succeeded())
				require.Equal(t, 1, paid[4], "%v", order)
				last := slices.Index(order, 1)
				if hold {
					last = max(last, slices.Index(order, 2))
				}
				for at, n := range paid[:last] {
					require.Zero(t, n, "%v: after %d", order, at)
				}
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// A review may be told before the response to the pay names its payment.
func reviewsBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	r := reviewing(t, true)
	e := event(webhooks.KindReview, "pi_early")
	e.Review = &webhooks.Review{ID: "prv_1", Status: webhooks.ReviewOpen}
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, e))

	a := r.paid(t, "A-1", "tok_never").Attempt
	answer := event(webhooks.KindSucceeded, a.ID.String(), "pi_early")
	answer.ProviderPaymentID = a.ProviderPaymentID
	r.tell(t, answer)
	got := r.attempt(t, a.ID)
	require.Equal(t, payment.ReviewOpen, got.Review.Status)
	require.True(t, got.Succeeded())
	require.Zero(t, r.paidEvents(t, "A-1"), "the commit that takes the money takes the review, too")
	require.Contains(t, r.published(t, "A-1"), "payment_attempt.succeeded")
	require.Empty(t, r.verify(t))
}

// A declined review of money that is still there is a case, and the shop is not told that the order is paid. The case is settled once the
// money has gone.
func reviewsDeclined(t *testing.T) {
	t.Parallel()
	r := reviewing(t, true)
	a := r.paid(t, "A-1", "tok_never").Attempt
	opened, closed := event(webhooks.KindReview, a.ID.String()), event(webhooks.KindReview, a.ID.String())
	opened.Review, closed.Review = &webhooks.Review{Status: webhooks.ReviewOpen}, &webhooks.Review{Status: webhooks.ReviewDeclined}
	opened.OccurredAt, closed.OccurredAt = disputeEpoch, disputeEpoch.Add(time.Second)
	paid := event(webhooks.KindSucceeded, a.ID.String())
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied, fsm.Applied}, r.tell(t, opened, paid, closed))
	require.Equal(t, []string{"needs_review review_declined " + a.ProviderPaymentID}, r.about(t, a.ID))
	require.Zero(t, r.paidEvents(t, "A-1"))
	got := r.attempt(t, a.ID)
	require.Equal(t, payment.ReviewDeclined, got.Review.Status)
	require.EqualValues(t, price, got.Held())

	again := event(webhooks.KindReview, a.ID.String())
	again.Review, again.OccurredAt = opened.Review, opened.OccurredAt
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, again), "an old event opens no closed review")
	require.Equal(t, payment.ReviewDeclined, r.attempt(t, a.ID).Review.Status)
	require.Empty(t, r.verify(t))

	// Declined first, and then the money comes.
	b := r.paid(t, "A-2", "tok_never").Attempt
	for _, e := range []*webhooks.Event{&closed, &paid} {
		e.ID, e.References = serial(), []string{b.ID.String()}
		r.tell(t, *e)
	}
	require.Equal(t, []string{"needs_review review_declined " + b.ProviderPaymentID}, r.about(t, b.ID))
	require.Empty(t, r.verify(t))
}

// A hold under review is told, and its capture as well; both wait for nothing but the event of the order.
func reviewsOfAHold(t *testing.T) {
	t.Parallel()
	r := reviewing(t, true)
	id := r.held(t, "A-1").ID
	e := event(webhooks.KindReview, id.String())
	e.Review = &webhooks.Review{Status: webhooks.ReviewOpen}
	before := r.attempt(t, id)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, before.Version+1, r.attempt(t, id).Version, "a caller sees it")
	e.ID, e.Review = serial(), &webhooks.Review{ID: "prv_1", Status: webhooks.ReviewOpen}
	r.tell(t, e)
	require.Equal(t, "prv_1", r.attempt(t, id).Review.ID)
	require.NoError(t, r.confirm(t, id, "confirm-key"))
	require.True(t, r.attempt(t, id).Succeeded())
	require.Equal(t, []string{"payment_attempt.authorized", "payment_attempt.updated", "payment_attempt.succeeded"}, r.published(t, "A-1"))
	e.ID, e.Review = serial(), &webhooks.Review{Status: webhooks.ReviewApproved, Implied: true}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, []string{"payment_attempt.updated", "order.paid"}, r.published(t, "A-1")[3:])
	require.Empty(t, r.verify(t))
}

// A chargeback takes the money before the review is approved. The shop is told that the order is paid once the money is back, also if
// one transaction applies both events.
func reviewsOfMoneyThatComesBack(t *testing.T) {
	t.Parallel()
	for name, together := range map[string]bool{"one by one": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reviewing(t, true)
			a := r.paid(t, "A-1", "tok_never").Attempt
			review := func(status webhooks.ReviewStatus, second int) webhooks.Event {
				e := event(webhooks.KindReview, a.ID.String())
				e.Review, e.OccurredAt = &webhooks.Review{Status: status}, disputeEpoch.Add(time.Duration(second)*time.Second)
				return e
			}
			whole := func(kind webhooks.Kind) webhooks.Event {
				e := moved{kind, "one", price}.event(a)
				e.Money.Minor = price
				return e
			}
			r.tell(t, review(webhooks.ReviewOpen, 0), event(webhooks.KindSucceeded, a.ID.String()), whole(webhooks.KindChargeback))
			require.True(t, r.attempt(t, a.ID).Review.PaidHeld)
			approved, back := review(webhooks.ReviewApproved, 1), whole(webhooks.KindChargebackReversed)
			if together {
				r.tell(t, approved, back)
			} else {
				r.tell(t, approved)
				require.Zero(t, r.attempt(t, a.ID).Held())
				require.Zero(t, r.paidEvents(t, "A-1"), "its money is gone")
				r.tell(t, back)
			}
			got := r.attempt(t, a.ID)
			require.EqualValues(t, price, got.Held())
			require.False(t, got.Review.PaidHeld)
			require.Equal(t, 1, r.paidEvents(t, "A-1"))
			require.Equal(t, "order.paid", r.published(t, "A-1")[len(r.published(t, "A-1"))-1])
			require.Empty(t, r.verify(t))
		})
	}
}

// Another review that began later is a review of its own; the late end of the first one says nothing about it.
func reviewsASecondOne(t *testing.T) {
	t.Parallel()
	r := reviewing(t, false)
	a := r.paid(t, "A-1", "tok_success").Attempt
	say := func(id string, status webhooks.ReviewStatus, second int) payment.ReviewStatus {
		e := event(webhooks.KindReview, a.ID.String())
		e.Review, e.OccurredAt = &webhooks.Review{ID: id, Status: status}, disputeEpoch.Add(time.Duration(second)*time.Second)
		r.tell(t, e)
		return r.attempt(t, a.ID).Review.Status
	}
	require.Equal(t, payment.ReviewApproved, say("prv_1", webhooks.ReviewApproved, 2))
	require.Equal(t, payment.ReviewApproved, say("prv_0", webhooks.ReviewOpen, 1))
	require.Equal(t, payment.ReviewOpen, say("prv_2", webhooks.ReviewOpen, 4))
	require.Equal(t, payment.ReviewOpen, say("prv_1", webhooks.ReviewDeclined, 3))
	require.Equal(t, payment.ReviewDeclined, say("prv_2", webhooks.ReviewDeclined, 5))
	require.Equal(t, payment.ReviewDeclined, say("", webhooks.ReviewOpen, 6))
	require.Equal(t, 1, r.paidEvents(t, "A-1"))
	require.Empty(t, r.verify(t))
}
