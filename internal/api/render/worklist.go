package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportDiscrepancies renders a page of the worklist, without comments.
func SupportDiscrepancies(list []worklist.Entry, next string) gen.SupportDiscrepancies {
	return gen.SupportDiscrepancies{Items: mapped(list, discrepancy), NextCursor: orNull(next)}
}

// SupportDiscrepancy renders one discrepancy with its comments.
func SupportDiscrepancy(e worklist.Entry) gen.SupportDiscrepancy {
	out := discrepancy(e)
	comments := mapped(e.Comments, func(c worklist.Comment) gen.SupportCommentShown {
		return gen.SupportCommentShown{CommentID: c.ID.String(), Author: c.Author, Text: c.Text, At: gen.Micros(c.At)}
	})
	out.Comments = &comments
	return out
}

func discrepancy(d worklist.Entry) gen.SupportDiscrepancy {
	out := gen.SupportDiscrepancy{
		DiscrepancyID: d.ID.String(), Kind: string(d.Kind), Status: gen.SupportDiscrepancyStatusOpen,
		PaymentAttemptID: attemptOrNull(d.AttemptID), OrderID: orNull(string(d.OrderID)), Text: d.Says(), WhatToDo: d.WhatToDo(),
		Account: orNull(d.Account), ProviderEventID: orNull(d.Event.ID), OpenedAt: gen.Micros(d.At), AgeSeconds: int64(d.Age().Seconds()),
		UserID: orNull(string(d.User)), Expected: money(d.Expected), Held: money(d.Held), CommentCount: d.CommentCount,
		Assignee: orNull(d.Assignee), AssignedAt: (*gen.Micros)(d.AssignedAt),
		Resolutions: mapped(d.Possible(), func(p payment.PossibleResolution) gen.SupportPossibility {
			return gen.SupportPossibility{Resolution: gen.SupportPossibilityResolution(p.Resolution), When: p.When, Effect: p.Effect}
		}),
	}
	if p := d.Proposed; d.Awaits() {
		out.AwaitingSecond = &gen.SupportProposed{
			By: p.By, At: gen.Micros(p.At), Resolution: gen.SupportProposedResolution(p.Resolution),
			ProviderPaymentID: orNull(p.ProviderPaymentID), Reason: p.Reason,
		}
	}
	if d.EventID != nil {
		id := d.EventID.String()
		out.EventID = &id
	}
	if d.Money != nil {
		out.Amount, out.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
	}
	if r := d.Resolved; r != nil {
		out.Status, out.ResolvedAt = gen.SupportDiscrepancyStatusResolved, (*gen.Micros)(&r.At)
		out.ResolvedBy, out.Resolution = orNull(r.By), orNull(string(r.Resolution))
		out.ProviderPaymentID, out.Reason = orNull(r.ProviderPaymentID), orNull(r.Reason)
	}
	return out
}

func money(m *payment.Money) *gen.SupportMoney {
	if m == nil {
		return nil
	}
	return &gen.SupportMoney{Amount: m.Minor, Currency: string(m.Currency)}
}
