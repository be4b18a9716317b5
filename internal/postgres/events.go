package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/webhooks"
)

// separator joins the references of one event; no provider's id contains it.
const separator = "\x1f"

// EventsArriving implements payment.Tx.
func (t *txn) EventsArriving(ctx context.Context, keys []payment.EventKey, refs []payment.Reference) (map[payment.EventKey][32]byte, []payment.Found, error) {
	p := params[dbsqlc.EventsKnownParams](len(keys))
	for _, k := range keys {
		p.Accounts, p.Ids = append(p.Accounts, k.Account), append(p.Ids, k.ID)
	}
	var rows []*dbsqlc.EventsKnownRow
	named := t.named(ctx, refs)
	err := t.Pipeline(ctx, append(named.reads, func(db pipeline.DB) (err error) {
		rows, err = t.q.EventsKnown(ctx, db, p)
		return err
	})...)
	if err != nil {
		return nil, nil, fmt.Errorf("look for events and their attempts: %w", err)
	}
	known := make(map[payment.EventKey][32]byte, len(keys))
	for _, r := range rows {
		known[payment.EventKey{Account: r.Account, ID: r.ProviderEventID}] = digestFromRow(r.Digest)
	}
	found, err := named.found(ctx, t)
	return known, found, err
}

// DeliveryTake implements payment.Tx.
func (t *txn) DeliveryTake(ctx context.Context, account, id string, body [32]byte) ([32]byte, error) {
	first, err := t.q.DeliveryTake(ctx, t, &dbsqlc.DeliveryTakeParams{Account: account, DeliveryID: id, BodyDigest: body[:]})
	if err != nil {
		return [32]byte{}, fmt.Errorf("take delivery %s: %w", id, err)
	}
	return digestFromRow(first), nil
}

// EventsInsert implements payment.Tx.
func (t *txn) EventsInsert(ctx context.Context, events []payment.StoredEvent) error {
	if len(events) == 0 {
		return nil
	}
	p := params[dbsqlc.EventsInsertParams](len(events))
	for i := range events {
		if err := addEvent(p, &events[i]); err != nil {
			return err
		}
	}
	if err := t.q.EventsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("store %d events: %w", len(events), err)
	}
	return nil
}

func addEvent(p *dbsqlc.EventsInsertParams, e *payment.StoredEvent) error {
	news, headers, err := e.JSON()
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
	p.Headers = append(p.Headers, string(headers))
	p.Bodies = append(p.Bodies, e.Body)
	p.OccurredAts = append(p.OccurredAts, e.Event.OccurredAt)
	p.ReceivedAts = append(p.ReceivedAts, e.At)
	return nil
}

// EventsParked implements payment.Tx.
func (t *txn) EventsParked(ctx context.Context, refs []payment.Reference) ([]payment.StoredEvent, error) {
	parked := t.parked(ctx, refs)
	if err := t.Pipeline(ctx, parked.reads...); err != nil {
		return nil, fmt.Errorf("look for parked events: %w", err)
	}
	return parkedFromRows(parked.rows), nil
}

// EventsParkedOf implements payment.Tx.
func (t *txn) EventsParkedOf(ctx context.Context, a payment.Attempt, others []string) ([]payment.StoredEvent, error) {
	rows, err := t.q.EventsParkedOf(ctx, t, &dbsqlc.EventsParkedOfParams{Account: a.Account, AttemptID: uuid.UUID(a.ID), Others: others})
	if err != nil {
		return nil, fmt.Errorf("look for parked events of attempt %s: %w", a.ID, err)
	}
	return parkedFromRows(rows), nil
}

// parkedRow is a parked event. The reads of such have rows of the same form.
type parkedRow = dbsqlc.EventsDueRow

// parkedReads look for the parked events of names, one account each.
type parkedReads struct {
	reads []pipeline.Query
	rows  []*dbsqlc.EventsParkedRow
}

func (t *txn) parked(ctx context.Context, refs []payment.Reference) *parkedReads {
	byAccount := map[string][]string{}
	for _, r := range refs {
		byAccount[r.Account] = append(byAccount[r.Account], r.Name)
	}
	p := &parkedReads{}
	for _, account := range slices.Sorted(maps.Keys(byAccount)) {
		arg := &dbsqlc.EventsParkedParams{Account: account, Refs: byAccount[account]}
		p.reads = append(p.reads, func(db pipeline.DB) error {
			rows, err := t.q.EventsParked(ctx, db, arg)
			p.rows = append(p.rows, rows...)
			return err
		})
	}
	return p
}

// EventsDue implements payment.Tx.
func (t *txn) EventsDue(ctx context.Context, limit int) ([]payment.StoredEvent, error) {
	rows, err := t.q.EventsDue(ctx, t, int32(limit)) //nolint:gosec // a batch size
	if err != nil {
		return nil, fmt.Errorf("look for due events: %w", err)
	}
	return parkedFromRows(rows), nil
}

