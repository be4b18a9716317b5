package payment

import "time"

// Capabilities are the abilities of a provider, as its adapter declares them from the provider's documentation.
type Capabilities struct {
	// KeyLife is how long the provider remembers our idempotency keys. It is 0 if the provider has no keys. It is also 0
	// if the provider forgets the key of a request that it answered with an error but may have carried out. Then no
	// charge and no refund is ever sent twice.
	KeyLife time.Duration
	// Blind is set if payments can't be looked up. The response to a capture or a cancel only
	// confirms its receipt; webhooks report the rest.
	Blind bool
	// Find is set if payments can be looked up by our reference. FindLag is for how long after the
	// call "not found" proves nothing; FindConsistent is set if it is proof after that.
	Find           bool
	FindLag        time.Duration
	FindConsistent bool
	// FindFirst is set if a charge with a lost response may be sent once more under its key. Before that a lookup by our
	// reference must not have found it, FindLag after the send. Such a provider keeps the key, except for a request that
	// it answered with an error.
	FindFirst bool
	// Complete is set if a payment has a second step, with the data that the provider's page or script returned.
	Complete bool
	// Captures is how often a hold may be captured. PartialCapture is set if a capture may take a part of it.
	Captures       Captures
	PartialCapture bool
	// CaptureUnseen is set if an accepted capture may take long to show in lookups: that the
	// payment is still authorised proves nothing.
	CaptureUnseen bool
	// PaysOthers is set if the account's credentials may also show payments to other payees. Then a claim needs the
	// account's own name as its payee. Without PaysOthers the credentials show this account's payments alone.
	PaysOthers bool
	// BrowserMarks is set if Find finds payments by a mark that a browser could have written. A payment found so is a
	// claim.
	BrowserMarks bool
	Cancel       bool
	// CancelByReference is set if a payment that the provider has not named yet can be cancelled by
	// our reference.
	CancelByReference bool
	Refund            bool
	PartialRefund     bool
	LookupRefund      bool
	// ShowsRefunds is set if a lookup of a captured payment shows its refunds, including refunds made in the provider's
	// dashboard. ShowsDisputes is set if the lookup shows the amounts that disputes have taken and returned.
	ShowsRefunds, ShowsDisputes bool
	// RefundAlone is set if a refund can be looked up by its own id alone and the lookup shows its payment.
	RefundAlone bool
	// WholeChargebacks is set if a chargeback always takes the whole payment and a lookup shows only that a chargeback
	// exists. Its reversal counts by the signed webhook, with the payment's amount.
	WholeChargebacks bool
	// RefundsConsistent is set if a refund was never made when LookupRefund returns
	// ErrNoSuchPayment some minutes after the call.
	RefundsConsistent bool
}
