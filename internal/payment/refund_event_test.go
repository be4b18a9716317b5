package payment_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

// refundOf asks for an amount of a payment to be paid back.
func (r *rig) refundOf(t *testing.T, id payment.AttemptID, key string, amount int64) payment.Refund {
	t.Helper()
	made, err := r.Refund(t.Context(), shop, request("refund", key, ""), payment.CreateRefund{AttemptID: id, Amount: &amount})
	require.NoError(t, err)
	return made.Refund
}

// refunds shows an attempt's refunds, oldest first: who asked, the provider's name,
// the state.
func (r *rig) refunds(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, `SELECT concat_ws(' ', COALESCE(user_id, origin), nullif(provider_refund_id, ''), status, amount, CASE WHEN reversed THEN 'reversed' END)
		FROM refunds WHERE attempt_id = $1 ORDER BY created_at, refund_id`, id.String())
}

func (r *rig) parked(t *testing.T) int64 {
	t.Helper()
	return rows[int64](t, r, "SELECT count(*) FROM provider_events WHERE next_try_at IS NOT NULL")[0]
}

func backLost(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
	return payment.RefundOutcome{}, errNoAnswer
}

func TestARefundInAnotherCurrencyIsNotCounted(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	dollars := func(refund string, minor int64) webhooks.Event {
		e := cents(webhooks.KindRefundSucceeded, id, refund, minor)
		e.Money.Currency = "USD"
		return e
	}
	named, total := dollars("re_2", 500), dollars("", 500)
	named.RefundReference, total.Cumulative = ours.ID.String(), true
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Conflict, fsm.Conflict}, r.tell(t, dollars("re_1", price), named, total))

	require.Equal(t, []string{"u1 pending 500"}, r.refunds(t, id))
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"currency_mismatch", "currency_mismatch", "currency_mismatch"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// Nor is one that the answer to a call tells of, which keeps its name: what is told of
// it later, by a webhook or by an answer, is the same.
func TestARefundThatIsAnsweredInAnotherCurrencyIsNotCounted(t *testing.T) {
	t.Parallel()
	dollars := func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "USD"}}, nil
	}
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) { return dollars() }, lookup: dollars}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 700)
	_, err := r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	told := cents(webhooks.KindRefundSucceeded, id, "re_1", 700)
	told.Money.Currency = "USD"
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, told))

	require.Equal(t, []string{"u1 re_1 pending 700"}, r.refunds(t, id))
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"currency_mismatch"}, r.discrepancies(t, id))
	require.Equal(t, []string{"700 USD"}, rows[string](t, r, "SELECT amount || ' ' || currency FROM discrepancies WHERE text LIKE 'The provider speaks of a refund in another currency%'"))
	p.refund = nil
	require.EqualValues(t, price-700, r.refund(t, id, "refund-2").Money.Minor, "what is under way is not refunded twice")
	require.Empty(t, r.verify(t))

	p.lookup = func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsFailed, ProviderRefundID: "re_1", Money: &payment.Money{Minor: 700, Currency: "USD"}}, nil
	}
	ours, err = r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, fsm.RefundFailed, ours.State, "nothing moved, in any currency")
}

