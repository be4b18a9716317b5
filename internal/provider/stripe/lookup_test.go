package stripe_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/stripe"
)

func TestHowAPaymentIntentStands(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	for members, want := range map[string]gateway.Outcome{
		`"status":"processing"`: {Event: fsm.EventProcessing},
		`"status":"marinating"`: {Event: fsm.EventProcessing},
		`"status":"succeeded","amount_received":500,"latest_charge":"ch_1"`:                                           {Event: fsm.EventSucceeded, Money: eur(500), References: []string{"ch_1"}},
		`"status":"requires_capture","amount_capturable":1500,"latest_charge":{"id":"ch_1","object":"charge"}`:        {Event: fsm.EventAuthorized, Money: eur(1500), References: []string{"ch_1"}},
		`"status":"requires_action","next_action":{"type":"redirect_to_url","redirect_to_url":{"url":"https://b/x"}}`: {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://b/x")},
		`"status":"requires_action","next_action":{"type":"use_stripe_sdk","use_stripe_sdk":{"type":"x"}}`:            {Event: fsm.EventActionRequired},
		`"status":"requires_action"`: {Event: fsm.EventActionRequired},
		`"status":"requires_payment_method","last_payment_error":{"type":"card_error","code":"payment_intent_authentication_failure"}`: {
			Event: fsm.EventSoftFailed, Failure: payment.NewFailure("authentication_failed", "payment_intent_authentication_failure"),
		},
		`"status":"requires_payment_method"`:                    {Event: fsm.EventActionRequired}, // the customer's form is open
		`"status":"requires_confirmation"`:                      {Event: fsm.EventSoftFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"status":"canceled","cancellation_reason":"automatic"`: {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "automatic")},
		`"status":"canceled","cancellation_reason":null`:        {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
	} {
		c := says(t, http.StatusOK, `{"object":"payment_intent","id":"pi_1","amount":1999,"currency":"eur",`+members+`}`)
		got, err := c.Lookup(t.Context(), "pi_1")
		require.NoError(t, err, members)
		want.ProviderPaymentID, want.Live = "pi_1", new(false)
		require.Equal(t, want, got, members)
	}
}

// Stripe shows vouchers and QR codes on its own pages.
func TestWhereTheCustomerMustGo(t *testing.T) {
	t.Parallel()
	for kind, member := range map[string]string{
		"redirect_to_url": "url", "alipay_handle_redirect": "url",
		"boleto_display_details": "hosted_voucher_url", "konbini_display_details": "hosted_voucher_url",
		"multibanco_display_details": "hosted_voucher_url", "oxxo_display_details": "hosted_voucher_url",
		"display_bank_transfer_instructions": "hosted_instructions_url", "cashapp_handle_redirect_or_display_qr_code": "hosted_instructions_url",
		"paynow_display_qr_code": "hosted_instructions_url", "pix_display_qr_code": "hosted_instructions_url",
		"promptpay_display_qr_code": "hosted_instructions_url", "swish_handle_redirect_or_display_qr_code": "hosted_instructions_url",
		"upi_handle_redirect_or_display_qr_code": "hosted_instructions_url", "wechat_pay_display_qr_code": "hosted_instructions_url",
		"verify_with_microdeposits": "hosted_verification_url",
	} {
		c := says(t, http.StatusOK, strings.NewReplacer("KIND", kind, "MEMBER", member).Replace(
			`{"object":"payment_intent","id":"pi_1","status":"requires_action","next_action":{"type":"KIND","KIND":{"MEMBER":"https://x/y"}}}`))
		o, err := c.Lookup(t.Context(), "pi_1")
		require.NoError(t, err)
		require.Equal(t, "https://x/y", o.NextAction.URL, kind)
	}
}

// An amount that is not whole in the currency's own digits is not rounded.
func TestAnAmountThatIsNoneIsUnknown(t *testing.T) {
	t.Parallel()
	_, err := says(t, http.StatusOK, `{"object":"payment_intent","id":"pi_1","status":"succeeded","amount_received":1950,"currency":"isk"}`).Lookup(t.Context(), "pi_1")
	require.Error(t, err)
	_, err = says(t, http.StatusOK, `{"object":"refund","id":"re_1","status":"succeeded","amount":1950,"currency":"isk"}`).
		LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
	require.Error(t, err)
}

// A wrong address is a mistake of ours and not a missing payment.
func TestAnUnknownAddressIsNoAnswer(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusNotFound, `{"error":{"type":"invalid_request_error","message":"Unrecognized request URL"}}`)
	_, err := c.Lookup(t.Context(), "pi_1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pi_1", Permit: permit()})
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// The search's own copy is old. The fake's copy has another status.
func TestFindAsksThePaymentItself(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake(t))
	ch := charge("pm_card_visa")
	made := charged(t, c, ch)
	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, made, found)
	<-seen
	require.Equal(t, "GET /v1/payment_intents/search?limit=100&query=metadata%5B%27payment_attempt_id%27%5D%3A%27"+ch.Attempt.String()+"%27", (<-seen).line)
	require.Equal(t, "GET /v1/payment_intents/"+made.ProviderPaymentID+"?expand%5B0%5D=latest_charge.refunds", (<-seen).line)
}

// A hit with another reference is not a hit.
func TestFindBelievesOnlyItsOwnReference(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusOK, `{"object":"search_result","data":[{"id":"pi_1","object":"payment_intent","status":"succeeded",
		"metadata":{"payment_attempt_id":"another"}}]}`)
	_, err := c.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]gateway.RefundOutcome{
		`"status":"succeeded"`:       {Event: fsm.EventSucceeded},
		`"status":"pending"`:         {Event: fsm.EventProcessing},
		`"status":"requires_action"`: {Event: fsm.EventProcessing},
		`"status":null`:              {Event: fsm.EventProcessing},
		`"status":"canceled"`:        {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"status":"failed","failure_reason":"expired_or_canceled_card"`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "expired_or_canceled_card"),
		},
	} {
		c := says(t, http.StatusOK, `{"object":"refund","id":"re_1","amount":500,"currency":"eur",`+members+`}`)
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
		require.NoError(t, err, members)
		want.ProviderRefundID, want.Money = "re_1", &payment.Money{Minor: 500, Currency: "EUR"}
		require.Equal(t, want, got, members)
	}
}

