package tbank_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
)

func cancel(t *testing.T, c *tbank.Client, id string) payment.Outcome {
	t.Helper()
	o, err := c.Cancel(t.Context(), payment.Cancel{ProviderPaymentID: id, IdempotencyKey: uuid.NewString(), Licence: licence()})
	require.NoError(t, err)
	return o
}

// The bank's Cancel would pay a paid payment back: it is not sent.
func TestCancellingPaysNothingBack(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	paid := charged(t, c, charge(good))
	require.Len(t, got, 2)
	o := cancel(t, c, paid.ProviderPaymentID)
	paid.Refused = true
	require.Equal(t, paid, o)
	for range 2 {
		<-got
	}
	require.Equal(t, "POST /v2/GetState", (<-got).line)
	require.Empty(t, got)
}

// About to be taken is as good as taken.
func TestWhatIsBeingConfirmedIsNotCancelled(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":true,"ErrorCode":"0","Status":"CONFIRMING","PaymentId":"1","Amount":1999}`)
	require.Equal(t, payment.Outcome{News: fsm.NewsProcessing, Refused: true, ProviderPaymentID: "1"}, cancel(t, c, "1"))
}

// Paid between the question and the command: the money went back, and a person
// hears of it.
func TestAPaymentThatIsPaidWhileItIsCancelledIsReversed(t *testing.T) {
	t.Parallel()
	f := serving(func(method string, f *fake) {
		for _, p := range f.payments {
			if method == "Cancel" && p.status == "NEW" {
				p.pay()
			}
		}
	})
	c, _ := serve(t, f)
	waits := charged(t, c, charge("redirect"))
	money := rub(1999)
	require.Equal(t, payment.Outcome{
		News: fsm.NewsReversed, ProviderPaymentID: waits.ProviderPaymentID, Money: &money,
	}, cancel(t, c, waits.ProviderPaymentID))
	now, err := c.Lookup(t.Context(), waits.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, now.News)
	require.Nil(t, now.Money, "how much is left the amount does not say")
}

// A customer in the middle of it can't be stopped.
func TestARefusedCancellationTellsHowThePaymentStands(t *testing.T) {
	t.Parallel()
	f := serving(func(method string, f *fake) {
		for _, p := range f.payments {
			if method == "GetState" {
				p.status = "3DS_CHECKING"
			}
		}
	})
	c, _ := serve(t, f)
	waits := charged(t, c, charge("redirect"))
	require.Equal(t, payment.Outcome{
		News: fsm.NewsActionRequired, Refused: true, ProviderPaymentID: waits.ProviderPaymentID,
	}, cancel(t, c, waits.ProviderPaymentID))
}

// A capture whose answer was lost is refused the second time, because it was made.
func TestACaptureThatWasMadeAlreadyIsNotRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(good)
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	cp := payment.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: rub(500), Licence: licence()}
	for range 2 {
		o, err := c.Capture(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, fsm.NewsSucceeded, o.News)
		require.Equal(t, rub(500), *o.Money)
		require.False(t, o.Refused)
	}
}

// One that is being carried out is refused the second time, too: that is not the
// end of it.
func TestACommandThatIsUnderWayIsNotRefused(t *testing.T) {
	t.Parallel()
	for status, refused := range map[string][2]bool{
		"CONFIRMING": {false, true}, "CONFIRM_CHECKING": {false, true}, "REVERSING": {true, false}, "AUTHORIZED": {true, true},
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			now := `{"Success":true,"ErrorCode":"0","Status":"` + status + `","PaymentId":"1","Amount":1999}`
			if r.URL.Path != "/v2/GetState" {
				now = `{"Success":false,"ErrorCode":"4"}`
			}
			_, _ = io.WriteString(w, now)
		}))
		o, err := c.Capture(t.Context(), payment.Capture{ProviderPaymentID: "1", Money: rub(1999), Licence: licence()})
		require.NoError(t, err)
		require.Equal(t, refused[0], o.Refused, status)
		require.Equal(t, refused[1], cancel(t, c, "1").Refused, status)
		require.NotEqual(t, fsm.NewsFailed, o.News)
	}
}