// What was asked for counts, as after the answer to a call, and a person is told:
// whether the refund was pending when the provider said so, or had succeeded.
func TestAWebhookOfARefundOfAnotherAmountAsksAPerson(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	pending := r.refundOf(t, id, "refund-1", 500)
	p.refund = nil
	done := r.refundOf(t, id, "refund-2", 600)
	for i, ours := range []payment.Refund{pending, done} {
		less := cents(webhooks.KindRefundSucceeded, id, fmt.Sprintf("re_%d", i), 300)
		less.RefundReference = ours.ID.String()
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, less))
	}
	require.EqualValues(t, 1100, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"amount_mismatch", "amount_mismatch"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// A refund that nobody here asked for and that does not say how much it is, or which,
// is not passed over in silence. One that failed moved nothing.
func TestARefundOfAnUnknownAmountAsksAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	blank := func(kind webhooks.Kind, refund string) webhooks.Event {
		e := event(kind, id.String())
		e.RefundID = refund
		return e
	}
	odd, whose := blank(webhooks.KindRefundSucceeded, "re_3"), cents(webhooks.KindRefundSucceeded, id, "", 300)
	odd.Amount, whose.RefundReference = "5.001", "a stranger's"
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Conflict, fsm.Conflict, fsm.Conflict, payment.Ignored}, r.tell(t,
		blank(webhooks.KindRefundPending, "re_1"), blank(webhooks.KindRefundSucceeded, "re_1"), odd, whose,
		blank(webhooks.KindRefundFailed, "re_4")))
	require.Equal(t, []string{"needs_review", "needs_review", "needs_review"}, r.discrepancies(t, id), "one for each refund")
	require.Zero(t, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A provider that names no currency means the payment's, whatever the configuration
// says.
func TestARefundWithoutACurrencyIsInThePayments(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for i, params := range []map[string]string{nil, {"currency": "RUB"}} {
		v, err := cloudpayments.New(webhooks.Config{Secrets: []string{"s"}, Params: params})
		require.NoError(t, err)
		d := webhooks.Delivery{Method: http.MethodPost, Topic: "refund", ReceivedAt: time.Now(), Body: fmt.Appendf(nil,
			"TransactionId=18%d&PaymentTransactionId=17&Amount=5.00&InvoiceId=%s&OperationType=Refund", i, id)}
		require.NoError(t, v.Sign(&d))
		events, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, events...))
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// Two refunds of one amount are made at once, and their webhooks carry no name of
// ours: before the answers nobody can tell which is which, nor that they are ours.
func TestRefundsWhoseWebhooksOvertakeTheirAnswersCountOnce(t *testing.T) {
	t.Parallel()
	made, answer := make(chan string, 2), make(chan struct{})
	p := &refunding{refund: func(send func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		o, err := send()
		made <- o.ProviderRefundID
		<-answer
		return o, err
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	done, amount := make(chan error, 2), int64(500)
	for _, key := range []string{"refund-1", "refund-2"} {
		go func() {
			_, err := r.Refund(t.Context(), shop, request("refund", key, ""), payment.CreateRefund{AttemptID: id, Amount: &amount})
			done <- err
		}()
	}
	first, second := <-made, <-made
	require.Equal(t, []fsm.Verdict{payment.Deferred, payment.Deferred}, r.tell(t,
		cents(webhooks.KindRefundSucceeded, id, first, 500), cents(webhooks.KindRefundSucceeded, id, second, 500)))
	require.Zero(t, r.attempt(t, id).Refunded)
	close(answer)
	for range 2 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Len(t, r.refunds(t, id), 2)
	require.Zero(t, r.parked(t), "what waited for a name was looked at when it came")
	require.Empty(t, r.discrepancies(t, id))
	require.EqualValues(t, price-1000, r.refund(t, id, "refund-3").Money.Minor)
	require.Empty(t, r.verify(t))
}

func TestRefundsWhoseAnswersComeFirstCountOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	for _, key := range []string{"refund-1", "refund-2"} {
		name := r.refundOf(t, id, key, 500).ProviderRefundID
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, name, 500)))
	}
	require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
	require.Len(t, r.refunds(t, id), 2)
	require.Empty(t, r.verify(t))
}

// A webhook, too, may bring the name or the end of the one that others wait for; and
// what it frees may be what the next one waits for.
func TestAWebhookThatNamesARefundFreesThoseThatWait(t *testing.T) {
	t.Parallel()
	for kind, counted := range map[webhooks.Kind]int64{webhooks.KindRefundSucceeded: 1300, webhooks.KindRefundFailed: 800} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: backLost}
			r := newRig(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			first, second := r.refundOf(t, id, "refund-1", 500), r.refundOf(t, id, "refund-2", 500)
			require.Equal(t, []fsm.Verdict{payment.Deferred, payment.Deferred}, r.tell(t,
				cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300), cents(webhooks.KindRefundSucceeded, id, "re_2", 500)))
			named := cents(kind, id, "re_1", 500)
			named.RefundReference = first.ID.String()
			r.tell(t, named)
			require.Equal(t, counted, r.attempt(t, id).Refunded)
			require.Zero(t, r.parked(t))
			require.Contains(t, r.refunds(t, id), "provider re_theirs succeeded 300")
			require.Equal(t, []string{"succeeded"}, rows[string](t, r, "SELECT status FROM refunds WHERE refund_id = $1", second.ID.String()))
			require.Empty(t, r.verify(t))
		})
	}
}

