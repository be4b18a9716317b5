package payment

// NewRefundFailure is the failure of a refund, by one of paylatch's codes.
func NewRefundFailure(code string) *Failure { return ofRefund(NewFailure(code, "")) }

// ofRefund is the failure of a refund: its message is about a refund, not about a payment.
func ofRefund(f *Failure) *Failure {
	switch {
	case f == nil:
		return &Failure{Code: "provider_rejected", Message: rejected}
	case f.Message != NewFailure(f.Code, "").Message:
		return f
	}
	message, known := refundFailureTexts[f.Code]
	if !known {
		message = rejected
	}
	return &Failure{Code: f.Code, Message: message, ProviderCode: f.ProviderCode}
}

const rejected = "The payment provider refused the refund."

var refundFailureTexts = map[string]string{ //nolint:gochecknoglobals // a table
	"expired":     "The refund was not finished in time. Nothing was paid back.",
	"canceled":    "The refund was cancelled. Nothing was paid back.",
	"not_paid":    "The refund was not made. Nothing was paid back.",
	"not_covered": "The refund was not sent: the money had been taken back another way. Nothing was paid back by it.",
	"not_started": "The refund never reached the payment provider. Nothing was paid back.",
}
