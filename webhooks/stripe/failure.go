package stripe

import (
	"cmp"
	"strings"

	"github.com/paylatch/paylatch/webhooks"
)

// failure holds the fields with the reasons for a failure.
type failure struct {
	CancellationReason string `json:"cancellation_reason"` // of a payment intent
	FailureCode        string `json:"failure_code"`        // of a charge
	FailureReason      string `json:"failure_reason"`      // of a refund
	LastPaymentError   struct {
		Type        string `json:"type"`
		Code        string `json:"code"`
		DeclineCode string `json:"decline_code"`
	} `json:"last_payment_error"` // of a payment intent
	Outcome struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	} `json:"outcome"` // of a charge
}

// codes translates Stripe's error and decline codes (https://docs.stripe.com/error-codes,
// https://docs.stripe.com/declines/codes). A card that has expired or was typed wrong is a declined card: "expired" is
// for payments.
var codes = map[string]webhooks.FailureCode{
	"insufficient_funds": webhooks.CodeInsufficientFunds,

	"authentication_not_handled":            webhooks.CodeAuthenticationFailed,
	"authentication_required":               webhooks.CodeAuthenticationFailed,
	"payment_intent_authentication_failure": webhooks.CodeAuthenticationFailed,

	"elevated_risk_level": webhooks.CodeFraudSuspected,
	"fraudulent":          webhooks.CodeFraudSuspected,
	"highest_risk_level":  webhooks.CodeFraudSuspected,
	"lost_card":           webhooks.CodeFraudSuspected,
	"merchant_blacklist":  webhooks.CodeFraudSuspected,
	"pickup_card":         webhooks.CodeFraudSuspected,
	"stolen_card":         webhooks.CodeFraudSuspected,

	"payment_intent_payment_attempt_expired": webhooks.CodeExpired,
	"payment_method_customer_decline":        webhooks.CodeCanceled,

	"card_declined":    webhooks.CodeCardDeclined,
	"do_not_honor":     webhooks.CodeCardDeclined,
	"expired_card":     webhooks.CodeCardDeclined,
	"generic_decline":  webhooks.CodeCardDeclined,
	"incorrect_cvc":    webhooks.CodeCardDeclined,
	"incorrect_number": webhooks.CodeCardDeclined,
	"processing_error": webhooks.CodeProviderRejected,
}

// failureOf returns paylatch's code and Stripe's for an event that is a failure.
func (o objectData) failureOf(eventType string) (code webhooks.FailureCode, providerCode string) {
	switch {
	case strings.HasSuffix(eventType, ".expired"):
		return webhooks.CodeExpired, ""
	case eventType == "payment_intent.canceled":
		return CancellationCode(o.CancellationReason), o.CancellationReason
	case o.Object == "refund" && o.Status == "canceled":
		return webhooks.CodeCanceled, o.FailureReason
	case o.Object == "refund":
		return webhooks.CodeProviderRejected, o.FailureReason
	case o.Object == "charge":
		return o.chargeFailure()
	default:
		return o.intentFailure()
	}
}

// CancellationCode returns paylatch's code for the cancellation_reason of a payment intent, which may be empty.
// "automatic" is Stripe's own doing, when a hold was not captured in time.
func CancellationCode(reason string) webhooks.FailureCode {
	switch reason {
	case "expired", "automatic":
		return webhooks.CodeExpired
	case "fraudulent":
		return webhooks.CodeFraudSuspected
	default:
		return webhooks.CodeCanceled
	}
}

// intentFailure prefers the bank's code to Stripe's, which is often no more than card_declined.
func (f failure) intentFailure() (code webhooks.FailureCode, providerCode string) {
	e := f.LastPaymentError
	fallback := webhooks.CodeProviderRejected
	if e.Type == "card_error" {
		fallback = webhooks.CodeCardDeclined
	}
	return cmp.Or(codes[e.DeclineCode], codes[e.Code], fallback), cmp.Or(e.DeclineCode, e.Code)
}

func (f failure) chargeFailure() (code webhooks.FailureCode, providerCode string) {
	providerCode = cmp.Or(f.Outcome.Reason, f.FailureCode)
	if f.Outcome.Type == "blocked" {
		return webhooks.CodeFraudSuspected, providerCode
	}
	fallback := webhooks.CodeProviderRejected
	if f.Outcome.Type == "issuer_declined" {
		fallback = webhooks.CodeCardDeclined
	}
	return cmp.Or(codes[f.Outcome.Reason], codes[f.FailureCode], fallback), providerCode
}
