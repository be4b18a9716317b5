package paypal_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// PayPal would take 115 % of what was authorised.
func TestMoreThanWasAuthorisedIsNotAskedFor(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	held := charged(t, c, manual(charge("card:1")))
	<-got
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(2000), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.NewsAuthorized, o.News)
	require.Equal(t, "GET /v2/checkout/orders/"+held.ProviderPaymentID, (<-got).line)
	require.Empty(t, got)
}

func TestACaptureIsTheLastOne(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	held := charged(t, c, manual(charge("card:1")))
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(500), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, euro(500), *o.Money)
	require.Len(t, o.References, 3, "the capture, its authorization and the attempt")
	<-got
	<-got
	require.JSONEq(t, `{"amount":{"currency_code":"EUR","value":"5.00"},"final_capture":true}`, (<-got).body)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: held.ProviderPaymentID, IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, "GET /v2/checkout/orders/"+held.ProviderPaymentID, (<-got).line)
	require.Empty(t, got, "what was taken of it is not voided")
}

// A capture that the bank declines leaves the money held, and was no capture.
func TestACaptureThatIsDeclinedIsRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/capture") {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"C1","status":"DECLINED","amount":{"currency_code":"EUR","value":"19.99"}}`)
			return
		}
		f.ServeHTTP(w, r)
	}))
	held := charged(t, c, manual(charge("card:1")))
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.NewsSoftFailed, o.News)
}

// A webhook that was first may have given the attempt another id of the payment's.
func TestEveryIDOfThePaymentWillDo(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	held := charged(t, c, manual(charge("card:1")))
	authorization := held.References[0]
	now, err := c.Lookup(t.Context(), authorization)
	require.NoError(t, err)
	require.Equal(t, held, now)
	taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: authorization, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, taken.News)
	capture := taken.References[0]
	now, err = c.Lookup(t.Context(), capture)
	require.NoError(t, err)
	require.Equal(t, taken, now)
	back := gateway.RefundCall{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: capture, Money: euro(700), IdempotencyKey: "r", Permit: permit()}
	made, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: back.Refund, ProviderPaymentID: authorization})
	require.NoError(t, err)
	require.Equal(t, made, found)
}

// A capture of which no order is known, as the API before version 2 made them.
func TestACaptureStandsForItself(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/oauth2/token":
			newFake(t).ServeHTTP(w, r)
		case "/v2/payments/captures/1":
			write(w, http.StatusOK, object{"id": "1", "status": "COMPLETED", "amount": money{"EUR", "19.99"}})
		default:
			status, said := missing()
			write(w, status, said)
		}
	}))
	o, err := c.Lookup(t.Context(), "1")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{News: fsm.NewsSucceeded, ProviderPaymentID: "1", Money: new(euro(1999)), Movements: captures("1")}, o)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "1"})
	require.ErrorIs(t, err, gateway.ErrNotTold)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, "its refunds stand nowhere")
	now, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
	require.NoError(t, err)
	require.True(t, now.Refused)
}

// Whether it is that of a capture nobody knows while PayPal does not say.
func TestAnIDThatCannotBeReadIsNotMissing(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/oauth2/token":
			newFake(t).ServeHTTP(w, r)
		case "/v2/payments/captures/1":
			w.WriteHeader(http.StatusBadGateway)
		default:
			status, said := missing()
			write(w, status, said)
		}
	}))
	_, err := c.Lookup(t.Context(), "1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// An address that PayPal does not have is a mistake of ours, not a payment that does
// not exist.
func TestAnUnknownAddressIsNoAnswer(t *testing.T) {
	t.Parallel()
	_, err := says(t, http.StatusNotFound, `{"name":"NOT_FOUND","message":"m"}`).Lookup(t.Context(), "1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestARefundOfWhatHoldsNoMoney(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	waits := charged(t, c, charge("paypal"))
	o, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: waits.ProviderPaymentID, Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsFailed, o.News)
	under := charged(t, c, charge("paypal:review"))
	o, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: under.ProviderPaymentID, Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, payment.NewFailure("provider_rejected", "PENDING_CAPTURE"), o.Failure)
}

// Of an order without an authorization nothing is captured, nor voided.
func TestACommandOfWhatIsNotHeldIsNotSent(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]fsm.News{"paypal": fsm.NewsActionRequired, "card:1": fsm.NewsSucceeded, "card:poor": fsm.NewsFailed} {
		c, got := serve(t, newFake(t))
		made := charged(t, c, charge(token))
		<-got
		o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: made.ProviderPaymentID, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
		require.NoError(t, err)
		require.True(t, o.Refused, token)
		require.Equal(t, want, o.News, token)
		o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: made.ProviderPaymentID, IdempotencyKey: "c", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, want == fsm.NewsSucceeded, o.News == fsm.NewsSucceeded, token)
		for range 2 {
			require.Equal(t, "GET /v2/checkout/orders/"+made.ProviderPaymentID, (<-got).line)
		}
		require.Empty(t, got)
	}
}

// PayPal has no call for it, nor needs one.
func TestAnOrderThatNobodyApprovedIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CREATED", "SAVED", "PAYER_ACTION_REQUIRED"} {
		c := says(t, http.StatusOK, `{"id":"O1","status":"`+status+`"}`)
		o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "O1", IdempotencyKey: "c", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{News: fsm.NewsFailed, ProviderPaymentID: "O1", Failure: payment.NewFailure("canceled", "")}, o, status)
	}
}

// What is being taken can't be given up.
func TestACancelOfACaptureUnderReviewIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	under := charged(t, c, charge("paypal:review"))
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: under.ProviderPaymentID, IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.NewsProcessing, o.News)
}

// Of an earlier call that may have gone through, credentials that are turned away
// now say nothing.
func TestCredentialsThatAreTurnedAwayRefuseOneCall(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path != "/v1/oauth2/token" && r.URL.Path != "/v2/checkout/orders" {
			write(w, http.StatusForbidden, problem("NOT_AUTHORIZED", "m", "PERMISSION_DENIED"))
			return
		}
		f.ServeHTTP(w, r)
	}))
	paid := charged(t, c, charge("card:1"))
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("PERMISSION_DENIED"), r)
}

// PayPal does not keep an order for as long as its captures can be refunded: the capture that is known is
// refunded without asking for the order.
func TestAKnownCaptureIsRefundedWithoutItsOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	paid := charged(t, c, charge("card:8kk8451t"))
	require.Len(t, paid.Movements, 1)
	<-got
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "gone", Money: euro(500), IdempotencyKey: "r-1", Permit: permit(),
		Transactions: []string{paid.Movements[0].ID},
	})
	require.NoError(t, err)
	require.Equal(t, fsm.NewsSucceeded, back.News)
	require.Equal(t, "POST /v2/payments/captures/"+paid.Movements[0].ID+"/refund", (<-got).line)
	require.Empty(t, got)
}
