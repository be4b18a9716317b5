package payment

// Failure is why an attempt or a refund failed.
type Failure struct {
	// Code is a code of failureTexts.
	Code string
	// Message is a sentence for a person; it never comes from the provider.
	Message string
	// ProviderCode is the provider's own code, if it gave one.
	ProviderCode string
}

// NotAsked is in the place of the provider's code where no lookup of a payment is possible.
const NotAsked = "not_asked"

// NewFailure returns the failure with a code of failureTexts. Any other code becomes provider_rejected.
func NewFailure(code, providerCode string) *Failure {
	text, ours := failureTexts[code]
	if !ours {
		code, text = "provider_rejected", failureTexts["provider_rejected"]
	}
	return &Failure{Code: code, Message: text, ProviderCode: providerCode}
}

var failureTexts = map[string]string{ //nolint:gochecknoglobals // a table
	"card_declined":         "The card was declined.",
	"insufficient_funds":    "There is not enough money on the card.",
	"authentication_failed": "The payment was not confirmed by the customer.",
	"expired":               "The payment was not finished in time.",
	"canceled":              "The payment was cancelled. Nothing was charged.",
	"fraud_suspected":       "The payment was refused to protect the cardholder.",
	"provider_rejected":     "The payment provider refused the payment.",
	"not_paid":              "The payment was not made. Nothing was charged.",
	"not_covered":           "The money had been taken back another way.",
	"refunded":              "What was taken for the payment was given back.",
	"not_started":           "The payment could not be started. Nothing was charged.",
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
