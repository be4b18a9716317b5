package tbank_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
)

func TestASavedCardIsChargedInTwoCalls(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge(good)
	o := charged(t, c, ch)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, rub(1999), *o.Money)

	begun, made := <-got, <-got
	require.Equal(t, "POST /v2/Init", begun.line)
	in := scalars([]byte(begun.body))
	require.Equal(t, token(in), in["Token"])
	delete(in, "Token")
	require.Equal(t, map[string]string{
		"TerminalKey": terminal, "OrderId": ch.Attempt.String(), "Amount": "1999", "PayType": "O",
		"SuccessURL": "https://shop.example/back", "FailURL": "https://shop.example/back", objectName + "DATA": `{"OperationInitiatorType":"2"}`,
	}, in)
	require.Equal(t, "POST /v2/Charge", made.line)
	in = scalars([]byte(made.body))
	delete(in, "Token")
	require.Equal(t, map[string]string{"TerminalKey": terminal, "PaymentId": o.ProviderPaymentID, "RebillId": good}, in)
}

func TestTheBanksPageIsOneCall(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	ch.Capture, ch.ReturnURL = payment.CaptureManual, ""
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, Payee: terminal, Live: new(false),
		NextAction: payment.Redirect("https://securepay.tinkoff.ru/new/" + o.ProviderPaymentID),
	}, o)
	in := scalars([]byte((<-got).body))
	require.Equal(t, "T", in["PayType"])
	require.NotContains(t, in, "SuccessURL")
	require.Empty(t, got)
}

// A payment whose customer has not opened or not finished the page waits for its customer. It is not under way at the
// bank.
func TestAPageWaitsForItsCustomer(t *testing.T) {
	t.Parallel()
	f := serving(nil)
	c, _ := serve(t, f)
	o := charged(t, c, charge("redirect"))
	for _, status := range []string{"NEW", "FORM_SHOWED"} {
		f.payments[o.ProviderPaymentID].status = status
		now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, Payee: terminal, Live: new(false)}, now, status)
	}
}

// Requests name no currency, so an amount in another currency would become other money.
func TestMoneyThatTheTerminalDoesNotTakeIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	euro := payment.Money{Minor: 1999, Currency: "EUR"}
	ch := charge(good)
	ch.Money = euro
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: euro, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: euro, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

func TestADeclineSaysWhy(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]gateway.Outcome{
		poor:     {Event: fsm.EventFailed, Failure: payment.NewFailure("insufficient_funds", "1051")},
		declined: {Event: fsm.EventFailed, Failure: payment.NewFailure("card_declined", "1005")},
		unproven: {Event: fsm.EventFailed, Failure: payment.NewFailure("authentication_failed", "101")},
	} {
		c, _ := serve(t, newFake(t))
		o := charged(t, c, charge(token))
		require.NotEmpty(t, o.ProviderPaymentID)
		want.ProviderPaymentID, want.Payee, want.Live = o.ProviderPaymentID, terminal, new(false)
		require.Equal(t, want, o)
		now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		if token == unproven { // a lookup can't know that there is no page for another try
			want.Event, want.PageOpen = fsm.EventSoftFailed, true
		}
		require.Equal(t, want, now)
	}
}

// A payment that the bank did not begin can't be paid, whatever the error was.
func TestAPaymentThatIsNotBegunIsRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"204", "309", "251", "3", "9999"} {
		for _, token := range []string{good, "redirect"} {
			o := charged(t, says(t, `{"Success":false,"ErrorCode":"`+code+`","Message":"x","PaymentId":"0"}`), charge(token))
			require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code)}, o)
		}
	}
}

// begins answers Init as the bank does, and any other method with one text.
func begins(t *testing.T, then string) *tbank.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/Init" {
			_, _ = fmt.Fprint(w, `{"Success":true,"ErrorCode":"0","Status":"NEW","PaymentId":"1","Amount":1999,"PaymentURL":"https://p/1"}`)
			return
		}
		_, _ = fmt.Fprint(w, then)
	}))
	return c
}

