package postgres

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// discrepancyFromRow is a discrepancy with its proposal and resolution.
func discrepancyFromRow(row *dbsqlc.Discrepancies) payment.Discrepancy {
	d := payment.Discrepancy{
		ID: payment.DiscrepancyID(row.DiscrepancyID), Kind: payment.DiscrepancyKind(row.Kind), OrderID: payment.OrderID(orEmpty(row.OrderID)),
		Event: payment.EventKey{Account: row.Account, ID: orEmpty(row.ProviderEventID)}, About: row.About, AboutID: row.AboutID, Text: row.Text, At: row.OpenedAt, Assignee: row.Assignee,
		CausedBy: row.CausedBy,
	}
	if row.AttemptID != nil {
		id := payment.AttemptID(*row.AttemptID)
		d.AttemptID = &id
	}
	if row.Amount != nil {
		d.Money = &payment.Money{Minor: *row.Amount, Currency: payment.Currency(orEmpty(row.Currency))}
	}
	if row.ProposedAt != nil {
		d.Proposed = &payment.ProposedResolution{
			Resolution: cmp.Or(payment.Resolution(row.ProposedResolution), payment.ResolvedPaid), ProviderPaymentID: row.ProposedPaymentID, By: row.ProposedBy, Reason: row.ProposedReason, At: *row.ProposedAt,
		}
	}
	if row.ResolvedAt != nil {
		d.Resolved = &payment.Resolved{
			Resolution: payment.Resolution(row.Resolution), ProviderPaymentID: row.ProviderPaymentID,
			By: row.ResolvedBy, Reason: row.Reason, At: *row.ResolvedAt,
		}
	}
	return d
}

// discrepancyOpenParams is a new discrepancy with its event.
func discrepancyOpenParams(d payment.Discrepancy, m outbox.Message) *dbsqlc.DiscrepancyOpenParams {
	p := &dbsqlc.DiscrepancyOpenParams{
		DiscrepancyID: uuid.UUID(d.ID), Kind: string(d.Kind), Account: d.Event.Account, About: d.About, AboutID: d.AboutID, Text: d.Text, OpenedAt: d.At, CausedBy: d.CausedBy,
		OrderID: orNull(string(d.OrderID)), ProviderEventID: orNull(d.Event.ID),
		MessageID: m.ID, Subject: m.Subject, Type: m.Type, Version: int32(m.Version), Payload: m.Payload, //nolint:gosec // a version
	}
	if d.AttemptID != nil {
		attempt := uuid.UUID(*d.AttemptID)
		p.AttemptID = &attempt
	}
	if d.Money != nil {
		p.Amount, p.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
	}
	return p
}

// discrepancyProposeParams returns the columns of the proposal.
func discrepancyProposeParams(d payment.Discrepancy) *dbsqlc.DiscrepancyProposeParams {
	return &dbsqlc.DiscrepancyProposeParams{
		DiscrepancyID: uuid.UUID(d.ID), ProposedAt: &d.Proposed.At, ProposedBy: d.Proposed.By,
		ProposedPaymentID: d.Proposed.ProviderPaymentID, ProposedReason: d.Proposed.Reason,
		ProposedResolution: string(d.Proposed.Resolution),
	}
}

// discrepancyResolveParams returns the columns of the resolution.
func discrepancyResolveParams(d payment.Discrepancy) *dbsqlc.DiscrepancyResolveParams {
	return &dbsqlc.DiscrepancyResolveParams{
		DiscrepancyID: uuid.UUID(d.ID), ResolvedAt: &d.Resolved.At, ResolvedBy: d.Resolved.By, Resolution: string(d.Resolved.Resolution),
		Reason: d.Resolved.Reason, ProviderPaymentID: d.Resolved.ProviderPaymentID,
	}
}
