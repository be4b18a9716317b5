package support

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
)

// Discrepancies returns the worklist, newest first: what needs review, and with status
// "resolved" or "" what is resolved. It returns payment.ErrForbidden and a
// payment.ValidationError.
func (s *Service) Discrepancies(ctx context.Context, who Staff, status, kind string, p Page) (list []Discrepancy, next string, err error) {
	if err := who.mayLook(); err != nil {
		return nil, "", err
	}
	if status != "" && status != "open" && status != "resolved" {
		return nil, "", invalid("status", "must be open or resolved, or be left out")
	}
	if _, valid := whatToLookAt[kind]; kind != "" && !valid {
		return nil, "", invalid("kind", "must be one of "+strings.Join(DiscrepancyKinds(), ", ")+", or be left out")
	}
	id, err := p.id()
	if err != nil {
		return nil, "", err
	}
	list, err = s.store.Discrepancies(ctx, DiscrepancyQuery{
		Status: status, Kind: payment.DiscrepancyKind(kind), Before: p.before, BeforeID: id, Limit: p.limit + 1,
	})
	if err := s.audited(ctx, who.entry(ViewedWorklist, "discrepancies", status), err); err != nil {
		return nil, "", err
	}
	list, next = Cut(p, list, func(d Discrepancy) (time.Time, string) { return d.At, d.ID.String() })
	return list, next, nil
}

// Discrepancy returns one of them. It returns payment.ErrForbidden and
// payment.ErrDiscrepancyNotFound.
func (s *Service) Discrepancy(ctx context.Context, who Staff, id payment.DiscrepancyID) (Discrepancy, error) {
	if err := who.mayLook(); err != nil {
		return Discrepancy{}, err
	}
	d, err := s.store.DiscrepancyShown(ctx, id)
	look := who.entry(ViewedDiscrepancy, "discrepancy", id.String())
	look.OrderID, look.AttemptID = d.OrderID, d.AttemptID
	if err := s.audited(ctx, look, err); err != nil {
		return Discrepancy{}, err
	}
	return d, nil
}

// Resolve resolves a discrepancy as commands.Commands.Resolve does, or proposes that, with
// its entry in the audit log in the same transaction. The same again changes nothing.
func (s *Service) Resolve(ctx context.Context, who Staff, cmd commands.Resolve) (Discrepancy, error) {
	if err := who.mayAct(cmd.Reason); err != nil {
		return Discrepancy{}, err
	}
	d := who.entry(Resolved, "discrepancy", cmd.ID.String())
	d.Reason = cmd.Reason
	d.Detail = map[string]any{"resolution": string(cmd.Resolution), "provider_payment_id": cmd.ProviderPaymentID}
	written := false
	cmd.With = func(ctx context.Context, tx commands.Tx, settled review.Discrepancy) error {
		written = true
		in := d
		in.OrderID, in.AttemptID = settled.OrderID, settled.AttemptID
		if settled.Awaits() {
			in.Action = Proposed
		}
		return s.insertIn(ctx, tx, in, Done)
	}
	settled, err := s.payments.Resolve(ctx, who.Actor, cmd)
	if err != nil || !written {
		d.OrderID, d.AttemptID = settled.OrderID, settled.AttemptID
		err = s.audited(ctx, d, err)
	}
	if err != nil {
		return Discrepancy{}, err
	}
	return s.store.DiscrepancyShown(ctx, cmd.ID)
}

// Age returns how long a discrepancy was open, or has been so far.
func (d Discrepancy) Age() time.Duration {
	if d.Resolved != nil {
		return d.Resolved.At.Sub(d.At)
	}
	return d.ReadAt.Sub(d.At)
}

// Possible returns the resolutions that it can have now; empty once it is resolved.
func (d Discrepancy) Possible() []review.Possibility {
	if d.Resolved != nil {
		return nil
	}
	return d.Discrepancy.Possible(d.Circumstances)
}

// WhatToDo returns advice for a reviewer: what to compare, and how to resolve it.
func (d Discrepancy) WhatToDo() string {
	parts := []string{d.lookAt()}
	if d.Awaits() {
		parts = append(parts, d.Proposed.By+" has found it paid by "+d.Proposed.ProviderPaymentID+
			", and the provider can't be asked: a second person has to look, and resolve it as paid by the same.")
	}
	for _, p := range d.Possible() {
		parts = append(parts, "Resolve it as "+string(p.Resolution)+" if "+p.When+".")
	}
	if more := d.Beforehand(d.Circumstances); more != "" {
		parts = append(parts, more)
	}
	return strings.Join(parts, " ")
}

func (d Discrepancy) lookAt() string {
	if _, of := d.Refund(); of {
		return "Look the refund up in the provider's dashboard."
	}
	return sentence(whatToLookAt, string(d.Kind), "Compare with the provider's dashboard.")
}

// DiscrepancyKinds returns every kind, sorted.
func DiscrepancyKinds() []string { return slices.Sorted(maps.Keys(whatToLookAt)) }

// whatToLookAt has every kind.
var whatToLookAt = map[string]string{ //nolint:gochecknoglobals // a table
	"needs_review":        "Look the payment up in the provider's dashboard.",
	"late_success":        "Decide whether the goods are delivered or the money is refunded.",
	"double_success":      "Unless one of the two payments is refunded by itself, refund one.",
	"paid_after_cancel":   "Unless it is refunded by itself, refund it, or deliver in spite of the cancellation.",
	"payment_reversed":    "Find out whether the goods have left and ask the customer to pay another way.",
	"refund_reversed":     "Refund again or another way.",
	"disputed":            "Respond to the provider before its deadline; resolve this once the dispute is over.",
	"amount_mismatch":     "Compare with the provider's dashboard before anything is delivered.",
	"currency_mismatch":   "Compare with the provider's dashboard before anything is delivered.",
	"refund_exceeds":      "Compare with the provider's dashboard how much was refunded.",
	"event_changed":       "Compare both contents with the provider's dashboard.",
	"unreadable_event":    "Look in the provider's dashboard for what the events are about; a later version reads them by itself, or replay them.",
	"unknown_here":        "Look the payment up in the provider's dashboard: it is not recorded here. If goods are owed for it, deliver them; else refund it there.",
	"unknown_at_provider": "Look for the payment in the provider's dashboard, in those of your other accounts, too: nothing there is of it.",
	"unmatched_event":     "Look the payment up in the provider's dashboard. If it was not begun here, refund it there; if its attempt exists by now, replay the event.",
}
