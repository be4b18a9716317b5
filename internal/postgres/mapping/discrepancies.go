package mapping

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/review"
)

// Discrepancy is a discrepancy with its proposal and resolution.
func Discrepancy(row *dbsqlc.Discrepancies) review.Discrepancy {
	d := review.Discrepancy{
		ID: payment.DiscrepancyID(row.DiscrepancyID), Kind: payment.DiscrepancyKind(row.Kind), OrderID: payment.OrderID(OrEmpty(row.OrderID)),
		Event: inbound.EventKey{Account: row.Account, ID: OrEmpty(row.ProviderEventID)}, About: row.About, AboutID: row.AboutID, Text: row.Text, At: row.OpenedAt, Assignee: row.Assignee,
		CausedBy: row.CausedBy,
	}
	if row.AttemptID != nil {
		id := payment.AttemptID(*row.AttemptID)
		d.AttemptID = &id
	}
	if row.Amount != nil {
		d.Money = &payment.Money{Minor: *row.Amount, Currency: payment.Currency(OrEmpty(row.Currency))}
	}
	if row.ProposedAt != nil {
		d.Proposed = &review.Proposed{
			Resolution: cmp.Or(review.Resolution(row.ProposedResolution), review.ResolvedPaid), ProviderPaymentID: row.ProposedPaymentID, By: row.ProposedBy, Reason: row.ProposedReason, At: *row.ProposedAt,
		}
	}
	if row.ResolvedAt != nil {
		d.Resolved = &review.Resolved{
			Resolution: review.Resolution(row.Resolution), ProviderPaymentID: row.ProviderPaymentID,
			By: row.ResolvedBy, Reason: row.Reason, At: *row.ResolvedAt,
		}
	}
	return d
}

// DiscrepancyOpenParams is a new discrepancy with its event.
func DiscrepancyOpenParams(d review.Discrepancy, m outbox.Message) *dbsqlc.DiscrepancyOpenParams {
	p := &dbsqlc.DiscrepancyOpenParams{
		DiscrepancyID: uuid.UUID(d.ID), Kind: string(d.Kind), Account: d.Event.Account, About: d.About, AboutID: d.AboutID, Text: d.Text, OpenedAt: d.At, CausedBy: d.CausedBy,
		OrderID: OrNull(string(d.OrderID)), ProviderEventID: OrNull(d.Event.ID),
		MessageID: m.ID, Subject: m.Subject, Type: m.Type, Version: int32(m.Version), Payload: m.Payload, //nolint:gosec // a version
	}
	if d.AttemptID != nil {
		attempt := uuid.UUID(*d.AttemptID)
		p.AttemptID = &attempt
	}
	if d.Money != nil {
		p.Amount, p.Currency = &d.Money.Minor, OrNull(string(d.Money.Currency))
	}
	return p
}

// DiscrepancyProposeParams are the columns of the proposal.
func DiscrepancyProposeParams(d review.Discrepancy) *dbsqlc.DiscrepancyProposeParams {
	return &dbsqlc.DiscrepancyProposeParams{
		DiscrepancyID: uuid.UUID(d.ID), ProposedAt: &d.Proposed.At, ProposedBy: d.Proposed.By,
		ProposedPaymentID: d.Proposed.ProviderPaymentID, ProposedReason: d.Proposed.Reason,
		ProposedResolution: string(d.Proposed.Resolution),
	}
}

// DiscrepancyResolveParams are the columns of the resolution.
func DiscrepancyResolveParams(d review.Discrepancy) *dbsqlc.DiscrepancyResolveParams {
	return &dbsqlc.DiscrepancyResolveParams{
		DiscrepancyID: uuid.UUID(d.ID), ResolvedAt: &d.Resolved.At, ResolvedBy: d.Resolved.By, Resolution: string(d.Resolved.Resolution),
		Reason: d.Resolved.Reason, ProviderPaymentID: d.Resolved.ProviderPaymentID,
	}
}
