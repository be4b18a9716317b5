package payment

import "time"

// Capabilities are what a provider can do, as its adapter declares it from the documentation.
type Capabilities struct {
	// KeyLife is how long the provider remembers our idempotency keys; 0 if it has none, or keeps
	// none of a request that it answered with an error and may have carried out all the same. Then
	// no charge and no refund is ever sent twice.
	KeyLife time.Duration
	// Blind is set if payments can't be looked up. The response to a capture or a cancel only
	// confirms its receipt; webhooks report the rest.
	Blind bool
	// Find is set if payments can be looked up by our reference. FindLag is for how long after the
	// call "not found" proves nothing; FindConsistent is set if it is proof after that.
	Find           bool
	FindLag        time.Duration
	FindConsistent bool
	// FindFirst is set if a charge of which the answer was lost may be sent once more, under its key, after a
	// lookup by our reference has not found it, FindLag after it was sent: the provider keeps the key,
	// but for a request that it answered with an error.
	FindFirst bool
	// Complete is set if a payment has a second step with what the provider's page or script returned.
	Complete       bool
	Capture        bool
	PartialCapture bool
	// CaptureUnseen is set if an accepted capture may take long to show in lookups: that the
	// payment is still authorised proves nothing.
	CaptureUnseen bool
	// PaysOthers is set if a payment that the account's credentials show may have been made to somebody else: then a
	// claim needs the account's own name as its payee. Elsewhere the credentials are that account's alone.
	PaysOthers bool
	// BrowserMarks is set if Find finds payments by a mark that a browser could have written: what it finds is a claim.
	BrowserMarks bool
	Cancel       bool
	// CancelByReference is set if a payment that the provider has not named yet can be cancelled by
	// our reference.
	CancelByReference bool
	Refund            bool
	PartialRefund     bool
	LookupRefund      bool
	// ShowsRefunds is set if a lookup of a captured payment shows its refunds, those made in the provider's dashboard
	// among them; ShowsDisputes if it shows what disputes have taken of it and returned.
	ShowsRefunds, ShowsDisputes bool
	// RefundAlone is set if a refund can be looked up by its own id alone, which shows its payment.
	RefundAlone bool
	// WholeChargebacks is set if a chargeback always is of the whole payment and a lookup shows only
	// that there is one: that it was reversed counts by its signed notice, with the payment's amount.
	WholeChargebacks bool
	// RefundsConsistent is set if a refund was never made when LookupRefund returns
	// ErrNoSuchPayment some minutes after the call.
	RefundsConsistent bool
}