// A refund of the dashboard's waits while it could be ours, and is taken in once
// ours has failed, or has another name.
func TestARefundOfTheDashboardWaitsForOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost, lookup: func() (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsFailed, ProviderRefundID: "re_ours"}, nil
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300)))
	r.retry(t, true)
	require.Equal(t, []string{"u1 pending 500"}, r.refunds(t, id))

	r.exec(t, "UPDATE refunds SET created_at = created_at - interval '11 minutes' WHERE refund_id = $1", ours.ID.String())
	_, err := r.RecheckRefund(t.Context(), ours.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, []string{"u1 re_ours failed 500", "provider re_theirs succeeded 300"}, r.refunds(t, id))
	require.EqualValues(t, 300, r.attempt(t, id).Refunded)
	require.Zero(t, r.parked(t))
	require.Empty(t, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// It may be told of by any name of its payment, of which a payment has several.
func TestARefundThatIsToldOfByAnotherNameOfItsPaymentWaitsForOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: backLost}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, event(webhooks.KindSucceeded, id.String(), "ch_1")))
	ours := r.refundOf(t, id, "refund-1", 500)
	theirs := cents(webhooks.KindRefundSucceeded, id, "re_theirs", 300)
	theirs.References = []string{"ch_1"}
	named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 500)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{payment.Deferred, fsm.Applied}, r.tell(t, theirs, named))
	require.Zero(t, r.parked(t))
	require.Equal(t, []string{"u1 re_ours succeeded 500", "provider re_theirs succeeded 300"}, r.refunds(t, id))
	require.EqualValues(t, 800, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// Our refund learns a name under which another one is on disk. One that was taken
// for the dashboard's was ours all the time.
func TestARefundThatWasTakenForTheDashboardsIsOurs(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]webhooks.Kind{
		"succeeded": webhooks.KindRefundSucceeded, "pending": webhooks.KindRefundPending, "failed": webhooks.KindRefundFailed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
				return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
			}}
			r := newRig(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			r.tell(t, cents(kind, id, "re_1", 500))
			ours := r.refundOf(t, id, "refund-1", 500)
			require.Equal(t, "re_1", ours.ProviderRefundID)
			require.EqualValues(t, name, ours.State)
			p.refund = nil
			if kind != webhooks.KindRefundFailed {
				r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 500))
				require.EqualValues(t, 500, r.attempt(t, id).Refunded)
				require.EqualValues(t, price-500, r.refund(t, id, "refund-2").Money.Minor, "what is left is still there")
			} else {
				require.Zero(t, r.attempt(t, id).Refunded)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// The same of one that had failed here, and was paid all the same.
func TestAFailedRefundThatWasTakenForTheDashboardsIsOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: turnedAway}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 500)
	told := cents(webhooks.KindRefundSucceeded, id, "re_1", 500)
	again := cents(webhooks.KindRefundSucceeded, id, "re_1", 500)
	again.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict}, r.tell(t, told, again))
	require.Equal(t, []string{"u1 re_1 failed 500 reversed", "provider succeeded 500 reversed"}, r.refunds(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

// Two refunds of ours that get one name ask a person, and go on being asked about.
func TestTwoRefundsOfOneNameAskAPerson(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_1"}, nil
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	require.Equal(t, fsm.RefundSucceeded, r.refundOf(t, id, "refund-1", 500).State)
	second := r.refundOf(t, id, "refund-2", 500)
	require.Equal(t, fsm.RefundPending, second.State)
	second, err := r.RecheckRefund(t.Context(), second.ID, byTest)
	require.NoError(t, err)
	require.Equal(t, 2, second.Checks)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// Stripe tells of a hold that is released as of a refund of all of it. Nothing was
// taken, and nobody need look.
func TestAHoldThatStripeReleasesIsNoRefund(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	v, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_x"}})
	require.NoError(t, err)
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindAuthorized))
	require.Equal(t, fsm.Applied, r.say(t, id, webhooks.KindFailed))
	d := webhooks.Delivery{ReceivedAt: time.Now(), Body: fmt.Appendf(nil, `{"id":"evt_1","type":"charge.refunded","api_version":"2024-06-20",
		"data":{"object":{"id":"ch_1","object":"charge","amount":1999,"amount_captured":0,"amount_refunded":1999,"captured":false,
		"currency":"eur","metadata":{"payment_attempt_id":%q},"payment_intent":"pi_1","refunded":true}}}`, id)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, events...))
	require.Zero(t, r.parked(t))
	require.Zero(t, r.attempt(t, id).Refunded)
}

// That a refund failed of which nobody says how much it was moves nothing, before the
// payment and after.
func TestAFailedRefundThatIsUnknownIsIgnored(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	for token, n := range map[string]int64{"tok_never": 0, "tok_success": price} {
		id := r.paid(t, payment.OrderID(token), token).ID
		failed := event(webhooks.KindRefundFailed, id.String())
		failed.RefundID = "re_1"
		require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, failed))
		require.Equal(t, n, r.attempt(t, id).Held())
		require.Empty(t, r.discrepancies(t, id))
	}
	require.Zero(t, r.parked(t))
}
