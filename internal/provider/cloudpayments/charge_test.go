package cloudpayments_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
)

func TestATokenIsChargedInOneCall(t *testing.T) {
	t.Parallel()
	for mode, path := range map[payment.CaptureMode]string{
		payment.CaptureAutomatic: "/payments/tokens/charge", payment.CaptureManual: "/payments/tokens/auth",
	} {
		c, got := serve(t, newFake(t))
		ch := charge(good)
		ch.Capture = mode
		o := charged(t, c, ch)
		require.Equal(t, rub(1999), *o.Money)
		require.Regexp(t, `^\d+$`, o.ProviderPaymentID)
		sent := <-got
		require.Equal(t, "POST "+path, sent.line)
		require.Equal(t, ch.IdempotencyKey, sent.header.Get("X-Request-Id"))
		require.Equal(t, "Basic cGtfZmFrZTphcGlfc2VjcmV0", sent.header.Get("Authorization"))
		require.JSONEq(t, `{
			"Amount": 19.99, "Currency": "RUB", "InvoiceId": "`+ch.Attempt.String()+`", "AccountId": "u-1", "Token": "tk_good",
			"TrInitiatorCode": 1, "JsonData": {"payment_attempt_id": "`+ch.Attempt.String()+`", "order_id": "A-1"}
		}`, sent.body)
	}
}

// A page is an order. Its payment has both of its names.
func TestAPageIsAnOrder(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	ch := charge("redirect")
	ch.Capture = payment.CaptureManual
	o := charged(t, c, ch)
	order := o.References[1]
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://orders.cloudpayments.ru/d/" + order),
		Container: order + ":" + ch.Attempt.String(), References: []string{order + ":" + ch.Attempt.String(), order},
	}, o)
	sent := <-got
	require.Equal(t, "POST /orders/create", sent.line)
	require.JSONEq(t, `{
		"Amount": 19.99, "Currency": "RUB", "InvoiceId": "`+ch.Attempt.String()+`", "AccountId": "u-1", "Description": "A-1",
		"RequireConfirmation": true, "SuccessRedirectUrl": "https://shop.example/back", "FailRedirectUrl": "https://shop.example/back",
		"JsonData": {"payment_attempt_id": "`+ch.Attempt.String()+`", "order_id": "A-1"}
	}`, sent.body)
	ch.Order = ""
	ch.IdempotencyKey = uuid.NewString()
	require.True(t, charged(t, c, ch).Refused)
}

// A token belongs to one AccountId, which is the customer's reference.
func TestATokenOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(good)
	ch.Customer.Reference = "u-2"
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", ""),
	}, charged(t, c, ch))
}

// A declined payment by token is final, because it has no page for another try.
func TestADeclinedTokenIsFinalAndSaysWhy(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	o := charged(t, c, charge(poor))
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, ProviderPaymentID: o.ProviderPaymentID, Payee: publicID, Live: new(false), Failure: payment.NewFailure("insufficient_funds", "5051"),
	}, o)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
	over, err := c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, o, over, "what failed already needs no cancelling")
}

func TestARefusalIsDefinitive(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]string{
		`{"Success":false,"Message":"Amount is required"}`:              "",
		`{"Success":false,"Message":"x","Model":null,"ErrorCode":null}`: "",
		`{"Success":false,"Message":"x","ErrorCode":"NotAllowed"}`:      "NotAllowed",
		`{"Success":false,"Message":"x","ErrorCode":7}`:                 "7",
	} {
		for _, token := range []string{good, "redirect"} {
			require.Equal(t, gateway.Outcome{
				Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", code),
			}, charged(t, says(t, http.StatusOK, body), charge(token)), body)
		}
	}
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "401"),
	}, charged(t, says(t, http.StatusUnauthorized, ""), charge(good)))
}

func TestAnswersThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":            `{"Success":true,"Message":null}`,
		"no number":          `{"Success":true,"Model":{"Status":"Completed","Amount":1,"Currency":"RUB"}}`,
		"no status":          `{"Success":true,"Model":{"TransactionId":1,"Amount":1,"Currency":"RUB"}}`,
		"no amount":          `{"Success":true,"Model":{"TransactionId":1,"Status":"Completed","Currency":"RUB"}}`,
		"half a kopeck":      `{"Success":true,"Model":{"TransactionId":1,"Status":"Completed","Amount":1.005,"Currency":"RUB"}}`,
		"no currency":        `{"Success":true,"Model":{"TransactionId":1,"Status":"Completed","Amount":1}}`,
		"failure of nothing": `{"Success":false,"Message":null}`,
		"a page nowhere":     `{"Success":true,"Model":{"Id":"o1"}}`,
		"a nameless page":    `{"Success":true,"Model":{"Url":"https://orders.cloudpayments.ru/d/o1"}}`,
	} {
		_, err := says(t, http.StatusOK, body).Charge(t.Context(), charge(good))
		require.Error(t, err, name)
		require.NotErrorIs(t, err, gateway.ErrNotSent, name)
		_, err = says(t, http.StatusOK, body).Charge(t.Context(), charge("redirect"))
		require.Error(t, err, name)
	}
}

func TestAnAmountOfNoCurrencyIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	odd := payment.Money{Minor: 1, Currency: "XYZ"}
	ch := charge(good)
	ch.Money = odd
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: odd, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, got)
}

// An id that is not a transaction's number is not sent.
func TestAnIDOfAnotherFormIsNotSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	for _, id := range []string{"", "x", "1.5", "-1", "1e3", ":1", "1:", "0x1"} {
		_, err := c.Lookup(t.Context(), id)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, id)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: id, Permit: permit()})
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, id)
	}
	require.Empty(t, got)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressCloudPaymentsIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := cloudpayments.New("", publicID, secret, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, errors.New("no network")
	})})
	_, err := c.Lookup(t.Context(), "1")
	require.ErrorContains(t, err, "no network")
	require.Equal(t, "https://api.cloudpayments.ru/payments/get", called)
}