// A list of refunds without our refund is evidence. A key that can't read the payment's account is no evidence.
func TestRefundsOfAPaymentThatNobodyKnowsAreNotMissing(t *testing.T) {
	t.Parallel()
	ours := gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "pi_1"}
	_, err := says(t, http.StatusOK, `{"object":"list","data":[],"has_more":false}`).LookupRefund(t.Context(), ours)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = says(t, http.StatusNotFound, `{"error":{"type":"invalid_request_error","code":"resource_missing"}}`).LookupRefund(t.Context(), ours)
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseAddressStripeIsCalled(t *testing.T) {
	t.Parallel()
	var called string
	c := stripe.New("", secret, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		called = r.URL.String()
		return nil, errors.New("no network")
	})})
	_, err := c.Lookup(t.Context(), "pi_1")
	require.ErrorContains(t, err, "no network")
	require.Equal(t, "https://api.stripe.com/v1/payment_intents/pi_1?expand%5B0%5D=latest_charge.refunds", called)
}

// A payment names its review, and a lookup shows how that ended. Without the right to read it nothing is said: it may have ended.
func TestReviews(t *testing.T) {
	t.Parallel()
	open := &payment.ReviewReport{ID: "prv_1", Status: payment.ReviewOpen}
	for found, want := range map[string]*payment.ReviewReport{
		`{"id":"prv_1","object":"review","open":true,"reason":"rule"}`:                                                   open,
		`{"id":"prv_1","object":"review","open":false,"reason":"approved","closed_reason":"approved"}`:                   {ID: "prv_1", Status: payment.ReviewApproved},
		`{"id":"prv_1","object":"review","open":false,"reason":"refunded_as_fraud","closed_reason":"refunded_as_fraud"}`: {ID: "prv_1", Status: payment.ReviewDeclined},
		`{"error":{"type":"invalid_request_error"}}`:                                                                     nil,
	} {
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := `{"object":"payment_intent","id":"pi_1","amount":1999,"amount_received":1999,"currency":"eur","status":"succeeded","review":"prv_1"}`
			if r.URL.Path == "/v1/reviews/prv_1" {
				if body = found; want == nil {
					w.WriteHeader(http.StatusForbidden)
				}
			}
			_, _ = io.WriteString(w, body)
		}))
		o, err := c.Lookup(t.Context(), "pi_1")
		require.NoError(t, err)
		require.Equal(t, want, o.Review, found)
		require.Equal(t, open, charged(t, c, charge("pm_card_visa")).Review, "the response to the charge is about a review that has just begun")
	}
}
