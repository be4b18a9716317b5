package refund

import (
	"github.com/paylatch/paylatch/internal/payment"
)

// NewFailure is the failure of a refund, by one of paylatch's codes.
func NewFailure(code string) *payment.Failure { return ofRefund(payment.NewFailure(code, "")) }

// ofRefund is the failure of a refund: its message is about a refund, not about a payment.
func ofRefund(f *payment.Failure) *payment.Failure {
	switch {
	case f == nil:
		return &payment.Failure{Code: "provider_rejected", Message: rejected}
	case f.Message != payment.NewFailure(f.Code, "").Message:
		return f
	}
	message, known := failureTexts[f.Code]
	if !known {
		message = rejected
	}
	return &payment.Failure{Code: f.Code, Message: message, ProviderCode: f.ProviderCode}
}

const rejected = "The payment provider refused the refund."

var failureTexts = map[string]string{ //nolint:gochecknoglobals // a table
	"expired":     "The refund was not finished in time. Nothing was paid back.",
	"canceled":    "The refund was cancelled. Nothing was paid back.",
	"not_paid":    "The refund was not made. Nothing was paid back.",
	"not_covered": "The refund was not sent: the money had been taken back another way. Nothing was paid back by it.",
	"not_started": "The refund never reached the payment provider. Nothing was paid back.",
}
