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

// PayPal would capture 115 % of the authorised amount.
func TestMoreThanWasAuthorisedIsNotAskedFor(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	held := charged(t, c, manual(charge("card:1")))
	<-got
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(2000), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventAuthorized, o.Event)
	require.Equal(t, "GET /v2/checkout/orders/"+held.Container, (<-got).line)
	require.Empty(t, got)
}

func TestACaptureIsTheLastOne(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	held := charged(t, c, manual(charge("card:1")))
	o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(500), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, euro(500), *o.Money)
	require.Len(t, o.References, 3, "the capture, the attempt and the order")
	<-got
	<-got
	require.JSONEq(t, `{"amount":{"currency_code":"EUR","value":"5.00"},"final_capture":true}`, (<-got).body)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: held.ProviderPaymentID, IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.True(t, over.Refused)
	require.Equal(t, "GET /v2/checkout/orders/"+held.Container, (<-got).line)
	require.Empty(t, got, "what was taken of it is not voided")
}

// If the bank declines a capture, the money stays held, and there is no capture.
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
	require.Equal(t, fsm.EventSoftFailed, o.Event)
}

// TestEveryIDOfThePaymentWillDo: a caller may have the id of the order or of a capture. The answer has the payment's id.
func TestEveryIDOfThePaymentWillDo(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	held := charged(t, c, manual(charge("card:1")))
	require.Equal(t, f.orders[held.Container].authorizations[0].id, held.ProviderPaymentID)
	for _, forgetful := range []bool{false, true} {
		if forgetful {
			c, _ = serve(t, f)
		}
		for _, id := range []string{held.Container, held.ProviderPaymentID} {
			now, err := c.Lookup(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, held, now)
		}
	}
	taken, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, taken.Event)
	require.Equal(t, held.ProviderPaymentID, taken.ProviderPaymentID)
	capture := taken.References[0]
	require.Equal(t, capture, taken.ProviderRef)
	taken.ProviderRef = "" // only the response names its call
	now, err := c.Lookup(t.Context(), capture)
	require.NoError(t, err)
	require.Equal(t, taken, now)
	back := gateway.RefundCall{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: held.ProviderPaymentID, Money: euro(700), IdempotencyKey: "r", Permit: permit()}
	refunded, err := c.Refund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, held.ProviderPaymentID, refunded.ProviderPaymentID)
	for _, ref := range []gateway.RefundRef{
		{Refund: back.Refund, ProviderPaymentID: held.ProviderPaymentID},
		{Refund: back.Refund, ProviderPaymentID: held.ProviderPaymentID, Container: held.Container},
		{ProviderRefundID: refunded.ProviderRefundID, ProviderPaymentID: capture}, // a webhook names it so
		{ProviderRefundID: refunded.ProviderRefundID, ProviderPaymentID: held.Container},
	} {
		found, err := c.LookupRefund(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, refunded, found)
	}
}

// TestLookupRefund: a refund of one payment is not found under another payment, even in the same order.
func TestLookupRefund(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	paid := charged(t, c, charge("card:1"))
	o := f.orders[paid.Container]
	second := f.settle(o)
	back, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: second.id, Container: paid.Container, Money: euro(700), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, second.id, back.ProviderPaymentID)
	require.Equal(t, second.id, o.refunds[0].of)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: back.ProviderRefundID, ProviderPaymentID: paid.ProviderPaymentID, Container: paid.Container})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	for id, refunds := range map[string]int{paid.ProviderPaymentID: 0, second.id: 1} {
		now, err := c.Lookup(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, id, now.ProviderPaymentID)
		require.Len(t, now.Refunds, refunds)
		require.Equal(t, euro(1999), *now.Money)
	}
}

// This capture has no known order, like the captures of the API before version 2.
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
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventSucceeded, ProviderPaymentID: "1", Money: new(euro(1999)), Movements: captures("1"),
		Review: &payment.ReviewReport{Status: payment.ReviewApproved, Implied: true},
	}, o)
	_, err = c.LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "1"})
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, "its refunds stand nowhere")
	now, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
	require.NoError(t, err)
	require.True(t, now.Refused)
}

// While PayPal does not answer, the id may be that of a capture.
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

// A wrong address is a mistake of ours and not a missing payment.
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
	o, err := c.Refund(t.Context(), gateway.RefundCall{Container: waits.Container, Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, o.Event)
	under := charged(t, c, charge("paypal:review"))
	o, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: under.ProviderPaymentID, Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, payment.NewFailure("provider_rejected", "PENDING_CAPTURE"), o.Failure)
}

// An order without an authorization is neither captured nor voided.
func TestACommandOfWhatIsNotHeldIsNotSent(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]fsm.Event{"paypal": fsm.EventActionRequired, "card:1": fsm.EventSucceeded, "card:poor": fsm.EventFailed} {
		c, got := serve(t, newFake(t))
		made := charged(t, c, charge(token))
		<-got
		o, err := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: made.ProviderPaymentID, Container: made.Container, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
		require.NoError(t, err)
		require.True(t, o.Refused, token)
		require.Equal(t, want, o.Event, token)
		o, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: made.ProviderPaymentID, Container: made.Container, IdempotencyKey: "c", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, want == fsm.EventSucceeded, o.Event == fsm.EventSucceeded, token)
		for range 2 {
			require.Equal(t, "GET /v2/checkout/orders/"+made.Container, (<-got).line)
		}
		require.Empty(t, got)
	}
}

// PayPal has no call that cancels such an order, and needs none.
func TestAnOrderThatNobodyApprovedIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"CREATED", "SAVED", "PAYER_ACTION_REQUIRED"} {
		c := says(t, http.StatusOK, `{"id":"O1","status":"`+status+`"}`)
		o, err := c.Cancel(t.Context(), gateway.Cancel{Container: "O1", IdempotencyKey: "c", Permit: permit()})
		require.NoError(t, err)
		require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Container: "O1", References: []string{"O1"}, Failure: payment.NewFailure("canceled", "")}, o, status)
	}
}

// A payment with a pending capture can't be cancelled.
func TestACancelOfACaptureUnderReviewIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	under := charged(t, c, charge("paypal:review"))
	o, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: under.ProviderPaymentID, IdempotencyKey: "c", Permit: permit()})
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventProcessing, o.Event)
}

// Rejected credentials are no evidence about an earlier call, which may have succeeded.
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

// PayPal deletes an order earlier than the refund period of its captures ends. A capture is then refunded by its own id.
func TestACaptureIsRefundedWithoutItsOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v2/checkout/orders/") {
			status, said := missing()
			write(w, status, said)
			return
		}
		f.ServeHTTP(w, r)
	}))
	paid := charged(t, c, charge("card:8kk8451t"))
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Container: paid.Container, Money: euro(500), IdempotencyKey: "r-1", Permit: permit(),
	})
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, back.Event)

	held := charged(t, c, manual(charge("card:8kk8451t")))
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: held.ProviderPaymentID, Money: euro(1999), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: held.ProviderPaymentID, Money: euro(500), IdempotencyKey: "r-2", Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrInconclusive, "an authorization does not tell what was captured of it")
	require.ErrorIs(t, err, gateway.ErrNotSent)
}
