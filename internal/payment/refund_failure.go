package payment

import "github.com/paylatch/paylatch/webhooks"

// NewRefundFailure is the failure of a refund, by one of paylatch's codes.
func NewRefundFailure(code webhooks.FailureCode) *Failure { return ofRefund(NewFailure(code, "")) }

// ofRefund is the failure of a refund: its message is about a refund, not about a payment.
func ofRefund(f *Failure) *Failure {
	if f == nil {
		return NewRefundFailure("")
	}
	known := failureCodeOf(webhooks.FailureCode(f.Code))
	if f.Message != known.payment {
		return f
	}
	return &Failure{Code: f.Code, Message: known.refund, ProviderCode: f.ProviderCode}
}
