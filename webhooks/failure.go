package webhooks

// The values of [Event.FailureCode].
const (
	CodeCardDeclined         = "card_declined"
	CodeInsufficientFunds    = "insufficient_funds"
	CodeAuthenticationFailed = "authentication_failed"
	CodeExpired              = "expired"
	CodeCanceled             = "canceled"
	CodeFraudSuspected       = "fraud_suspected"
	CodeProviderRejected     = "provider_rejected"
)

// IsFailure reports whether an event of this kind carries a code of failure.
func (k Kind) IsFailure() bool {
	return k == KindFailed || k == KindSoftFailed || k == KindRefundFailed
}

// IsMovement reports whether an event of this kind is about money that was taken back after the payment, or that came
// back.
func (k Kind) IsMovement() bool {
	return k == KindReversed || k == KindChargeback || k == KindChargebackReversed
}

// IsRefund reports whether an event of this kind is about a refund.
func (k Kind) IsRefund() bool {
	return k == KindRefundPending || k == KindRefundSucceeded || k == KindRefundFailed
}
