package payment

import (
	"maps"
	"slices"
	"strings"
)

// WhatToDo returns advice for a reviewer: the values to compare, and how to resolve the discrepancy. For a resolved
// discrepancy it returns only the comparison.
func (d Discrepancy) WhatToDo(c Circumstances) string {
	parts := []string{d.lookAt(c)}
	if d.Resolved != nil {
		return parts[0]
	}
	if d.Awaits() {
		parts = append(parts, d.Proposed.By+" has proposed the resolution "+d.Proposed.What()+". A second person must check the case and resolve it in the same way.")
	}
	if d.CausedBy != "" {
		parts = append(parts, "A resolution by "+d.CausedBy+" opened this case, so another person must close it.")
	}
	for _, p := range d.Possible(c) {
		parts = append(parts, "Resolve this case as "+p.Resolution.Words()+" if "+p.When+".")
	}
	if more := d.Beforehand(c); more != "" {
		parts = append(parts, more)
	}
	return strings.Join(parts, " ")
}

func (d Discrepancy) lookAt(c Circumstances) string {
	if _, of := d.Refund(); of {
		return "Look the refund up in the provider's dashboard."
	}
	if c.Refunding && d.moves() {
		return "Wait for the result of the refund that is under way. Until then refund and deliver nothing."
	}
	if text := whatToLookAt[d.Kind]; text != "" {
		return text
	}
	return "Compare the payment with the provider's dashboard."
}

// moves reports whether it is about money that a refund of ours may give back.
func (d Discrepancy) moves() bool {
	return slices.Contains([]DiscrepancyKind{LateSuccess, DoubleSuccess, PaidAfterCancel, RefundReversed}, d.Kind)
}

// DiscrepancyKinds returns every kind, sorted.
func DiscrepancyKinds() []string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(whatToLookAt)) {
		list = append(list, string(k))
	}
	return list
}

// whatToLookAt has every kind.
var whatToLookAt = map[DiscrepancyKind]string{ //nolint:gochecknoglobals // a table
	NeedsReview:       "Look the payment up in the provider's dashboard.",
	LateSuccess:       "Decide whether to deliver the goods or to refund the money.",
	DoubleSuccess:     "Refund one of the two payments.",
	PaidAfterCancel:   "Refund the money, or deliver the goods although the order is cancelled.",
	PaymentReversed:   "Find out whether the goods have left, and ask the customer to pay by another method.",
	RefundReversed:    "Refund the money again, or by another method.",
	Disputed:          "Respond to the provider before its deadline. Resolve this case once the dispute is over.",
	AmountMismatch:    "Compare the payment with the provider's dashboard before you deliver anything.",
	CurrencyMismatch:  "Compare the payment with the provider's dashboard before you deliver anything.",
	RefundExceeds:     "Compare the refunded amount with the provider's dashboard.",
	EventChanged:      "Compare both deliveries of the event, with their different contents, with the provider's dashboard.",
	UnreadableEvent:   "Find the events' payments in the provider's dashboard. A later version of paylatch reads the events automatically; you can also replay them.",
	UnknownHere:       "Look up the payment in the provider's dashboard, because paylatch does not have it. Deliver the goods if the customer should get them; otherwise refund the payment there.",
	UnknownAtProvider: "Search for the payment in the provider's dashboard, and in the dashboards of your other accounts: this account's books don't contain it.",
	UnmatchedEvent:    "Look up the payment in the provider's dashboard. If it was not made through paylatch, refund it there. If paylatch has its attempt now, replay the event.",
}
