package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/webhooks"
)

// EventsArriving implements intake.Tx.
func (t *txn) EventsArriving(ctx context.Context, keys []payment.EventKey, refs []payment.Reference) (map[payment.EventKey][32]byte, []intake.Found, error) {
	p := newParams[dbsqlc.EventsKnownParams](len(keys))
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
		known[payment.EventKey{Account: r.Account, ID: r.ProviderEventID}] = digestOf(r.Digest)
	}
	if len(known) > 0 {
		if err := t.promised(); err != nil {
			return nil, nil, err
		}
	}
	found, err := named.found(ctx, t)
	return known, found, err
}

// DeliveryTake implements intake.Tx.
func (t *txn) DeliveryTake(ctx context.Context, account, id string, body [32]byte) ([32]byte, error) {
	first, err := t.q.DeliveryTake(ctx, t, &dbsqlc.DeliveryTakeParams{Account: account, DeliveryID: id, BodyDigest: body[:]})
	if err != nil {
		return [32]byte{}, fmt.Errorf("take delivery %s: %w", id, err)
	}
	return digestOf(first), nil
}

// EventsInsert implements intake.Tx.
func (t *txn) EventsInsert(ctx context.Context, events []payment.StoredEvent) error {
	if len(events) == 0 {
		return nil
	}
	p, err := eventsInsertParams(events)
	if err != nil {
		return err
	}
	with, err := t.keys.Sealing(ctx)
	if err != nil {
		return err
	}
	sealed, err := eventBytesInsertParams(events, with.At, with.Seal)
	if err != nil {
		return err
	}
	if err := errors.Join(t.q.EventsInsert(ctx, t.Deferred(), p), t.q.EventBytesInsert(ctx, t.Deferred(), sealed)); err != nil {
		return fmt.Errorf("store %d events: %w", len(events), err)
	}
	t.witness(watermark.Commit{Kind: watermark.CommitEvent, ID: uuid.UUID(events[0].ID)})
	return nil
}

// EventsParked implements intake.Tx.
func (t *txn) EventsParked(ctx context.Context, refs []payment.Reference) ([]payment.StoredEvent, error) {
	parked := t.parked(ctx, refs)
	if err := t.Pipeline(ctx, parked.reads...); err != nil {
		return nil, fmt.Errorf("look for parked events: %w", err)
	}
	return parkedEventsFromRows(parked.rows), nil
}

// EventsParkedOf implements changeset.Tx.
func (t *txn) EventsParkedOf(ctx context.Context, a payment.Attempt, others []string) ([]payment.StoredEvent, error) {
	rows, err := t.q.EventsParkedOf(ctx, t, &dbsqlc.EventsParkedOfParams{Account: a.Account, AttemptID: uuid.UUID(a.ID), Others: others})
	if err != nil {
		return nil, fmt.Errorf("look for parked events of attempt %s: %w", a.ID, err)
	}
	return parkedEventsFromRows(rows), nil
}

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

// EventsDue implements intake.Tx.
func (t *txn) EventsDue(ctx context.Context, limit int) ([]payment.StoredEvent, error) {
	rows, err := t.q.EventsDue(ctx, t, int32(limit)) //nolint:gosec // a batch size
	if err != nil {
		return nil, fmt.Errorf("look for due events: %w", err)
	}
	return parkedEventsFromRows(rows), nil
}

// EventLock implements intake.Tx.
func (t *txn) EventLock(ctx context.Context, id payment.EventID) (payment.StoredEvent, error) {
	row, err := t.q.EventLock(ctx, t, uuid.UUID(id))
	if err != nil {
		return payment.StoredEvent{}, fmt.Errorf("lock event %s: %w", id, pool.Missing(err, payment.ErrEventNotFound))
	}
	e := eventFromRow(row)
	if e.Event.Kind != webhooks.KindUnreadable {
		return e, nil // its meaning is known
	}
	if e.Headers, e.Body, err = t.keys.Read(ctx, t, uuid.UUID(id)); errors.Is(err, envelope.ErrClosed) {
		err = fmt.Errorf("%w: %w", payment.ErrSealed, err)
	}
	return e, err
}

// EventReread implements intake.Tx.
func (t *txn) EventReread(ctx context.Context, e payment.StoredEvent) error {
	p, err := eventRereadParams(&e)
	if err != nil {
		return err
	}
	if _, err := t.q.EventReread(ctx, t.DeferredRows(1, pool.ErrGuard), p); err != nil {
		return fmt.Errorf("write what event %s means: %w", e.ID, err)
	}
	return nil
}

// EventsUnreadable implements intake.Store.
func (s *Store) EventsUnreadable(ctx context.Context, version string, limit int) (ids []payment.EventID, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.EventsUnreadable(ctx, c, &dbsqlc.EventsUnreadableParams{Version: version, Most: int32(limit)}) //nolint:gosec // a batch size
		if err != nil {
			return fmt.Errorf("look for unreadable events: %w", err)
		}
		for _, id := range rows {
			ids = append(ids, payment.EventID(id))
		}
		return nil
	})
	return ids, err
}

// EventReadBy implements intake.Store.
func (s *Store) EventReadBy(ctx context.Context, id payment.EventID, version string) error {
	return s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return s.q.EventReadBy(ctx, c, &dbsqlc.EventReadByParams{EventID: uuid.UUID(id), Version: version})
	})
}

// EventsSettle implements changeset.Tx.
func (t *txn) EventsSettle(ctx context.Context, events []payment.StoredEvent) error {
	if len(events) == 0 {
		return nil
	}
	if _, err := t.q.EventsSettle(ctx, t.DeferredRows(int64(len(events)), pool.ErrGuard), eventsSettleParams(events)); err != nil {
		return fmt.Errorf("settle %d events: %w", len(events), err)
	}
	var erased []uuid.UUID
	for i := range events {
		if events[i].Forgets() {
			erased = append(erased, uuid.UUID(events[i].ID))
		}
	}
	if len(erased) == 0 {
		return nil
	}
	if err := t.q.EventsErase(ctx, t.Deferred(), erased); err != nil {
		return fmt.Errorf("erase the bytes of %d events: %w", len(erased), err)
	}
	return nil
}
