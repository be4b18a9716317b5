package webhooks

// FailureCode is paylatch's code for the reason of a failure.
type FailureCode string

// The values of [Event.FailureCode]. The API has them and some more, which no provider reports.
const (
	CodeCardDeclined         FailureCode = "card_declined"
	CodeInsufficientFunds    FailureCode = "insufficient_funds"
	CodeAuthenticationFailed FailureCode = "authentication_failed"
	CodeExpired              FailureCode = "expired"
	CodeCanceled             FailureCode = "canceled"
	CodeFraudSuspected       FailureCode = "fraud_suspected"
	CodeProviderRejected     FailureCode = "provider_rejected"
)

// FailureCodes lists them.
func FailureCodes() []FailureCode {
	return []FailureCode{
		CodeCardDeclined, CodeInsufficientFunds, CodeAuthenticationFailed, CodeExpired, CodeCanceled, CodeFraudSuspected, CodeProviderRejected,
	}
}

// IsFailure reports whether an event of this kind carries a code of failure.
func (k Kind) IsFailure() bool {
	return k == KindFailed || k == KindUndone || k == KindSoftFailed || k == KindRefundFailed
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