// An error about the request is an answer. An internal error of the bank leaves the outcome of the charge unknown.
func TestWhichErrorsOfAChargeAreDefinitive(t *testing.T) {
	t.Parallel()
	for code, definitive := range map[string]bool{
		"8": true, "10": true, "104": true, "1126": true, "201": true, "309": true, "310": true, "315": true, "399": true, "600": true, "699": true,
		"200": false, "314": false, "400": false, "599": false, "700": false,
		"3": false, "99": false, "311": false, "402": false, "1051": false, "1096": false, "9999": false, "x": false,
	} {
		o, err := begins(t, `{"Success":false,"ErrorCode":"`+code+`"}`).Charge(t.Context(), charge(good))
		if !definitive {
			require.ErrorContains(t, err, code)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			continue
		}
		require.NoError(t, err, code)
		require.Equal(t, gateway.Outcome{
			Event: fsm.EventFailed, Refused: true, ProviderPaymentID: "1", Failure: payment.NewFailure("provider_rejected", code),
		}, o)
	}
}

func TestAnswersThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"contradiction":         `{"Success":true,"ErrorCode":"3","Status":"CONFIRMED","PaymentId":"1","Amount":1999}`,
		"another contradiction": `{"Success":false,"ErrorCode":"0","Status":"REJECTED","PaymentId":"1"}`,
		"no status":             `{"Success":true,"ErrorCode":"0","PaymentId":"1"}`,
		"no id":                 `{"Success":true,"ErrorCode":"0","Status":"CONFIRMED","Amount":1999}`,
		"half a kopeck":         `{"Success":true,"ErrorCode":"0","Status":"CONFIRMED","PaymentId":"1","Amount":19.99}`,
		"error, yet confirmed":  `{"Success":false,"ErrorCode":"9999","Status":"CONFIRMED","PaymentId":"1"}`,
	} {
		_, err := begins(t, body).Charge(t.Context(), charge(good))
		require.Error(t, err, name)
		require.NotErrorIs(t, err, gateway.ErrNotSent, name)
	}
	_, err := says(t, `{"Success":true,"ErrorCode":"0","Status":"NEW","PaymentId":"1"}`).Charge(t.Context(), charge("redirect"))
	require.Error(t, err, "no page to go to")
}

// If the lease ends between the two calls, the payment was begun and could still be charged. The outcome requires its
// cancel.
func TestALicenceThatEndsBetweenTheCallsLeavesASoftFailure(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge(good)
	asked := 0
	start := time.Now()
	ch.Permit = gateway.NewPermit(start, time.Minute, func() time.Time {
		if asked++; asked > 1 {
			return start.Add(time.Hour)
		}
		return start
	})
	o := charged(t, c, ch)
	require.Len(t, got, 1)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventSoftFailed, ProviderPaymentID: o.ProviderPaymentID, Failure: payment.NewFailure("not_started", ""),
	}, o)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, over.Event)
}

func TestErrorsKeepTheBanksTexts(t *testing.T) {
	t.Parallel()
	_, err := begins(t, `{"Success":false,"ErrorCode":"9999","Message":"Jane Doe","Details":"Jane Doe"}`).Charge(t.Context(), charge(good))
	require.ErrorContains(t, err, "9999")
	require.NotContains(t, err.Error(), "Jane")
}

func TestWithoutAPasswordThereIsNoClient(t *testing.T) {
	t.Parallel()
	_, err := tbank.New("", terminal, "", "", http.DefaultClient)
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressTheBankIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := client(t, "", "", &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, errors.New("no network")
	})})
	_, err := c.Lookup(t.Context(), "1")
	require.ErrorContains(t, err, "no network")
	require.Equal(t, "https://securepay.tinkoff.ru/v2/GetState", called)
}
