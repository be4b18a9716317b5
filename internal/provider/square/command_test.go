package square_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAWholeCaptureChangesNothing(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	o := charged(t, c, manual())
	<-seen
	got, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 1999, true))
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, got.Event)
	require.Equal(t, "GET /v2/payments/"+o.ProviderPaymentID, (<-seen).line)
	sent := <-seen
	require.Equal(t, "POST /v2/payments/"+o.ProviderPaymentID+"/complete", sent.line)
	require.JSONEq(t, `{}`, sent.body)
	require.Empty(t, seen)
}

func capture(id string, minor int64, whole bool) gateway.Capture {
	return gateway.Capture{ProviderPaymentID: id, Money: euro(minor), Whole: whole, IdempotencyKey: "0123-capture-0", Permit: permit()}
}

func TestAPartIsTakenByLoweringTheAmountFirst(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	o := charged(t, c, manual())
	<-seen
	got, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 700, false))
	require.NoError(t, err)
	require.Equal(t, euro(700), *got.Money)
	sent := <-seen
	require.Equal(t, "PUT /v2/payments/"+o.ProviderPaymentID, sent.line)
	require.JSONEq(t, `{"idempotency_key":"0123-capture-0","payment":{"amount_money":{"amount":700,"currency":"EUR"}}}`, sent.body)
	require.Equal(t, "POST /v2/payments/"+o.ProviderPaymentID+"/complete", (<-seen).line)
}

// The amount may not be lowered yet, so completing the payment might capture the whole amount.
func TestAPaymentThatMayNotBeLoweredIsNotCompleted(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		f.ServeHTTP(w, r)
	}))
	o := charged(t, c, manual())
	_, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 700, false))
	unknown(t, err)
	<-seen
	require.Equal(t, "PUT /v2/payments/"+o.ProviderPaymentID, (<-seen).line)
	require.Empty(t, seen)
}

// The answer to the second call is lost. The same capture again does not lower the amount twice, and completes the
// payment.
func TestAPartThatWasLoweredAndNotCompletedIsCompleted(t *testing.T) {
	t.Parallel()
	f := newFake()
	cut := true
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cut && strings.HasSuffix(r.URL.Path, "/complete") {
			cut = false
			panic(http.ErrAbortHandler)
		}
		f.ServeHTTP(w, r)
	}))
	o := charged(t, c, manual())
	_, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 700, false))
	unknown(t, err)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, fsm.EventAuthorized, now.Event)
	got, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 700, false))
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, got.Event)
	require.Equal(t, euro(700), *got.Money)
}

// A partial capture was given up after its amount had been lowered. A later capture takes the amount that it requests,
// or nothing.
func TestAllIsTakenAfterAPartThatWasGivenUp(t *testing.T) {
	t.Parallel()
	for name, raises := range map[string]bool{"raised": true, "can't be raised": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.raises = raises
			whole := false
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !whole && strings.HasSuffix(r.URL.Path, "/complete") {
					refuse(400, "INVALID_REQUEST_ERROR", "BAD_REQUEST").write(w)
					return
				}
				f.ServeHTTP(w, r)
			}))
			o := charged(t, c, manual())
			part, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 500, false))
			require.NoError(t, err)
			require.True(t, part.Refused)

			whole = true
			all := capture(o.ProviderPaymentID, 1999, true)
			all.IdempotencyKey = "0123-capture-1"
			got, err := c.Capture(t.Context(), all)
			require.NoError(t, err)
			require.Equal(t, !raises, got.Refused)
			require.Equal(t, euro(1999), *got.Money, "taken, or still held")
			require.Equal(t, map[bool]fsm.Event{true: fsm.EventSucceeded, false: fsm.EventAuthorized}[raises], got.Event)

			if !raises {
				all.Money, all.Whole, all.IdempotencyKey = euro(500), false, "0123-capture-2"
				got, err = c.Capture(t.Context(), all)
				require.NoError(t, err)
				require.Equal(t, euro(500), *got.Money, "the part can still be had")
			}
		})
	}
}

// Square refuses to complete a payment twice. The capture succeeded if the payment has the wanted state.
func TestACaptureThatWasDoneIsNotRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	o := charged(t, c, manual())
	for range 2 {
		got, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 1999, true))
		require.NoError(t, err)
		require.False(t, got.Refused)
	}
	other, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 500, false))
	require.NoError(t, err)
	require.True(t, other.Refused, "another amount was taken")
	require.Equal(t, euro(1999), *other.Money)
}

