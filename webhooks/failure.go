package webhooks

// Paylatch's own codes of failure: the values of Event.FailureCode.
const (
	codeCardDeclined         = "card_declined"
	codeInsufficientFunds    = "insufficient_funds"
	codeAuthenticationFailed = "authentication_failed"
	codeExpired              = "expired"
	codeCanceled             = "canceled"
	codeFraudSuspected       = "fraud_suspected"
	codeProviderRejected     = "provider_rejected"
)

// knownCode returns code if it is one of paylatch's own, else provider_rejected:
// what the provider itself said stays in Event.ProviderCode.
func knownCode(code string) string {
	switch code {
	case codeCardDeclined, codeInsufficientFunds, codeAuthenticationFailed,
		codeExpired, codeCanceled, codeFraudSuspected:
		return code
	default:
		return codeProviderRejected
	}
}

// failed reports whether news of this kind carries a code of failure.
func (k Kind) failed() bool {
	return k == KindFailed || k == KindSoftFailed || k == KindRefundFailed
}

// moves reports whether news of this kind is about money that was taken back after the
// payment, or that came back.
func (k Kind) moves() bool {
	return k == KindReversed || k == KindChargeback || k == KindChargebackReversed
}

// refund reports whether news of this kind is about a refund.
func (k Kind) refund() bool {
	return k == KindRefundPending || k == KindRefundSucceeded || k == KindRefundFailed
}
