package tbank_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
)

func cancel(t *testing.T, c *tbank.Client, id string) gateway.Outcome {
	t.Helper()
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, IdempotencyKey: uuid.NewString(), Permit: permit()})
	require.NoError(t, err)
	return o
}

// The bank's Cancel would refund a paid payment, so it is not sent.
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

// The cancel sends its key, so that the bank does not refund again under the same key.
func TestACancellationBearsItsName(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	waits := charged(t, c, charge("redirect"))
	_, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: waits.ProviderPaymentID, IdempotencyKey: "k-cancel-0", Permit: permit()})
	require.NoError(t, err)
	for range 2 {
		<-got
	}
	require.Equal(t, "k-cancel-0", scalars([]byte((<-got).body))["ExternalRequestId"])
}

// A capture in progress counts as a capture.
func TestWhatIsBeingConfirmedIsNotCancelled(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":true,"ErrorCode":"0","Status":"CONFIRMING","PaymentId":"1","Amount":1999}`)
	require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, Refused: true, ProviderPaymentID: "1"}, cancel(t, c, "1"))
}

// If the customer pays between the lookup and the command, the money is refunded, and the movements show it.
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
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "REFUNDED"), ProviderPaymentID: waits.ProviderPaymentID, Payee: terminal, Live: new(false),
		Movements: []payment.MovementReport{{Kind: payment.MovementCapture, Money: money}, {Kind: payment.MovementCaptureReversal, Money: money}},
	}, cancel(t, c, waits.ProviderPaymentID))
	now, err := c.Lookup(t.Context(), waits.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, now.Event)
	require.Nil(t, now.Money, "how much is left the amount does not say")
}

// The bank may leave out the amount: the whole of it went back.
func TestAReversalWithoutAnAmountIsOfAll(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := map[bool]string{true: "NEW", false: "REFUNDED"}[r.URL.Path == "/v2/GetState"]
		_, _ = io.WriteString(w, `{"Success":true,"ErrorCode":"0","Status":"`+status+`","PaymentId":"1"}`)
	}))
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "REFUNDED"), ProviderPaymentID: "1",
		Movements: []payment.MovementReport{{Kind: payment.MovementCapture}, {Kind: payment.MovementCaptureReversal}},
	}, cancel(t, c, "1"))
}

// The payment is paid and stays paid, so no money was refunded.
func TestAPaymentThatIsPaidAndNotCancelledIsPaid(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := map[bool]string{true: "NEW", false: "CONFIRMED"}[r.URL.Path == "/v2/GetState"]
		_, _ = io.WriteString(w, `{"Success":true,"ErrorCode":"0","Status":"`+status+`","PaymentId":"1","Amount":1999}`)
	}))
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: "1", Money: new(rub(1999))}, cancel(t, c, "1"))
}

// A payment that its customer is making can't be stopped.
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
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, Refused: true, ProviderPaymentID: waits.ProviderPaymentID, Payee: terminal, Live: new(false),
	}, cancel(t, c, waits.ProviderPaymentID))
}

// A repeated capture is refused if the first succeeded and its answer was lost.
func TestACaptureThatWasMadeAlreadyIsNotRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(good)
	ch.Capture = payment.CaptureManual
	held := charged(t, c, ch)
	cp := gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: rub(500), Permit: permit()}
	for range 2 {
		o, err := c.Capture(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Equal(t, rub(500), *o.Money)
		require.False(t, o.Refused)
	}
}

// A repeated command is also refused while the first is in progress. That is not a final refusal.
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
		o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: rub(1999), Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, refused[0], o.Refused, status)
		require.Equal(t, refused[1], cancel(t, c, "1").Refused, status)
		require.NotEqual(t, fsm.EventFailed, o.Event)
	}
}

// An internal error of the bank is not a refusal.
func TestACommandWithoutADefinitiveAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":false,"ErrorCode":"9999","Status":"AUTHORIZED","PaymentId":"1"}`)
	_, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
	require.ErrorContains(t, err, "9999")
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
	require.ErrorContains(t, err, "9999")
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
	require.ErrorContains(t, err, "9999")
	require.NotErrorIs(t, err, gateway.ErrNotSent)
}

// A hold that was partially released in the bank's cabinet holds the rest.
func TestAPartlyReleasedHoldHoldsTheRest(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":true,"ErrorCode":"0","Status":"PARTIAL_REVERSED","PaymentId":"1","Amount":700}`)
	o, err := c.Lookup(t.Context(), "1")
	require.NoError(t, err)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	require.Equal(t, rub(700), *o.Money)
}

