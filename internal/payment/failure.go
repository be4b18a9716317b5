package payment

import "github.com/paylatch/paylatch/webhooks"

// Failure is why an attempt or a refund failed.
type Failure struct {
	// Code is a code of failureCodes.
	Code string
	// Message is a sentence for a person; it never comes from the provider.
	Message string
	// ProviderCode is the provider's own code, if it gave one.
	ProviderCode string
}

// NotAsked is in the place of the provider's code where no lookup of a payment is possible.
const NotAsked = "not_asked"

// NewFailure returns the failure with a code of failureCodes. Any other code becomes provider_rejected.
func NewFailure(code webhooks.FailureCode, providerCode string) *Failure {
	known := failureCodeOf(code)
	return &Failure{Code: string(known.code), Message: known.payment, ProviderCode: providerCode}
}

// NotStarted is the failure of an operation that never reached the provider, or whose result nobody can pay.
func NotStarted() *Failure { return NewFailure("not_started", "") }

// Readable returns the failure with a provider code that the database accepts.
func (f *Failure) Readable() *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Code: f.Code, Message: f.Message, ProviderCode: StorableText(f.ProviderCode)}
}
