package webhooks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// TestReasonsHaveACode: by the code a shop's page says what the customer can do. A
// reason that nobody knows stays what it is, beside a code for all of them.
func TestReasonsHaveACode(t *testing.T) {
	t.Parallel()
	for name, provider := range map[string]struct {
		code func(reason string) (ours, theirs string)
		// reasons are those of a code, apart by bars.
		reasons map[string]string
	}{
		"adyen": {webhooks.AdyenFailureCode, map[string]string{
			"card_declined":      "Refused|Blocked Card|Expired Card|Invalid Card Number|CVC Declined|Restricted Card|Transaction Not Permitted|DECLINED Non Generic",
			"insufficient_funds": "Not enough balance|Withdrawal amount exceeded", "authentication_failed": "3D Not Authenticated|Authentication required",
			"fraud_suspected": "FRAUD|FRAUD-CANCELLED|Acquirer Fraud|Issuer Suspected Fraud", "canceled": "Cancelled|Shopper Cancelled", "provider_rejected": "|New",
		}},
		"checkout": {webhooks.CheckoutFailureCode, map[string]string{
			"card_declined": "20005|20001|30004", "insufficient_funds": "20051", "authentication_failed": "20151|20152|20154|20155",
			"fraud_suspected": "20059|30034|30041|30043|40101", "provider_rejected": "|10000|50001",
		}},
		"cloudpayments": {webhooks.CloudPaymentsFailureCode, map[string]string{
			"card_declined": "5001|5005|5014|5054|5057|5062|5082", "insufficient_funds": "5051|5061", "authentication_failed": "5206|5207",
			"fraud_suspected": "5034|5041|5043|5059|5300", "provider_rejected": "|5999",
		}},
		"mollie": {webhooks.MollieFailureCode, map[string]string{
			"card_declined":      "card_declined|card_expired|inactive_card|invalid_card_holder_name|invalid_card_number|invalid_card_type|invalid_cvv|refused_by_issuer",
			"insufficient_funds": "insufficient_funds", "fraud_suspected": "possible_fraud", "provider_rejected": "|new",
			"authentication_failed": "authentication_abandoned|authentication_failed|authentication_required|authentication_unavailable_acs",
		}},
		"paypal": {func(reason string) (string, string) { return webhooks.PayPalFailureCode("", reason) }, map[string]string{
			"fraud_suspected": "BUYER_COMPLAINT|DECLINED_BY_RISK_FRAUD_FILTERS", "provider_rejected": "|NEW",
		}},
		"paypal's processors": {func(code string) (string, string) { return webhooks.PayPalFailureCode(code, "BUYER_COMPLAINT") }, map[string]string{
			"card_declined": "0500|new", "insufficient_funds": "5120", "authentication_failed": "5650", "fraud_suspected": "9500|9510|9520",
		}},
		"razorpay": {func(reason string) (string, string) { return webhooks.RazorpayFailureCode(reason, "") }, map[string]string{
			"card_declined": "card_declined", "insufficient_funds": "insufficient_funds", "authentication_failed": "authentication_failed|incorrect_otp",
			"fraud_suspected": "payment_risk_check_failed", "canceled": "payment_cancelled", "expired": "payment_timed_out", "provider_rejected": "|payment_failed",
		}},
		"square": {webhooks.SquareFailureCode, map[string]string{
			"card_declined": "CVV_FAILURE", "insufficient_funds": "INSUFFICIENT_FUNDS", "authentication_failed": "CARD_DECLINED_VERIFICATION_REQUIRED",
			"canceled": "BUYER_REFUSED_PAYMENT|DELAYED_TRANSACTION_CANCELED", "expired": "DELAYED_TRANSACTION_EXPIRED|CHECKOUT_EXPIRED",
			"provider_rejected": "TEMPORARY_ERROR|INTERNAL_SERVER_ERROR|GATEWAY_TIMEOUT",
		}},
		"stripe": {func(code string) (string, string) { return webhooks.StripeFailureCode("api_error", code, "") }, map[string]string{
			"card_declined":         "card_declined|do_not_honor|expired_card|generic_decline|incorrect_cvc|incorrect_number",
			"insufficient_funds":    "insufficient_funds",
			"authentication_failed": "authentication_not_handled|authentication_required|payment_intent_authentication_failure",
			"fraud_suspected":       "elevated_risk_level|fraudulent|highest_risk_level|lost_card|merchant_blacklist|pickup_card|stolen_card",
			"canceled":              "payment_method_customer_decline", "expired": "payment_intent_payment_attempt_expired", "provider_rejected": "|processing_error|new",
		}},
		"stripe's cards": {func(decline string) (string, string) {
			return webhooks.StripeFailureCode("card_error", "card_declined", decline)
		}, map[string]string{"provider_rejected": "processing_error"}},
		"tbank": {func(code string) (string, string) { return webhooks.TBankFailureCode("REJECTED", code) }, map[string]string{
			"card_declined": "|9", "insufficient_funds": "1051", "authentication_failed": "101", "fraud_suspected": "1034|1041|1043|1059",
		}},
		"yookassa": {webhooks.YooKassaFailureCode, map[string]string{
			"card_declined":      "call_issuer|card_expired|general_decline|invalid_card_number|invalid_csc",
			"insufficient_funds": "insufficient_funds|payment_method_limit_exceeded", "authentication_failed": "3d_secure_failed",
			"fraud_suspected": "fraud_suspected", "canceled": "canceled_by_merchant|permission_revoked",
			"expired": "expired_on_confirmation|expired_on_capture|deal_expired|internal_timeout", "provider_rejected": "|new",
		}},
	} {
		for want, reasons := range provider.reasons {
			for reason := range strings.SplitSeq(reasons, "|") {
				ours, theirs := provider.code(reason)
				require.Equal(t, want, ours, "%s of %s", reason, name)
				require.Equal(t, reason, theirs, name)
			}
		}
	}
}
