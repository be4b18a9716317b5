package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/webhooks"
)

// separator joins the references of one event; no provider's id contains it.
const separator = "\x1f"

// eventsInsertParams returns new events.
func eventsInsertParams(events []payment.StoredEvent) (*dbsqlc.EventsInsertParams, error) {
	p := newParams[dbsqlc.EventsInsertParams](len(events))
	for i := range events {
		if err := addEvent(p, &events[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func addEvent(p *dbsqlc.EventsInsertParams, e *payment.StoredEvent) error {
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
	p.Takens = append(p.Takens, e.Headers[payment.TakenHeader])
	p.OccurredAts = append(p.OccurredAts, e.Event.OccurredAt)
	p.ReceivedAts = append(p.ReceivedAts, e.At)
	return nil
}

// eventBytesInsertParams returns the bytes and headers that are kept of some events, encrypted by seal.
func eventBytesInsertParams(events []payment.StoredEvent, at time.Time, seal func(event uuid.UUID, headers, body []byte) []byte) (*dbsqlc.EventBytesInsertParams, error) {
	p := newParams[dbsqlc.EventBytesInsertParams](len(events))
	p.SealedAt = at
	for i := range events {
		if events[i].Forgets() {
			continue
		}
		_, headers, err := events[i].JSON()
		if err != nil {
			return nil, err
		}
		id := uuid.UUID(events[i].ID)
		p.EventIds, p.Sealeds = append(p.EventIds, id), append(p.Sealeds, seal(id, headers, events[i].Body))
	}
	return p, nil
}

// eventRereadParams is the content of an event, once it could be read.
func eventRereadParams(e *payment.StoredEvent) (*dbsqlc.EventRereadParams, error) {
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

// eventsSettleParams returns the verdicts on parked events.
func eventsSettleParams(events []payment.StoredEvent) *dbsqlc.EventsSettleParams {
	p := newParams[dbsqlc.EventsSettleParams](len(events))
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

// eventFromRow is an event without its bytes and headers.
func eventFromRow(row *dbsqlc.ProviderEvents) payment.StoredEvent {
	return parkedEvent(&parkedRow{
		EventID: row.EventID, Account: row.Account, ProviderEventID: row.ProviderEventID, Digest: row.Digest, News: row.News,
		OrderID: row.OrderID, AttemptID: row.AttemptID, Verdict: row.Verdict, Tries: row.Tries, NextTryAt: row.NextTryAt, ReceivedAt: row.ReceivedAt,
	})
}

// parkedRow is a parked event. All reads of parked events have rows of the same form.
type parkedRow = dbsqlc.EventsDueRow

// parkedEventsFromRows returns events without their bytes.
func parkedEventsFromRows[R *dbsqlc.EventsDueRow | *dbsqlc.EventsParkedRow | *dbsqlc.EventsParkedOfRow](rows []R) []payment.StoredEvent {
	events := make([]payment.StoredEvent, 0, len(rows))
	for _, row := range rows {
		events = append(events, parkedEvent((*parkedRow)(row)))
	}
	return events
}

func parkedEvent(row *parkedRow) payment.StoredEvent {
	e := payment.StoredEvent{
		ID: payment.EventID(row.EventID), Digest: digestOf(row.Digest), Verdict: fsm.Verdict(row.Verdict),
		Tries: int(row.Tries), NextTryAt: row.NextTryAt,
		ReceivedEvent: payment.ReceivedEvent{Account: row.Account, At: row.ReceivedAt},
	}
	if row.OrderID != nil && row.AttemptID != nil {
		e.OrderID, e.AttemptID = payment.OrderID(*row.OrderID), payment.AttemptID(*row.AttemptID)
	}
	e.Event, e.Unreadable = webhookOf(row.ProviderEventID, row.News)
	return e
}

var errNews = errors.New("the stored content has another format")

// webhookOf reads the content of an event. If another version has written it in another form, Webhook returns only the id,
// with an error.
func webhookOf(id string, raw []byte) (webhooks.Event, error) {
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

// digestOf is a digest of 32 bytes.
func digestOf(raw []byte) (d [32]byte) {
	copy(d[:], raw)
	return d
}
