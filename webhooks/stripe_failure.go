package webhooks

import (
	"cmp"
	"strings"
)

// stripeFailure holds what is read of the reasons for a failure.
type stripeFailure struct {
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

// stripeCodes translates Stripe's error and decline codes
// (https://docs.stripe.com/error-codes, https://docs.stripe.com/declines/codes).
// A card that has expired or was typed wrong is a declined card: "expired" is
// said of payments.
var stripeCodes = map[string]string{
	"insufficient_funds": codeInsufficientFunds,

	"authentication_not_handled":            codeAuthenticationFailed,
	"authentication_required":               codeAuthenticationFailed,
	"payment_intent_authentication_failure": codeAuthenticationFailed,

	"elevated_risk_level": codeFraudSuspected,
	"fraudulent":          codeFraudSuspected,
	"highest_risk_level":  codeFraudSuspected,
	"lost_card":           codeFraudSuspected,
	"merchant_blacklist":  codeFraudSuspected,
	"pickup_card":         codeFraudSuspected,
	"stolen_card":         codeFraudSuspected,

	"payment_intent_payment_attempt_expired": codeExpired,
	"payment_method_customer_decline":        codeCanceled,

	"card_declined":    codeCardDeclined,
	"do_not_honor":     codeCardDeclined,
	"expired_card":     codeCardDeclined,
	"generic_decline":  codeCardDeclined,
	"incorrect_cvc":    codeCardDeclined,
	"incorrect_number": codeCardDeclined,
	"processing_error": codeProviderRejected,
}

// failureOf returns paylatch's code and Stripe's for an event that is a failure.
func (o stripeObject) failureOf(eventType string) (code, providerCode string) {
	switch {
	case strings.HasSuffix(eventType, ".expired"):
		return codeExpired, ""
	case eventType == "payment_intent.canceled":
		return stripeCancellation(o.CancellationReason), o.CancellationReason
	case o.Object == "refund" && o.Status == "canceled":
		return codeCanceled, o.FailureReason
	case o.Object == "refund":
		return codeProviderRejected, o.FailureReason
	case o.Object == "charge":
		return o.chargeFailure()
	default:
		return o.intentFailure()
	}
}

// stripeCancellation translates why a payment intent was canceled. "automatic"
// is Stripe's own doing, when a hold was not captured in time.
func stripeCancellation(reason string) string {
	switch reason {
	case "expired", "automatic":
		return codeExpired
	case "fraudulent":
		return codeFraudSuspected
	default:
		return codeCanceled
	}
}

// intentFailure prefers the bank's code to Stripe's, which is often no more than
// card_declined.
func (f stripeFailure) intentFailure() (code, providerCode string) {
	e := f.LastPaymentError
	fallback := codeProviderRejected
	if e.Type == "card_error" {
		fallback = codeCardDeclined
	}
	return cmp.Or(stripeCodes[e.DeclineCode], stripeCodes[e.Code], fallback), cmp.Or(e.DeclineCode, e.Code)
}

func (f stripeFailure) chargeFailure() (code, providerCode string) {
	providerCode = cmp.Or(f.Outcome.Reason, f.FailureCode)
	if f.Outcome.Type == "blocked" {
		return codeFraudSuspected, providerCode
	}
	fallback := codeProviderRejected
	if f.Outcome.Type == "issuer_declined" {
		fallback = codeCardDeclined
	}
	return cmp.Or(stripeCodes[f.Outcome.Reason], stripeCodes[f.FailureCode], fallback), providerCode
}
