package payment

import "time"

// Capabilities are the abilities of a provider, as its adapter declares them from the provider's documentation. The zero
// value of each field is the least ability.
type Capabilities struct {
	// KeyLife is how long the provider remembers our idempotency keys. It is 0 if the provider has no keys. It is also 0
	// if the provider forgets the key of a request that it answered with an error but may have carried out. Then no
	// charge and no refund is ever sent twice.
	KeyLife time.Duration
	// Resend is when a charge with a lost response may be sent again.
	Resend Resend
	// Lookup is how payments can be looked up. FindLag is for how long after the call "not found" by our reference proves
	// nothing.
	Lookup  Lookup
	FindLag time.Duration
	// Identity is what ties a payment of a lookup to its attempt and to this account.
	Identity Identity
	// Complete is set if a payment has a second step, with the data that the provider's page or script returned.
	Complete bool
	// Captures is how often a hold may be captured, and whether in part.
	Captures Captures
	// CapturesSeen is set if a lookup shows an accepted capture soon. Otherwise it may take long, and a payment that is
	// still authorised proves nothing.
	CapturesSeen bool
	// Cancels is what names a payment that is cancelled.
	Cancels Cancels
	// Refunds is whether payments can be refunded, and in part.
	Refunds Refunds
	// RefundLookup is how a refund can be looked up.
	RefundLookup RefundLookup
	// RefundsConsistent is set if a refund was never made when the adapter's LookupRefund returns ErrNoSuchPayment some
	// minutes after the call.
	RefundsConsistent bool
	// Shows is what a lookup of a captured payment shows besides the payment.
	Shows Shows
}

// WithoutAdapter are the capabilities that the rules assume for an account that has no adapter, and so no calls: its
// webhooks are applied as they are.
var WithoutAdapter = Capabilities{Lookup: LookupByID, Identity: IdentityOwn, CapturesSeen: true} //nolint:gochecknoglobals // a constant

// Blind reports whether payments can't be looked up. The response to a capture or a cancel only confirms its receipt;
// webhooks report the rest.
func (c Capabilities) Blind() bool { return c.Lookup == LookupNone }

// Finds reports whether payments can be looked up by our reference.
func (c Capabilities) Finds() bool { return c.Lookup >= LookupByReference }

// Resend is when a charge with a lost response may be sent again.
type Resend int

// The conditions of a second send.
const (
	// ResendByKey sends it under its key, within KeyLife. Without keys it is never sent again.
	ResendByKey Resend = iota
	// ResendUnfound sends it once more under its key, if a lookup by our reference has not found it FindLag after the send.
	// Such a provider keeps the key, except for a request that it answered with an error.
	ResendUnfound
)

// String names the condition in reports.
func (r Resend) String() string { return [...]string{"by its key", "once, if not found"}[r] }

// Lookup is how payments can be looked up. Each way includes the ways before it.
type Lookup int

// The ways.
const (
	// LookupNone providers have no lookup: webhooks alone report.
	LookupNone Lookup = iota
	// LookupByID providers look a payment up by their own id of it.
	LookupByID
	// LookupByReference providers also find a payment by our reference. That they don't find it is no proof.
	LookupByReference
	// LookupConsistent providers have no payment under our reference if they don't find it FindLag after the call.
	LookupConsistent
)

// String names the way in reports.
func (l Lookup) String() string {
	return [...]string{"none", "by id", "by reference", "by reference, consistent"}[l]
}

// Identity is what ties a payment that a lookup has found to its attempt and to this account.
type Identity int

// The ties.
const (
	// IdentityClaimed has both weaknesses below. It is the tie of an adapter that declares none.
	IdentityClaimed Identity = iota
	// IdentityByBrowser is of a provider where Find finds payments by a mark that a browser could have written. A payment
	// found so is a claim.
	IdentityByBrowser
	// IdentityByPayee is of a provider where the account's credentials may also show payments to other payees. Then a claim
	// needs the account's own name as its payee.
	IdentityByPayee
	// IdentityOwn is of a provider where the credentials show this account's payments alone, under marks that only we write.
	IdentityOwn
)

// BrowserMarks reports whether a browser could have written the mark by which a payment was found.
func (i Identity) BrowserMarks() bool { return i == IdentityClaimed || i == IdentityByBrowser }

// PaysOthers reports whether a payment that was found may have another payee.
func (i Identity) PaysOthers() bool { return i == IdentityClaimed || i == IdentityByPayee }

// String names the tie in reports.
func (i Identity) String() string {
	return [...]string{"claimed", "by a browser's mark", "by the payee", "own"}[i]
}

// Cancels is what names a payment that is cancelled.
type Cancels int

// The names.
const (
	// CancelsNone providers cancel no payment.
	CancelsNone Cancels = iota
	// CancelsByID providers cancel a payment by their own id of it.
	CancelsByID
	// CancelsByReference providers also cancel a payment by our reference, before they have named it.
	CancelsByReference
)

// String names the name in reports.
func (c Cancels) String() string { return [...]string{"none", "by id", "by reference"}[c] }

// Refunds is whether a payment can be refunded.
type Refunds int

// The amounts.
const (
	// RefundsNone providers refund nothing by a call.
	RefundsNone Refunds = iota
	// RefundsWhole providers refund the whole payment only.
	RefundsWhole
	// RefundsParts providers refund any number of parts.
	RefundsParts
	// RefundsOfCaptures providers refund any number of parts of a capture. If a hold was captured in several parts, the
	// caller names the capture.
	RefundsOfCaptures
)

// String names the amount in reports.
func (r Refunds) String() string {
	return [...]string{"none", "the whole", "parts", "parts of a capture"}[r]
}

// RefundLookup is how a refund can be looked up.
type RefundLookup int

// The ways.
const (
	// RefundLookupNone providers have no lookup of one refund.
	RefundLookupNone RefundLookup = iota
	// RefundLookupInPayment providers look a refund up below its payment.
	RefundLookupInPayment
	// RefundLookupAlone providers also look a refund up by its own id alone. The lookup shows its payment.
	RefundLookupAlone
)

// String names the way in reports.
func (r RefundLookup) String() string { return [...]string{"none", "in its payment", "alone"}[r] }

// Shows is what a lookup of a captured payment shows besides the payment. Each includes what is before it.
type Shows int

// The objects.
const (
	// ShowsPayment shows the payment alone.
	ShowsPayment Shows = iota
	// ShowsRefunds also shows its refunds, including refunds made in the provider's dashboard.
	ShowsRefunds
	// ShowsChargebacks also shows that a chargeback exists, which always takes the whole payment. Its reversal counts by the
	// signed webhook, with the payment's amount.
	ShowsChargebacks
	// ShowsDisputes also shows the amounts that disputes have taken and returned.
	ShowsDisputes
)

// String names the objects in reports.
func (s Shows) String() string {
	return [...]string{"the payment", "refunds", "refunds, chargebacks", "refunds, disputes"}[s]
}
