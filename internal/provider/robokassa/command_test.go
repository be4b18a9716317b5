package robokassa_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/robokassa"
)

// held returns a payment that waits for its capture.
func held(t *testing.T, c *robokassa.Client, f *fake) string {
	t.Helper()
	ch := charge("redirect")
	ch.Capture = payment.CaptureManual
	id := visited(t, c, f, ch).ProviderPaymentID
	f.pay(id)
	return id
}

func (f *fake) commands() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.seen {
		if line != "GET /Merchant/WebService/Service.asmx/OpStateExt" && line != "GET /Merchant/Index.aspx" {
			n++
		}
	}
	return n
}

// TestWhatIsAcceptedMayShowLater: the response to a command is no result.
func TestWhatIsAcceptedMayShowLater(t *testing.T) {
	t.Parallel()
	c, f := opened(t)
	id := held(t, c, f)
	f.lags = true
	want := gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id}
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: rub(1999), Whole: true, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, want, o)
	o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, want, o)
	require.Equal(t, 2, f.commands())
}

// TestALinkIsOverWhenItsCustomerHadTheTime: Robokassa can't cancel a link.
func TestALinkIsOverWhenItsCustomerHadTheTime(t *testing.T) {
	t.Parallel()
	c, f := opened(t)
	ch := charge("redirect")
	unopened, err := c.Charge(t.Context(), ch)
	require.NoError(t, err)
	left := visited(t, c, f, charge("redirect")).ProviderPaymentID
	f.operations[left].state = 10
	for id, waits := range map[string]fsm.Event{unopened.ProviderPaymentID: fsm.EventActionRequired, left: fsm.EventSoftFailed} {
		o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Quiet: 14 * time.Minute, Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, waits, o.Event)
		require.False(t, o.Refused)
		o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Quiet: 15 * time.Minute, Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, fsm.EventFailed, o.Event)
		require.Equal(t, "canceled", o.Failure.Code)
		require.False(t, o.PageOpen)
	}
	require.Zero(t, f.commands())
}

// TestOnlyAHoldIsCaptured: a hold can be confirmed only once, so nothing is sent for a payment that is not on hold.
func TestOnlyAHoldIsCaptured(t *testing.T) {
	t.Parallel()
	for state, want := range map[int]gateway.Outcome{
		5:   {Event: fsm.EventActionRequired, Refused: true},
		50:  {Event: fsm.EventProcessing, Refused: true},
		60:  {Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("canceled", "60")},
		100: {Event: fsm.EventSucceeded, Money: &payment.Money{Minor: 1999, Currency: "RUB"}},
	} {
		c, f := opened(t)
		id := held(t, c, f)
		f.operations[id].state = state
		o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: rub(1999), Whole: true, Permit: permit()})
		require.NoError(t, err)
		want.ProviderPaymentID, want.References = id, o.References
		require.Equal(t, want, o, "%d", state)
		require.Zero(t, f.commands(), "%d", state)
	}
}

// TestVerdicts: a response without a verdict leaves the outcome unknown.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for body, known := range map[string]bool{
		`"success: true"`: true, `success: true`: true, `"success: false"`: true, `{"errorCode":5,"errorMessage":"x"}`: false, ``: false, `"success"`: false,
	} {
		c, f := opened(t)
		id := held(t, c, f)
		_, err := verdicts(t, f, body).Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Permit: permit()})
		if known {
			require.NoError(t, err, body)
			continue
		}
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNotSent)
	}
}

// TestRefundsNeedTheirPassword: without the password nothing is sent.
func TestRefundsNeedTheirPassword(t *testing.T) {
	t.Parallel()
	of := shop()
	of.Password3 = ""
	_, err := client(t, "http://127.0.0.1:1", of, http.DefaultClient).Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.ErrorIs(t, err, gateway.ErrUnsupported)
}

func TestRefundStates(t *testing.T) {
	t.Parallel()
	money := &payment.Money{Minor: 100, Currency: "RUB"}
	for label, want := range map[string]gateway.RefundOutcome{
		"finished":   {Event: fsm.EventSucceeded, Money: money},
		"processing": {Event: fsm.EventProcessing, Money: money},
		"of the day": {Event: fsm.EventProcessing, Money: money},
		"canceled":   {Event: fsm.EventFailed, Money: money, Failure: payment.NewFailure("canceled", "")},
	} {
		want.ProviderRefundID = "r-1"
		c := says(t, `{"requestId":"r-1","amount":1.000000,"label":"`+label+`"}`)
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r-1"})
		require.NoError(t, err, label)
		require.Equal(t, want, got, label)
	}
	for _, body := range []string{`{"requestId":"r-2","amount":1,"label":"finished"}`, `{"requestId":"r-1","amount":1}`, `{"message":"later"}`, `{"requestId":"r-1","amount":0.001,"label":"finished"}`} {
		_, err := says(t, body).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r-1"})
		require.Error(t, err, body)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
	}
}

// TestAForeignSignatureRefundsNothing: Robokassa refuses a token that was signed with another password.
func TestAForeignSignatureRefundsNothing(t *testing.T) {
	t.Parallel()
	c, f := opened(t)
	id := visited(t, c, f, charge("redirect")).ProviderPaymentID
	f.pay(id)
	of := shop()
	of.Password3 = "another"
	o, err := reach(t, f, of).Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: id, Money: rub(100), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("refund_refused"), o)
	require.Empty(t, f.refunds)
}
