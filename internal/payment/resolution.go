package payment

import (
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Resolution is how a person closes a discrepancy.
type Resolution string

// The resolutions. Possible returns the ones that a discrepancy takes, and their effects.
const (
	ResolvedPaid              Resolution = "paid"
	ResolvedNotPaid           Resolution = "not_paid"
	ResolvedRefundedElsewhere Resolution = "refunded_elsewhere"
	ResolvedAccepted          Resolution = "accepted"
	// ResolvedSettled is by the worklist itself, once nothing is left to decide; no person resolves so.
	ResolvedSettled Resolution = "settled"
)

// Words is the resolution as a part of a sentence.
func (r Resolution) Words() string { return strings.ReplaceAll(string(r), "_", " ") }

// Decides reports whether a resolution decides the outcome of a pending attempt or refund.
func (r Resolution) Decides() bool { return r == ResolvedPaid || r == ResolvedNotPaid }

// PossibleResolution is a resolution that a discrepancy takes.
type PossibleResolution struct {
	Resolution Resolution
	// When is the case in which the resolution is right, as part of a sentence. Effect is its effect, as a sentence.
	When, Effect string
}

// Circumstances are the facts that the possible resolutions of a discrepancy depend on, beside the discrepancy itself.
type Circumstances struct {
	// State is the state of its attempt. Held is the amount that the attempt holds. Both are empty if there is no attempt.
	State fsm.State
	Held  int64
	// Foreign is set if the attempt holds money in another currency. MayHold is set if it failed and may have a hold
	// left.
	Foreign, MayHold bool
	// Taken is set if money of the attempt was ever captured, in any currency.
	Taken bool
	// Refunding is set if a refund of the attempt is pending.
	Refunding bool
	// Order is what the order needs.
	Order Need
	// Refund is the state of the discrepancy's refund. Dispute is the state of its dispute. Each is empty if it names none.
	Refund  fsm.RefundState
	Dispute fsm.DisputeState
}

// Need is what an order needs of the money that one of its attempts holds.
type Need int

// The needs.
const (
	// NeedsHeld orders are paid by the money.
	NeedsHeld Need = iota
	// NeedsMore orders were amended since, and need more than the attempt holds, or another currency.
	NeedsMore
	// NeedsNothing orders have another attempt that holds money.
	NeedsNothing
)

// NeedOf is the need of an order where another attempt holds money (beside), or the attempt holds too little.
func NeedOf(beside, underpaid bool) Need {
	switch {
	case beside:
		return NeedsNothing
	case underpaid:
		return NeedsMore
	}
	return NeedsHeld
}

// reviewStanding is the state of the money or of the attempt that a discrepancy leaves open.
type reviewStanding int

const (
	// settled leaves nothing open: it concerns nothing pending and no held money.
	settled reviewStanding = iota
	refundPending
	// pendingUntaken attempts hold nothing as far as was reported.
	pendingUntaken
	// pendingReturned attempts held money, and hold no money any more.
	pendingReturned
	pendingTaken
	// pendingForeign attempts hold money in another currency.
	pendingForeign
	// late money is held by a failed attempt. It is lateBeside while another attempt of the order holds money, too. It is
	// lateUnderpaid if the order was amended since and needs more.
	late
	lateBeside
	lateUnderpaid
	// mayHold attempts failed, and the provider did not release a possible hold.
	mayHold
	// refunding attempts may soon hold no money any more.
	refunding
)

// possibilities are the decisions that a person may take. After each the order is paid or can be paid, or another case
// is open for it: nothing pending and no money goes unwatched.
var possibilities = map[reviewStanding][]PossibleResolution{ //nolint:gochecknoglobals // a table
	settled: {
		{ResolvedAccepted, "everything is correct, or explained", "No money moves."},
		{ResolvedRefundedElsewhere, "the money went back by another method", "No money moves."},
	},
	refundPending: {
		{ResolvedPaid, "the refund is in the provider's dashboard", "paylatch first asks the provider. Then the refund becomes succeeded."},
		{ResolvedNotPaid, "the provider did not make the refund and will not make it", "paylatch first asks the provider. Then the refund becomes failed, and the same amount can be refunded again."},
	},
	pendingUntaken: {
		{ResolvedPaid, "the payment is in the provider's dashboard", "paylatch first asks the provider. Then the payment succeeds with the captured amount, and the order is paid."},
		{ResolvedNotPaid, "the provider has no payment and will not make one", freesOrder},
	},
	pendingReturned: {
		{ResolvedPaid, "another payment of this attempt is in the provider's dashboard", "paylatch first asks the provider. Then the payment succeeds with the captured amount, and the order is paid."},
		{ResolvedNotPaid, "the captured money went back, and there will be no other payment", freesOrder},
		{ResolvedRefundedElsewhere, "the captured money was refunded in the provider's dashboard", freesOrder},
	},
	pendingTaken: {
		{ResolvedPaid, "the shop keeps the money", "paylatch first asks the provider. Then the payment succeeds with the captured amount, and the order is paid. After that you can refund the excess."},
		{ResolvedRefundedElsewhere, "the money was refunded in the provider's dashboard", "paylatch first asks the provider. Then the refund is recorded, the payment fails, and the order can be paid again."},
	},
	pendingForeign: {
		{ResolvedPaid, "the shop keeps the money", "paylatch first asks the provider. Then the payment succeeds with 0 in the order's currency, the captured amount is recorded in its own currency, and the order is paid."},
		{ResolvedRefundedElsewhere, "the money was refunded or released in the provider's dashboard", freesOrder},
	},
	late: {
		{ResolvedAccepted, "the shop keeps the money and delivers the goods", "This money pays the order."},
		{ResolvedRefundedElsewhere, "the money was refunded in the provider's dashboard", "paylatch first asks the provider. Then the refund is recorded. The order can be paid again, unless it was cancelled."},
	},
	lateBeside: {
		{ResolvedRefundedElsewhere, "the money was refunded in the provider's dashboard", "paylatch first asks the provider. Then the refund is recorded, and the other payment does not change."},
	},
	lateUnderpaid: {
		{ResolvedRefundedElsewhere, "the money was refunded in the provider's dashboard", "paylatch first asks the provider. Then the refund is recorded. The order can be paid again, unless it was cancelled."},
	},
	mayHold: {
		{ResolvedAccepted, "the hold was released in the provider's dashboard, or there is no hold", "paylatch first asks the provider. Then the order can be paid again."},
		{ResolvedRefundedElsewhere, "the held money was captured and refunded", "paylatch first asks the provider. Then the order can be paid again."},
	},
	refunding: nil,
}

// freesOrder is the effect of a resolution that ends a pending attempt without money.
const freesOrder = "paylatch first asks the provider. Then the payment fails, and the order can be paid again."

// beforehand has another remedy where a resolution is missing.
var beforehand = map[reviewStanding]string{ //nolint:gochecknoglobals // a table
	pendingTaken:  "You can first refund the captured money here, and then resolve this case as not paid.",
	late:          "Or refund the money here, and resolve this case as accepted once the refund has succeeded.",
	lateBeside:    "Or refund one of the two payments here, and resolve this case as accepted once the refund has succeeded.",
	lateUnderpaid: "The order was amended later, and this money is less than its amount. Refund the money here, and resolve this case as accepted once the refund has succeeded.",
	refunding:     "A refund of this money is under way. Resolve this case once the refund has ended.",
}

// Possible returns the resolutions that an open discrepancy takes.
func (d Discrepancy) Possible(c Circumstances) []PossibleResolution { return d.possible(d.standing(c)) }

// possible is Possible for a standing. Where nothing is left open, the text depends on the kind.
func (d Discrepancy) possible(at reviewStanding) []PossibleResolution {
	list := slices.Clone(possibilities[at])
	if at != settled {
		return list
	}
	if when := acceptedWhen[d.Kind]; when != "" {
		list[0].When = when
	}
	if d.Kind == PaymentReversed || d.Kind == EventChanged { // no money was refunded, or is to be
		return list[:1]
	}
	return list
}

// acceptedWhen is when a discrepancy of a kind, that leaves nothing open, is accepted.
var acceptedWhen = map[DiscrepancyKind]string{ //nolint:gochecknoglobals // a table
	PaymentReversed: "the shop bears the loss, the customer pays by another method, or the money came back",
	RefundReversed:  "the customer has the money nevertheless, or should not get it",
	Disputed:        "you responded to the provider, or the dispute is over",
	RefundExceeds:   "the customer keeps the money, or the refunds in the dashboard don't exceed the captures",
	EventChanged:    "you compared both versions of the event, and the recorded version is right",
	UnmatchedEvent:  "the event is not about a payment of this service",
	UnreadableEvent: "you looked up the events' payments and corrected them",
	UnknownHere:     "the payment is not a payment of this service, or its goods are delivered",
}

// Beforehand returns another remedy for the discrepancy; empty if there is none.
func (d Discrepancy) Beforehand(c Circumstances) string { return beforehand[d.standing(c)] }

// Moves reports whether a resolution decides the state of an attempt or a refund.
func (d Discrepancy) Moves(c Circumstances) bool { return d.standing(c) != settled }

// PaysOrder reports whether a resolution lets the money that a failed attempt holds pay its order.
func (d Discrepancy) PaysOrder(r Resolution, c Circumstances) bool {
	return r == ResolvedAccepted && d.standing(c) == late
}

// Frees reports whether a resolution frees money, or the order, for another move: a lookup comes first.
func (d Discrepancy) Frees(r Resolution, c Circumstances) bool {
	switch at := d.standing(c); r {
	case ResolvedNotPaid:
		return at != settled
	case ResolvedRefundedElsewhere:
		return at != settled || d.SettlesHeld() && c.Foreign
	case ResolvedAccepted:
		return at == mayHold
	case ResolvedPaid, ResolvedSettled:
	}
	return false
}

func (d Discrepancy) standing(c Circumstances) reviewStanding {
	if _, of := d.Refund(); of {
		if c.Refund == fsm.RefundPending {
			return refundPending
		}
		return settled
	}
	// Money in another currency has a discrepancy of its own, and no refund of ours returns it.
	held, foreign := c.Held > 0, d.Kind == CurrencyMismatch && c.Foreign
	if d.Kind == CurrencyMismatch {
		held = c.Foreign
	}
	switch {
	case d.About == AboutHoldNotReleased && d.Kind == NeedsReview && c.MayHold && !held:
		return mayHold
	case c.State == "" || c.State == fsm.Succeeded || !d.asksForAttempt():
		return settled
	case c.State == fsm.Failed && !held:
		return settled
	case c.Refunding && c.Held > 0 && !foreign:
		return refunding
	case c.State == fsm.Failed && c.Order == NeedsNothing:
		return lateBeside
	case c.State == fsm.Failed && c.Order == NeedsMore:
		return lateUnderpaid
	case c.State == fsm.Failed:
		return late
	case d.Kind != CurrencyMismatch && held:
		return pendingTaken
	case c.Foreign:
		return pendingForeign
	case c.Taken:
		return pendingReturned
	}
	return pendingUntaken
}

// asksForAttempt reports whether a discrepancy leaves the outcome of its attempt, or of the attempt's money, open.
func (d Discrepancy) asksForAttempt() bool {
	switch d.Kind {
	case LateSuccess, DoubleSuccess, PaidAfterCancel, UnknownAtProvider:
		return true
	case AmountMismatch, CurrencyMismatch:
		return d.OfPayment()
	case NeedsReview:
		return slices.Contains([]string{AboutUnknownOutcome, AboutHoldNotReleased, AboutNotCancelled, AboutCaptureNotMade, AboutCancelNotMade}, d.About)
	case PaymentReversed, RefundReversed, Disputed, RefundExceeds, EventChanged, UnmatchedEvent, UnreadableEvent, UnknownHere:
	}
	return false
}

// Takes returns nil if the discrepancy can be resolved so, else a ResolutionError,
// ErrNotPending or ErrHoldsMoney.
func (d Discrepancy) Takes(r Resolution, c Circumstances) error {
	at := d.standing(c)
	switch {
	case slices.ContainsFunc(d.possible(at), func(p PossibleResolution) bool { return p.Resolution == r }):
		return nil
	case r.Decides() && (at == settled || at == late || at == lateBeside || at == lateUnderpaid || at == mayHold):
		return ErrNotPending
	case r == ResolvedNotPaid && (at == pendingTaken || at == pendingForeign):
		return ErrHoldsMoney
	}
	return &ResolutionError{Reason: d.instead(at)}
}

// instead describes the alternatives to a resolution that is not possible.
func (d Discrepancy) instead(at reviewStanding) string {
	parts := []string{"This resolution would leave money, or something pending, without further checks."}
	if at == settled {
		parts = []string{"This resolution does not fit this case."}
	}
	for _, p := range d.possible(at) {
		parts = append(parts, "Resolve this case as "+p.Resolution.Words()+" if "+p.When+".")
	}
	if more := beforehand[at]; more != "" {
		parts = append(parts, more)
	}
	return strings.Join(parts, " ")
}

// SettlesHeld reports whether a resolution states that the money held beside the payment was released or refunded. Such
// a resolution does not move the attempt.
func (d Discrepancy) SettlesHeld() bool {
	return d.Kind == CurrencyMismatch && d.OfPayment() || d.Kind == NeedsReview && d.About == AboutHoldNotReleased
}

// Resolved is how a discrepancy was closed, with the person's subject and reason. ProviderPaymentID
// is the payment, or the refund, that was found at the provider, where the resolution is paid.
type Resolved struct {
	Resolution        Resolution
	ProviderPaymentID string
	By                string
	Reason            string
	At                time.Time
}

// ProposedResolution is a resolution by one person where one is not enough, since it can't be looked up, or is of
// a payment that bears no mark of ours or of another amount: a second person must confirm it.
type ProposedResolution struct {
	Resolution        Resolution
	ProviderPaymentID string
	By                string
	Reason            string
	At                time.Time
}

// What is the proposal in words.
func (p ProposedResolution) What() string {
	if p.ProviderPaymentID == "" {
		return p.Resolution.Words()
	}
	return p.Resolution.Words() + " by " + p.ProviderPaymentID
}

// Awaits reports whether a second person must confirm the proposal.
func (d Discrepancy) Awaits() bool { return d.Proposed != nil && d.Resolved == nil }

// Confirmed is the subject of the person who proposed the resolution; empty if there is no proposal.
func (d Discrepancy) Confirmed() string {
	r, p := d.Resolved, d.Proposed
	if r == nil || p == nil || p.By == r.By || p.Resolution != r.Resolution || p.ProviderPaymentID != r.ProviderPaymentID {
		return ""
	}
	return d.Proposed.By
}
