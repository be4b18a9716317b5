package adyen_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	held := euro(1999)
	for members, want := range map[string]gateway.Outcome{
		`"resultCode":"Authorised","amount":{"value":1999,"currency":"EUR"}`: {Event: fsm.EventSucceeded, Money: &held},
		`"resultCode":"Authorised"`: {Event: fsm.EventSucceeded},
		`"resultCode":"Authorised","additionalData":{"fraudManualReview":"true"}`:  {Event: fsm.EventSucceeded, Review: &payment.ReviewReport{Status: payment.ReviewOpen}},
		`"resultCode":"Authorised","additionalData":{"fraudManualReview":"false"}`: {Event: fsm.EventSucceeded},
		`"resultCode":"Pending"`:             {Event: fsm.EventProcessing},
		`"resultCode":"Received"`:            {Event: fsm.EventProcessing},
		`"resultCode":"PartiallyAuthorised"`: {Event: fsm.EventProcessing},
		`"resultCode":"Marinating"`:          {Event: fsm.EventProcessing},
		`"resultCode":"Refused","refusalReason":"3D Not Authenticated"`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("authentication_failed", "3D Not Authenticated"),
		},
		`"resultCode":"Error","refusalReason":"Acquirer Error"`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "Acquirer Error"),
		},
		`"resultCode":"Cancelled","refusalReason":"Shopper Cancelled"`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "Shopper Cancelled"),
		},
		`"resultCode":"Refused"`: {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
	} {
		want.ProviderPaymentID = "88K"
		require.Equal(t, want, charged(t, says(t, 200, `{"pspReference":"88K",`+members+`}`), charge(cardOK)), members)
	}
}

// Until the customer has acted, the payment has no id for a capture or a refund.
func TestACustomerWhoMustAct(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]gateway.Outcome{
		`"resultCode":"RedirectShopper","action":{"type":"redirect","method":"GET","url":"https://b/x"}`: {NextAction: payment.Redirect("https://b/x")},
		`"resultCode":"RedirectShopper","action":{"type":"redirect","method":"POST","url":"https://b/x","data":{"MD":"x"}}`: {
			NextAction: &payment.NextAction{Type: payment.ActionPostForm, URL: "https://b/x", Fields: map[string]string{"MD": "x"}},
		},
		`"resultCode":"IdentifyShopper","action":{"type":"threeDS2","token":"x"}`: {
			NextAction: &payment.NextAction{Type: payment.ActionSDK, Data: json.RawMessage(`{"action":{"type":"threeDS2","token":"x"}}`)},
		},
		`"resultCode":"PresentToShopper","action":{"type":"voucher","expiresAt":"2030-01-06T00:00:00"}`: {
			NextAction: &payment.NextAction{
				Type: payment.ActionDisplay, Data: json.RawMessage(`{"action":{"type":"voucher","expiresAt":"2030-01-06T00:00:00"}}`),
				ExpiresAt: time.Date(2030, 1, 6, 0, 0, 0, 0, time.UTC),
			},
		},
		`"resultCode":"Pending","action":{"type":"await"}`: {
			NextAction: &payment.NextAction{Type: payment.ActionSDK, Data: json.RawMessage(`{"action":{"type":"await"}}`)},
		},
		`"resultCode":"ChallengeShopper"`:                     {},
		`"resultCode":"RedirectShopper","pspReference":"88R"`: {Container: "88R", References: []string{"88R"}},
	} {
		want.Event = fsm.EventActionRequired
		require.Equal(t, want, charged(t, says(t, 200, `{`+members+`}`), charge(methodRedirect)), members)
	}
}

func TestAnswersThatNameNoPaymentAreUnknown(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"pspReference":"88K"}`, `{"resultCode":"Authorised"}`, `{"resultCode":"Refused"}`, `{"resultCode":"Pending"}`,
		`{"resultCode":"Authorised","pspReference":"88K","amount":{"value":150,"currency":"ISK"}}`,
		`{"resultCode":"Authorised","pspReference":"88K","amount":{"value":-1,"currency":"EUR"}}`,
	} {
		_, err := says(t, 200, body).Charge(t.Context(), charge(cardOK))
		unknown(t, err)
	}
}

// told returns the webhook's event about a payment, with the account's settings.
func told(t *testing.T, capture, code, reason string, success bool, value int64, currency string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"}, Params: map[string]string{"capture": capture}})
	require.NoError(t, err)
	body, err := json.Marshal(object{"live": "false", "notificationItems": []object{{"NotificationRequestItem": object{
		"pspReference": "88K", "merchantReference": "ours", "merchantAccountCode": merchant, "eventCode": code,
		"success": strconv.FormatBool(success), "reason": reason, "amount": object{"value": value, "currency": currency},
	}}}})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: "POST", Body: body}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	return events[0]
}

// The answer to a payment and its AUTHORISATION must agree.
func TestAnswersAgreeWithWebhooks(t *testing.T) {
	t.Parallel()
	for _, capture := range []string{"", "manual", "automatic"} {
		base, hc, _ := serve(t, newFake())
		ch := charge(cardOK)
		if capture != "automatic" {
			ch = manual()
		}
		o := charged(t, client(base, capture, hc), ch)
		require.Equal(t, string(told(t, capture, "AUTHORISATION", "", true, 1999, "EUR").Kind), string(o.Event), capture)
	}
	pending := charged(t, says(t, 200, `{"pspReference":"88K","resultCode":"Pending"}`), charge(cardOK))
	require.Equal(t, string(told(t, "automatic", "PENDING", "", true, 1999, "EUR").Kind), string(pending.Event))

	for _, reason := range []string{
		"Refused", "Blocked Card", "Expired Card", "Invalid Card Number", "CVC Declined", "Restricted Card", "Transaction Not Permitted",
		"Declined Non Generic", "Not enough balance", "Withdrawal amount exceeded", "3D Not Authenticated", "Authentication required",
		"FRAUD", "FRAUD-CANCELLED", "Acquirer Fraud", "Issuer Suspected Fraud", "Cancelled", "Shopper Cancelled",
		"Referral", "Acquirer Error", "Issuer Unavailable", "Not supported", "Pin tries exceeded", "AVS Declined", "",
	} {
		raw, err := json.Marshal(object{"pspReference": "88K", "resultCode": "Refused", "refusalReason": reason})
		require.NoError(t, err)
		o := charged(t, says(t, 200, string(raw)), charge(cardOK))
		e := told(t, "automatic", "AUTHORISATION", reason, false, 1999, "EUR")
		require.Equal(t, string(e.Kind), string(o.Event), reason)
		require.Equal(t, payment.NewFailure(e.FailureCode, e.ProviderCode), o.Failure, reason)
		require.Equal(t, e.ProviderPaymentID, o.ProviderPaymentID)
	}
}

func TestDigitsAgreeWithWebhooks(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"EUR", "JPY", "KWD", "CLP", "CVE", "IDR", "ISK", "KRW", "HUF", "TWD", "UGX", "MGA", "TND", "VND"} {
		e := told(t, "automatic", "AUTHORISATION", "", true, 190000, currency)
		o := charged(t, says(t, 200, `{"pspReference":"88K","resultCode":"Authorised","amount":{"value":190000,"currency":"`+currency+`"}}`), charge(cardOK))
		require.Equal(t, payment.Money{Minor: e.Money.Minor, Currency: payment.Currency(e.Money.Currency)}, *o.Money, currency)
	}
}