func TestHowARefundIsAnswered(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]gateway.RefundOutcome{
		`"Status":"REFUNDED","OriginalAmount":1999,"NewAmount":0`:            {Event: fsm.EventSucceeded, Money: new(rub(1999))},
		`"Status":"PARTIAL_REFUNDED","OriginalAmount":1999,"NewAmount":1299`: {Event: fsm.EventSucceeded, Money: new(rub(700))},
		`"Status":"ASYNC_REFUNDING","OriginalAmount":1999,"NewAmount":1999`:  {Event: fsm.EventProcessing},
		`"Status":"REFUNDING"`: {Event: fsm.EventProcessing},
		`"Status":"REVERSED","OriginalAmount":1999,"NewAmount":0`:            {Event: fsm.EventSucceeded, Money: new(rub(1999))},
		`"Status":"PARTIAL_REVERSED","OriginalAmount":1999,"NewAmount":1299`: {Event: fsm.EventSucceeded, Money: new(rub(700))},
	} {
		c := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":1,`+body+`}`)
		o, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(700), Left: rub(1999), IdempotencyKey: "k-refund", Permit: permit()})
		require.NoError(t, err)
		want.ProviderRefundID = "k-refund"
		require.Equal(t, want, o, body)
	}
}

// The bank stores our id of a refund, so the same request again refunds nothing.
func TestARefundBearsItsName(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	paid := charged(t, c, charge(good))
	r := gateway.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: rub(1999), IdempotencyKey: "k-refund", Reason: "He shouted.", Permit: permit()}
	for range 2 {
		o, err := c.Refund(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
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
		r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.RefusedRefund(code), r)
		_, err = c.Lookup(t.Context(), "1")
		require.ErrorContains(t, err, code)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	}
}

// The bank has no call for a refund. Only an unambiguous state of the payment is an answer.
func TestWhatThePaymentTellsOfARefund(t *testing.T) {
	t.Parallel()
	type asked struct {
		status string
		amount int64
		name   string
		age    time.Duration
	}
	const old = 10*time.Minute + 1
	rejected := payment.NewFailure("provider_rejected", "")
	for is, want := range map[asked]any{
		{"REFUNDED", 1999, "", 0}:                  gateway.RefundOutcome{Event: fsm.EventSucceeded},
		{"REFUNDED", 1999, "k", 0}:                 gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "k"},
		{"REFUNDING", 1999, "", 0}:                 gateway.RefundOutcome{Event: fsm.EventProcessing},
		{"ASYNC_REFUNDING", 1999, "k", old}:        gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "k"},
		{"PARTIAL_REFUNDED", 1999, "k", 0}:         gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "k", Unnamed: true},
		{"PARTIAL_REFUNDED", 1299, "k", 0}:         gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "k", Unnamed: true},
		{"PARTIAL_REFUNDED", 700, "k", 0}:          gateway.RefundOutcome{Event: fsm.EventSucceeded, ProviderRefundID: "k", Unnamed: true},
		{"PARTIAL_REFUNDED", 1000, "k", 0}:         gateway.ErrInconclusive,
		{"PARTIAL_REFUNDED", 1999, "", old}:        gateway.ErrInconclusive,
		{"CONFIRMED", 1999, "k", old}:              gateway.RefundOutcome{Event: fsm.EventFailed, ProviderRefundID: "k", Failure: rejected},
		{"CONFIRMED", 1999, "k", 10 * time.Minute}: gateway.ErrInconclusive,
		{"CONFIRMED", 1999, "", old}:               gateway.ErrNoSuchPayment,
		{"CONFIRMED", 1999, "", 10 * time.Minute}:  gateway.ErrInconclusive,
		{"AUTHORIZED", 1999, "k", old}:             gateway.ErrInconclusive,
		{"NEW", 1999, "k", old}:                    gateway.ErrInconclusive,
		{"X", 1999, "k", old}:                      gateway.ErrInconclusive,
	} {
		c := says(t, fmt.Sprintf(`{"Success":true,"ErrorCode":"0","PaymentId":"1","Amount":%d,"Status":%q}`, is.amount, is.status))
		o, err := c.LookupRefund(t.Context(), gateway.RefundRef{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "1", ProviderRefundID: is.name, Age: is.age, Money: rub(700), Taken: rub(1999),
		})
		if wrong, ok := want.(error); ok {
			require.ErrorIs(t, err, wrong, is)
			continue
		}
		require.NoError(t, err, is)
		require.Equal(t, want, o, is)
	}
	// Both errors are distinct: a missing answer is no proof that there is no refund.
	_, err := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":"1","Status":"NEW"}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "1"})
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A refund that is executed later has no id if the payment has another refund that we have not recorded. The payment's
// state could mean either refund.
func TestARefundBesideAnUnknownOneHasNoName(t *testing.T) {
	t.Parallel()
	c := says(t, `{"Success":true,"ErrorCode":"0","PaymentId":1,"Status":"ASYNC_REFUNDING","OriginalAmount":1699,"NewAmount":999}`)
	o, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(700), Left: rub(1999), IdempotencyKey: "k-refund", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventProcessing, Money: new(rub(700))}, o)
}
