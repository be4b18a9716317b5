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
		parts = append(parts, d.Proposed.By+" has resolved it as "+d.Proposed.What()+": a second person has to look, and resolve it the same way.")
	}
	if d.CausedBy != "" {
		parts = append(parts, "A resolution by "+d.CausedBy+" opened it, so another person has to close it.")
	}
	for _, p := range d.Possible(c) {
		parts = append(parts, "Resolve it as "+p.Resolution.Words()+" if "+p.When+".")
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
		return "See whether the refund that is under way succeeds, before anything else is refunded or delivered."
	}
	if text := whatToLookAt[d.Kind]; text != "" {
		return text
	}
	return "Compare with the provider's dashboard."
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
	LateSuccess:       "Decide whether the goods are delivered or the money is refunded.",
	DoubleSuccess:     "Refund one of the two payments.",
	PaidAfterCancel:   "Refund it, or deliver in spite of the cancellation.",
	PaymentReversed:   "Find out whether the goods have left and ask the customer to pay another way.",
	RefundReversed:    "Refund again or another way.",
	Disputed:          "Respond to the provider before its deadline; resolve this once the dispute is over.",
	AmountMismatch:    "Compare with the provider's dashboard before anything is delivered.",
	CurrencyMismatch:  "Compare with the provider's dashboard before anything is delivered.",
	RefundExceeds:     "Compare with the provider's dashboard how much was refunded.",
	EventChanged:      "Compare both contents with the provider's dashboard.",
	UnreadableEvent:   "Look in the provider's dashboard for what the events are about; a later version reads them by itself, or replay them.",
	UnknownHere:       "Look the payment up in the provider's dashboard: it is not recorded here. If goods are owed for it, deliver them; else refund it there.",
	UnknownAtProvider: "Look for the payment in the provider's dashboard, in those of your other accounts, too: nothing there is of it.",
	UnmatchedEvent:    "Look the payment up in the provider's dashboard. If it was not begun here, refund it there; if its attempt exists by now, replay the event.",
}