// The permit is checked before each call.
func TestALicenceThatEndsBetweenTheTwoCallsCompletesNothing(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, seen := serve(t, f)
	o := charged(t, c, manual())
	<-seen
	cp := capture(o.ProviderPaymentID, 700, false)
	checks := 0
	cp.Permit = licenceFor(func() bool { checks++; return checks <= 1 })
	_, err := c.Capture(t.Context(), cp)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Equal(t, "PUT /v2/payments/"+o.ProviderPaymentID, (<-seen).line)
	require.Empty(t, seen)
}

// A rejected token is no evidence about an earlier call, which may have succeeded.
func TestATokenThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	c := says(t, 401, `{"errors":[{"category":"AUTHENTICATION_ERROR","code":"UNAUTHORIZED"}]}`)
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "p1", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("UNAUTHORIZED"), r)
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "p1", Permit: permit()})
	unknown(t, err)
	_, err = c.Lookup(t.Context(), "p1")
	unknown(t, err)
}

// Only the command's token is rejected, as after a change of its permissions.
func TestACommandWhoseTokenIsTurnedAwayIsNotRefused(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/complete") {
			refuse(403, "AUTHENTICATION_ERROR", "INSUFFICIENT_SCOPES").write(w)
			return
		}
		f.ServeHTTP(w, r)
	}))
	o := charged(t, c, manual())
	_, err := c.Capture(t.Context(), capture(o.ProviderPaymentID, 1999, true))
	unknown(t, err)
}

// A wrong address is a mistake of ours and not a missing payment.
func TestAnUnknownAddressIsNoAnswer(t *testing.T) {
	t.Parallel()
	c := says(t, 404, `{"errors":[{"category":"INVALID_REQUEST_ERROR","code":"BAD_REQUEST"}]}`)
	_, err := c.Lookup(t.Context(), "p1")
	unknown(t, err)
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "p1", Permit: permit()})
	unknown(t, err)
}

// Square has no field for our refund id. The reason contains it, so that a refund whose answer was lost can be found.
func TestARefundIsFoundByTheIDInItsReason(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"", "The customer sent it back.", strings.Repeat("ü", 500)} {
		c, seen := serve(t, newFake())
		o := charged(t, c, charge(cardOK))
		<-seen
		id := payment.RefundID(uuid.New())
		made, err := c.Refund(t.Context(), gateway.RefundCall{
			Refund: id, ProviderPaymentID: o.ProviderPaymentID, Money: euro(300), Reason: given, IdempotencyKey: "0123-refund", Permit: permit(),
		})
		require.NoError(t, err)
		require.Equal(t, fsm.EventProcessing, made.Event)
		var sent struct {
			Reason string `json:"reason"`
			Key    string `json:"idempotency_key"`
		}
		require.NoError(t, json.Unmarshal([]byte((<-seen).body), &sent))
		require.Equal(t, "0123-refund", sent.Key)
		require.LessOrEqual(t, len([]rune(sent.Reason)), 192)
		require.Contains(t, sent.Reason, id.String())
		require.True(t, strings.HasPrefix(sent.Reason, given[:min(len(given), 20)]))
		found, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: id, ProviderPaymentID: o.ProviderPaymentID})
		require.NoError(t, err)
		require.Equal(t, made, found)
		require.Equal(t, id.String(), found.Reference)
	}
	for _, reason := range []string{"", "Canceled order", "ü", strings.Repeat("-", 36), "(" + strings.Repeat("ü", 40) + ")"} {
		byHand := `{"refund":{"id":"r1","status":"COMPLETED","amount_money":{"amount":5,"currency":"EUR"},"reason":"` + reason + `"}}`
		found, err := says(t, 200, byHand).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "r1"})
		require.NoError(t, err)
		require.Empty(t, found.Reference, reason)
	}
}

// If a payment names a refund that Square can't find, that is no evidence about our refund.
func TestARefundThatIsNamedAndNotFoundIsUnknown(t *testing.T) {
	t.Parallel()
	f := newFake()
	c, _ := serve(t, f)
	o := charged(t, c, charge(cardOK))
	f.mu.Lock()
	f.payments[o.ProviderPaymentID]["refund_ids"] = []string{"r1"}
	f.mu.Unlock()
	_, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: o.ProviderPaymentID})
	unknown(t, err)
}
