package mapping

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/webhooks"
)

// separator joins the references of one event; no provider's id contains it.
const separator = "\x1f"

// EventsInsertParams are new events.
func EventsInsertParams(events []inbound.StoredEvent) (*dbsqlc.EventsInsertParams, error) {
	p := Params[dbsqlc.EventsInsertParams](len(events))
	for i := range events {
		if err := addEvent(p, &events[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func addEvent(p *dbsqlc.EventsInsertParams, e *inbound.StoredEvent) error {
	news, _, err := e.JSON()
	if err != nil {
		return err
	}
	p.EventIds = append(p.EventIds, uuid.UUID(e.ID))
	p.Accounts = append(p.Accounts, e.Account)
	p.ProviderEventIds = append(p.ProviderEventIds, e.Event.ID)
	p.IdsDerived = append(p.IdsDerived, e.Event.IDSource == webhooks.Derived)
	p.EventTypes = append(p.EventTypes, e.Event.Type)
	p.Kinds = append(p.Kinds, string(e.Event.Kind))
	p.Digests = append(p.Digests, e.Digest[:])
	p.News = append(p.News, string(news))
	p.Refs = append(p.Refs, strings.Join(e.Event.References, separator))
	p.OrderIds = append(p.OrderIds, string(e.OrderID))
	p.AttemptIds = append(p.AttemptIds, uuid.UUID(e.AttemptID))
	p.Verdicts = append(p.Verdicts, string(e.Verdict))
	p.Tries = append(p.Tries, int32(e.Tries)) //nolint:gosec // a count of tries
	p.NextTryAts = append(p.NextTryAts, orZero(e.NextTryAt))
	p.SecretIndexes = append(p.SecretIndexes, int32(e.Event.SecretIndex)) //nolint:gosec // an index of a short list
	p.Takens = append(p.Takens, e.Headers[inbound.TakenHeader])
	p.OccurredAts = append(p.OccurredAts, e.Event.OccurredAt)
	p.ReceivedAts = append(p.ReceivedAts, e.At)
	return nil
}

// EventBytesInsertParams are the bytes and headers of some events, encrypted by seal.
func EventBytesInsertParams(events []inbound.StoredEvent, at time.Time, seal func(event uuid.UUID, headers, body []byte) []byte) (*dbsqlc.EventBytesInsertParams, error) {
	p := Params[dbsqlc.EventBytesInsertParams](len(events))
	p.SealedAt = at
	for i := range events {
		_, headers, err := events[i].JSON()
		if err != nil {
			return nil, err
		}
		id := uuid.UUID(events[i].ID)
		p.EventIds, p.Sealeds = append(p.EventIds, id), append(p.Sealeds, seal(id, headers, events[i].Body))
	}
	return p, nil
}

// EventRereadParams is the content of an event, once it could be read.
func EventRereadParams(e *inbound.StoredEvent) (*dbsqlc.EventRereadParams, error) {
	news, _, err := e.JSON()
	if err != nil {
		return nil, err
	}
	p := &dbsqlc.EventRereadParams{
		Account: e.Account, ProviderEventID: e.Event.ID, EventType: e.Event.Type, Kind: string(e.Event.Kind), Digest: e.Digest[:],
		News: news, Refs: strings.Join(e.Event.References, separator),
	}
	if at := e.Event.OccurredAt; !at.IsZero() {
		p.OccurredAt = &at
	}
	return p, nil
}

// EventsSettleParams are the verdicts on parked events.
func EventsSettleParams(events []inbound.StoredEvent) *dbsqlc.EventsSettleParams {
	p := Params[dbsqlc.EventsSettleParams](len(events))
	for i := range events {
		e := &events[i]
		p.Accounts = append(p.Accounts, e.Account)
		p.ProviderEventIds = append(p.ProviderEventIds, e.Event.ID)
		p.Verdicts = append(p.Verdicts, string(e.Verdict))
		p.OrderIds = append(p.OrderIds, string(e.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(e.AttemptID))
		p.Tries = append(p.Tries, int32(e.Tries)) //nolint:gosec // a count of tries
		p.NextTryAts = append(p.NextTryAts, orZero(e.NextTryAt))
	}
	return p
}

// Event is an event without its bytes and headers.
func Event(row *dbsqlc.ProviderEvents) inbound.StoredEvent {
	return parkedEvent(&parkedRow{
		EventID: row.EventID, Account: row.Account, ProviderEventID: row.ProviderEventID, Digest: row.Digest, News: row.News,
		OrderID: row.OrderID, AttemptID: row.AttemptID, Verdict: row.Verdict, Tries: row.Tries, NextTryAt: row.NextTryAt, ReceivedAt: row.ReceivedAt,
	})
}

// parkedRow is a parked event. All reads of parked events have rows of the same form.
type parkedRow = dbsqlc.EventsDueRow

// ParkedEvents are events without their bytes.
func ParkedEvents[R *dbsqlc.EventsDueRow | *dbsqlc.EventsParkedRow | *dbsqlc.EventsParkedOfRow](rows []R) []inbound.StoredEvent {
	events := make([]inbound.StoredEvent, 0, len(rows))
	for _, row := range rows {
		events = append(events, parkedEvent((*parkedRow)(row)))
	}
	return events
}

func parkedEvent(row *parkedRow) inbound.StoredEvent {
	e := inbound.StoredEvent{
		ID: payment.EventID(row.EventID), Digest: Digest(row.Digest), Verdict: fsm.Verdict(row.Verdict),
		Tries: int(row.Tries), NextTryAt: row.NextTryAt,
		Received: inbound.Received{Account: row.Account, At: row.ReceivedAt},
	}
	if row.OrderID != nil && row.AttemptID != nil {
		e.OrderID, e.AttemptID = payment.OrderID(*row.OrderID), payment.AttemptID(*row.AttemptID)
	}
	e.Event, e.Unreadable = Webhook(row.ProviderEventID, row.News)
	return e
}

var errNews = errors.New("what it says has another form")

// Webhook reads the content of an event. If another version has written it in another form, Webhook returns only the id,
// with an error.
func Webhook(id string, raw []byte) (webhooks.Event, error) {
	var e webhooks.Event
	err := json.Unmarshal(raw, &e)
	if err == nil && e.ID != id {
		err = errNews
	}
	if err != nil {
		return webhooks.Event{ID: id}, fmt.Errorf("%w: %s: %w", payment.ErrEventUnreadable, id, err)
	}
	return e, nil
}

// Digest is a digest of 32 bytes.
func Digest(raw []byte) (d [32]byte) {
	copy(d[:], raw)
	return d
}