// EventLock implements payment.Tx.
func (t *txn) EventLock(ctx context.Context, id payment.EventID) (payment.StoredEvent, error) {
	row, err := t.q.EventLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.StoredEvent{}, fmt.Errorf("lock event %s: %w", id, missing(err, payment.ErrEventNotFound))
	}
	return eventFromRow(row), nil
}

// EventsTransactions implements payment.Tx.
func (t *txn) EventsTransactions(ctx context.Context, ids []payment.AttemptID) (map[payment.AttemptID][]payment.Told, error) {
	rows, err := t.q.EventsTransactions(ctx, t, uuids(ids))
	if err != nil {
		return nil, fmt.Errorf("read the transactions of %d attempts: %w", len(ids), err)
	}
	told := make(map[payment.AttemptID][]payment.Told, len(ids))
	for _, r := range rows {
		id := payment.AttemptID(r.AttemptID)
		told[id] = append(told[id], payment.Told{Transaction: r.Transaction, Kind: webhooks.Kind(r.Kind)})
	}
	return told, nil
}

// EventsSettle implements payment.Tx. Parked events are few: one statement each.
func (t *txn) EventsSettle(ctx context.Context, events []payment.StoredEvent) error {
	for i := range events {
		e := &events[i]
		p := &dbsqlc.EventSettleParams{
			Account: e.Account, ProviderEventID: e.Event.ID, Verdict: string(e.Verdict), Tries: int32(e.Tries), NextTryAt: e.NextTryAt, //nolint:gosec // a count of tries
		}
		if e.OrderID != "" {
			order, attempt := string(e.OrderID), uuid.UUID(e.AttemptID)
			p.OrderID, p.AttemptID = &order, &attempt
		}
		if _, err := t.q.EventSettle(ctx, t.DeferredRows(1, errGuard), p); err != nil {
			return fmt.Errorf("settle event %s: %w", e.ID, err)
		}
	}
	return nil
}

// PurgeEventBytes removes the bytes and headers of at most limit settled events
// that are older than keep, and returns how many there were.
func (s *Store) PurgeEventBytes(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var n int64
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.EventBytesPurge(ctx, c, &dbsqlc.EventBytesPurgeParams{Keep: keep.Seconds(), Most: int32(limit)}) //nolint:gosec // a batch size
		return err
	})
	return int(n), err
}

func parkedFromRows[R *dbsqlc.EventsDueRow | *dbsqlc.EventsParkedRow | *dbsqlc.EventsParkedOfRow](rows []R) []payment.StoredEvent {
	events := make([]payment.StoredEvent, 0, len(rows))
	for _, row := range rows {
		events = append(events, parkedFromRow((*parkedRow)(row)))
	}
	return events
}

func parkedFromRow(row *parkedRow) payment.StoredEvent {
	e := payment.StoredEvent{
		ID: payment.EventID(row.EventID), Digest: digestFromRow(row.Digest), Verdict: fsm.Verdict(row.Verdict),
		Tries: int(row.Tries), NextTryAt: row.NextTryAt,
		Received: payment.Received{Account: row.Account, At: row.ReceivedAt},
	}
	if row.OrderID != nil && row.AttemptID != nil {
		e.OrderID, e.AttemptID = payment.OrderID(*row.OrderID), payment.AttemptID(*row.AttemptID)
	}
	e.Event, e.Unreadable = newsFromRow(row.ProviderEventID, row.News)
	return e
}

var errNews = errors.New("what it says has another form")

// newsFromRow reads what an event says. Of what another version has written, in a form
// that is not known here, only the id is returned, with an error.
func newsFromRow(id string, raw []byte) (webhooks.Event, error) {
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

func eventFromRow(row *dbsqlc.ProviderEvents) payment.StoredEvent {
	e := parkedFromRow(&parkedRow{
		EventID: row.EventID, Account: row.Account, ProviderEventID: row.ProviderEventID, Digest: row.Digest, News: row.News,
		OrderID: row.OrderID, AttemptID: row.AttemptID, Verdict: row.Verdict, Tries: row.Tries, NextTryAt: row.NextTryAt, ReceivedAt: row.ReceivedAt,
	})
	e.Body = row.Body
	if err := json.Unmarshal(row.Headers, &e.Headers); err != nil && e.Unreadable == nil {
		e.Unreadable = fmt.Errorf("%w: headers of %s: %w", payment.ErrEventUnreadable, e.Event.ID, err)
	}
	return e
}

func digestFromRow(raw []byte) (d [32]byte) {
	copy(d[:], raw)
	return d
}
