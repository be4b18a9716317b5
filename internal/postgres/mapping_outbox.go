package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// outboxInsertParams returns events for the merchant. The list may be empty.
func outboxInsertParams(messages []outbox.Message) *dbsqlc.OutboxInsertParams {
	p := newParams[dbsqlc.OutboxInsertParams](len(messages))
	for _, m := range messages {
		p.OrderIds = append(p.OrderIds, string(m.OrderID))
		p.MessageIds = append(p.MessageIds, m.ID)
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(m.AttemptID))
		p.Subjects = append(p.Subjects, m.Subject)
		p.Types = append(p.Types, m.Type)
		p.Versions = append(p.Versions, int32(m.Version)) //nolint:gosec // a version
		p.Payloads = append(p.Payloads, string(m.Payload))
		p.CreatedAts = append(p.CreatedAts, m.At)
	}
	return p
}

// outboxInsertCancelledParams returns the events of orders that may be cancelled.
func outboxInsertCancelledParams(messages []outbox.Message) *dbsqlc.OutboxInsertCancelledParams {
	p := outboxInsertParams(messages)
	return &dbsqlc.OutboxInsertCancelledParams{
		OrderIds: p.OrderIds, MessageIds: p.MessageIds, Types: p.Types, Versions: p.Versions, Payloads: p.Payloads, CreatedAts: p.CreatedAts,
	}
}

// outboxEventFromRow is an event that has a position.
func outboxEventFromRow(row *dbsqlc.OutboxAfterRow) outbox.Event {
	return outbox.Event{
		Position: outbox.Position(row.Position), OrderID: row.OrderID,
		ID: row.MessageID, Type: row.Type, Subject: row.Subject, Version: int(row.Version), Payload: row.Payload, CreatedAt: row.CreatedAt,
	}
}
