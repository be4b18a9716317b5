package cloudpayments_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
)

// challenged returns the call that completes a payment whose customer is at the bank.
func challenged(t *testing.T, c *cloudpayments.Client, ch gateway.Charge) gateway.Completion {
	t.Helper()
	o := charged(t, c, ch)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, ProviderPaymentID: o.ProviderPaymentID, NextAction: &payment.NextAction{
			Type: payment.ActionPostForm, URL: "https://acs.bank.example/auth/start.do",
			Fields: map[string]string{"PaReq": "eJxVUdtugkAQ", "MD": o.ProviderPaymentID, "TermUrl": "https://shop.example/back"},
		},
	}, o)
	return gateway.Completion{
		Attempt: ch.Attempt, Order: ch.Order, ProviderPaymentID: o.ProviderPaymentID, Money: ch.Money, Capture: ch.Capture,
		Details: json.RawMessage(`{"MD":"` + o.ProviderPaymentID + `","PaRes":"proven"}`), IdempotencyKey: "k-complete", Permit: permit(),
	}
}

func TestACardWith3DSecureIsPaidInTwoSteps(t *testing.T) {
	t.Parallel()
	for mode, want := range map[payment.CaptureMode]fsm.Event{payment.CaptureAutomatic: fsm.EventSucceeded, payment.CaptureManual: fsm.EventAuthorized} {
		c, got := serve(t, newFake(t))
		ch := charge(cryptogram("3ds"))
		ch.Capture, ch.Customer.IP = mode, "203.0.113.9"
		cp := challenged(t, c, ch)
		<-got
		waits, err := c.Lookup(t.Context(), cp.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: cp.ProviderPaymentID, Payee: publicID, Live: new(false)}, waits)
		<-got
		done, err := c.Complete(t.Context(), cp)
		require.NoError(t, err)
		require.Equal(t, want, done.Event)
		require.Equal(t, rub(1999), *done.Money)
		sent := <-got
		require.Equal(t, "POST /payments/cards/post3ds", sent.line)
		require.Equal(t, "k-complete", sent.header.Get("X-Request-Id"))
		require.JSONEq(t, `{"TransactionId": `+cp.ProviderPaymentID+`, "PaRes": "proven"}`, sent.body)
	}
}

// One key makes one completion. A call with another key finds the payment as it is.
func TestACompletionIsDoneOnce(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	done, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	again, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	require.Equal(t, done, again)
	cp.IdempotencyKey = "another"
	again, err = c.Complete(t.Context(), cp)
	require.NoError(t, err)
	require.Equal(t, done, again)
	require.Len(t, got, 5, "a charge, three completions and a lookup")
}

func TestAProofThatFailsIsADecline(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	cp.Details = json.RawMessage(`{"MD":` + cp.ProviderPaymentID + `,"PaRes":"unproven"}`)
	o, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, ProviderPaymentID: cp.ProviderPaymentID, Payee: publicID, Live: new(false), Failure: payment.NewFailure("authentication_failed", "5206"),
	}, o)
}

// With another payment's proof, or without a proof, nothing is sent.
func TestAnothersProofIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	another := challenged(t, c, charge(cryptogram("3ds")))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	<-got
	<-got
	for _, details := range []string{
		string(another.Details), `{"MD":"","PaRes":"proven"}`, `{"PaRes":"proven"}`, `{"MD":"` + cp.ProviderPaymentID + `"}`,
		`{"MD":"` + cp.ProviderPaymentID + `","PaRes":" "}`, `{"MD":["` + cp.ProviderPaymentID + `"],"PaRes":"proven"}`, `{}`, `[]`, `null`, ``, `{`,
	} {
		cp.Details = json.RawMessage(details)
		_, err := c.Complete(t.Context(), cp)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, details)
	}
	cp.Details, cp.ProviderPaymentID = json.RawMessage(`{"MD":"1","PaRes":"proven"}`), "f2K8LV6reGE9WBF1:"+cp.Attempt.String()
	_, err := c.Complete(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, "a page has no second step")
	require.Empty(t, got)
}

func TestACompletionAsksItsPermit(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	<-got
	cp.Permit = gateway.NewPermit(time.Now(), 0, time.Now)
	_, err := c.Complete(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Empty(t, got)
}

// A lost or garbled answer leaves the outcome unknown. The same call again returns the first result.
func TestACompletionWithoutAnAnswerIsOpen(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w http.ResponseWriter, heard *httptest.ResponseRecorder){
		"lost":    func(http.ResponseWriter, *httptest.ResponseRecorder) { panic(http.ErrAbortHandler) },
		"garbled": func(w http.ResponseWriter, heard *httptest.ResponseRecorder) { _, _ = w.Write(heard.Body.Bytes()[:20]) },
		"error":   func(w http.ResponseWriter, _ *httptest.ResponseRecorder) { w.WriteHeader(http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, spoiled := newFake(t), false
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/payments/cards/post3ds" || spoiled {
					f.ServeHTTP(w, r)
					return
				}
				spoiled = true
				heard := httptest.NewRecorder()
				f.ServeHTTP(heard, r)
				spoil(w, heard)
			}))
			cp := challenged(t, c, charge(cryptogram("3ds")))
			_, err := c.Complete(t.Context(), cp)
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			o, err := c.Complete(t.Context(), cp)
			require.NoError(t, err)
			require.Equal(t, fsm.EventSucceeded, o.Event)
		})
	}
}

// While the payment waits, a refusal concerns this call only.
func TestARefusedCompletionSaysHowThePaymentStands(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/payments/cards/post3ds" {
			_, _ = w.Write([]byte(`{"Success":false,"Message":"PaRes is not valid","ErrorCode":"7"}`))
			return
		}
		f.ServeHTTP(w, r)
	}))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	o, err := c.Complete(t.Context(), cp)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, Refused: true, ProviderPaymentID: cp.ProviderPaymentID, Payee: publicID, Live: new(false),
		Failure: payment.NewFailure("provider_rejected", "7"),
	}, o)
	require.True(t, o.RefusesCall())
}

// A payment that waits for 3-D Secure can't be voided. It is over when the customer can't be in 3-D Secure any more:
// only a completion would take its money, and none is sent while a cancel is requested.
func TestAPaymentIn3DSecureIsOverWhenNobodyIsInIt(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	cp := challenged(t, c, charge(cryptogram("3ds")))
	cl := gateway.Cancel{Attempt: cp.Attempt, ProviderPaymentID: cp.ProviderPaymentID, IdempotencyKey: "k-cancel", Permit: permit(), Quiet: 9 * time.Minute}
	o, err := c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: cp.ProviderPaymentID, Payee: publicID, Live: new(false)}, o)
	cl.Quiet = 10 * time.Minute
	o, err = c.Cancel(t.Context(), cl)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: cp.ProviderPaymentID, Failure: payment.NewFailure("canceled", "")}, o)
}