// The bank's own trouble is not a refusal.
func TestACommandWithoutADefinitiveAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":false,"ErrorCode":"9999","Status":"AUTHORIZED","PaymentId":"1"}`)
	_, err := c.Capture(t.Context(), payment.Capture{ProviderPaymentID: "1", Money: rub(1), Licence: licence()})
	require.ErrorContains(t, err, "9999")
	_, err = c.Cancel(t.Context(), payment.Cancel{ProviderPaymentID: "1", Licence: licence()})
	require.ErrorContains(t, err, "9999")
	_, err = c.Refund(t.Context(), payment.RefundCall{ProviderPaymentID: "1", Money: rub(1), Licence: licence()})
	require.ErrorContains(t, err, "9999")
	require.NotErrorIs(t, err, payment.ErrNotSent)
}

// A hold of which a part was released in the cabinet is a hold of the rest.
func TestAPartlyReleasedHoldHoldsTheRest(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":true,"ErrorCode":"0","Status":"PARTIAL_REVERSED","PaymentId":"1","Amount":700}`)
	o, err := c.Lookup(t.Context(), "1")
	require.NoError(t, err)
	require.Equal(t, fsm.NewsAuthorized, o.News)
	require.Equal(t, rub(700), *o.Money)
}

func TestHowARefundIsAnswered(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]payment.RefundOutcome{
		`"Status":"REFUNDED","OriginalAmount":1999,"NewAmount":0`:            {News: fsm.NewsSucceeded, Money: new(rub(1999))},
		`"Status":"PARTIAL_REFUNDED","OriginalAmount":1999,"NewAmount":1299`: {News: fsm.NewsSucceeded, Money: new(rub(700))},
		`"Status":"ASYNC_REFUNDING","OriginalAmount":1999,"NewAmount":1999`:  {News: fsm.NewsProcessing},
		`"Status":"REFUNDING"`: {News: fsm.NewsProcessing},
	} {
		c := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":1,`+body+`}`)
		o, err := c.Refund(t.Context(), payment.RefundCall{ProviderPaymentID: "1", Money: rub(700), IdempotencyKey: "k-refund", Licence: licence()})
		require.NoError(t, err)
		want.ProviderRefundID = "k-refund"
		require.Equal(t, want, o, body)
	}
}

// The bank remembers our name of a refund: the same again pays nothing back.
func TestARefundBearsItsName(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	paid := charged(t, c, charge(good))
	r := payment.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: rub(1999), IdempotencyKey: "k-refund", Reason: "He shouted.", Licence: licence()}
	for range 2 {
		o, err := c.Refund(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, fsm.NewsSucceeded, o.News)
	}
	for range 2 {
		<-got
	}
	in := scalars([]byte((<-got).body))
	require.Equal(t, "k-refund", in["ExternalRequestId"])
	require.Equal(t, "1999", in["Amount"])
	require.NotContains(t, in, "Reason")
}

func TestATerminalThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"202", "204", "205", "501", "648"} {
		c := says(t, `{"Success":false,"ErrorCode":"`+code+`"}`)
		r, err := c.Refund(t.Context(), payment.RefundCall{ProviderPaymentID: "1", Money: rub(1), Licence: licence()})
		require.NoError(t, err)
		require.Equal(t, payment.RefusedRefund(code), r)
		_, err = c.Lookup(t.Context(), "1")
		require.ErrorContains(t, err, code)
		require.NotErrorIs(t, err, payment.ErrNoSuchPayment)
	}
}

// There is no call for a refund: only a payment's state that leaves no doubt is an
// answer.
func TestWhatThePaymentTellsOfARefund(t *testing.T) {
	t.Parallel()
	ref := payment.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "1"}
	for status, want := range map[string]error{"REFUNDED": nil, "CONFIRMED": payment.ErrNoSuchPayment} {
		o, err := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":"1","Amount":1,"Status":"`+status+`"}`).LookupRefund(t.Context(), ref)
		require.ErrorIs(t, err, want)
		if want == nil {
			require.Equal(t, payment.RefundOutcome{News: fsm.NewsSucceeded}, o)
		}
	}
	for _, status := range []string{"PARTIAL_REFUNDED", "REFUNDING", "ASYNC_REFUNDING", "AUTHORIZED", "NEW", "X"} {
		_, err := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":"1","Amount":1,"Status":"`+status+`"}`).LookupRefund(t.Context(), ref)
		require.ErrorIs(t, err, payment.ErrNotTold, status)
		require.NotErrorIs(t, err, payment.ErrNoSuchPayment, status)
	}
}
