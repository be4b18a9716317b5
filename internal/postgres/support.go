package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/support"
)

// lastRune ends a range of all texts that begin alike.
const lastRune = "\U0010FFFF"

// Search implements support.Store. It is planned for the text at hand: the best way
// to the few ids that begin with one text is not the one to the many with another.
func (s *Store) Search(ctx context.Context, q support.SearchQuery) ([]support.Hit, error) {
	var hits []support.Hit
	err := s.once(ctx, func(ctx context.Context, tx payment.Tx) error {
		t, ours := tx.(*txn)
		if !ours {
			return errForeignTx
		}
		if _, err := t.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
			return fmt.Errorf("plan a search: %w", err)
		}
		rows, err := s.q.SupportSearch(ctx, t, &dbsqlc.SupportSearchParams{
			Q: q.Text, Past: q.Text + lastRune, FirstID: q.First, LastID: q.Last,
			BeforeAt: q.Before, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		for _, row := range rows {
			hits = append(hits, support.Hit{
				Type: row.Type, ID: row.ID, OrderID: payment.OrderID(row.OrderID), AttemptID: (*payment.AttemptID)(row.AttemptID),
				Status: row.Status, Matched: row.Matched, At: row.At,
			})
		}
		return nil
	})
	return hits, err
}

// Discrepancies implements support.Store.
func (s *Store) Discrepancies(ctx context.Context, q support.DiscrepancyQuery) ([]support.Discrepancy, error) {
	var list []support.Discrepancy
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DiscrepanciesList(ctx, c, &dbsqlc.DiscrepanciesListParams{
			Status: q.Status, Kind: string(q.Kind), BeforeAt: q.Before, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("list discrepancies: %w", err)
		}
		for _, row := range rows {
			list = append(list, listedFromRow(row))
		}
		return s.circumstances(ctx, c, list)
	})
	return list, err
}

// DiscrepancyShown implements support.Store.
func (s *Store) DiscrepancyShown(ctx context.Context, id payment.DiscrepancyID) (support.Discrepancy, error) {
	var d support.Discrepancy
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.DiscrepancyShow(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, missing(err, payment.ErrDiscrepancyNotFound))
		}
		one := []support.Discrepancy{listedFromRow((*dbsqlc.DiscrepanciesListRow)(row))}
		err = s.circumstances(ctx, c, one)
		d = one[0]
		return err
	})
	return d, err
}

// circumstances reads what the possible resolutions of discrepancies depend on.
func (s *Store) circumstances(ctx context.Context, db dbsqlc.DBTX, list []support.Discrepancy) error {
	ids := make([]uuid.UUID, len(list))
	for i, d := range list {
		ids[i] = uuid.UUID(d.ID)
	}
	rows, err := s.q.DiscrepanciesCircumstances(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read the circumstances of %d discrepancies: %w", len(ids), err)
	}
	by := make(map[payment.DiscrepancyID]payment.Circumstances, len(rows))
	for _, row := range rows {
		by[payment.DiscrepancyID(row.DiscrepancyID)] = payment.Circumstances{
			State: stateFromRow(row.Status, row.Stage), Held: row.Held, Foreign: row.ForeignHeld, MayHold: row.MayHold, Refunding: row.Refunding, Beside: row.Beside, Refund: fsm.RefundState(row.Refund),
		}
	}
	for i := range list {
		list[i].Circumstances = by[list[i].ID]
	}
	return nil
}

func listedFromRow(row *dbsqlc.DiscrepanciesListRow) support.Discrepancy {
	return support.Discrepancy{
		Discrepancy: discrepancyFromRow(&row.Discrepancies), EventID: (*payment.EventID)(row.EventID), ReadAt: row.ReadAt,
	}
}

// Waiting is how many discrepancies of a kind are open, and the age of the oldest.
type Waiting struct {
	Count  int64
	Oldest time.Duration
}

// DiscrepanciesWaiting counts the open discrepancies by kind.
func (s *Store) DiscrepanciesWaiting(ctx context.Context) (map[string]Waiting, error) {
	waiting := map[string]Waiting{}
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DiscrepanciesWaiting(ctx, c)
		for _, row := range rows {
			waiting[row.Kind] = Waiting{row.Waiting, time.Duration(row.OldestSeconds * float64(time.Second))}
		}
		return err
	})
	return waiting, err
}

// AuditEntries implements support.Store.
func (s *Store) AuditEntries(ctx context.Context, q support.AuditQuery) ([]support.AuditEntry, error) {
	var deeds []support.AuditEntry
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.AuditList(ctx, c, &dbsqlc.AuditListParams{
			Actor: q.Actor, Action: string(q.Action), Target: q.Target, BeforeID: q.BeforeID, Most: int32(q.Limit), //nolint:gosec // a page
		})
		if err != nil {
			return fmt.Errorf("list the audit log: %w", err)
		}
		for _, row := range rows {
			d, err := deedFromRow(row)
			if err != nil {
				return err
			}
			deeds = append(deeds, d)
		}
		return nil
	})
	return deeds, err
}

// AuditInsert implements support.Store.
func (s *Store) AuditInsert(ctx context.Context, d support.AuditEntry) error {
	return s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error { return s.insertDeed(ctx, c, d) })
}

var errForeignTx = errors.New("the transaction is not of this storage")

// AuditInsertIn implements support.Store.
func (s *Store) AuditInsertIn(ctx context.Context, tx payment.Tx, d support.AuditEntry) error {
	t, ours := tx.(*txn)
	if !ours {
		return errForeignTx
	}
	return s.insertDeed(ctx, t.Deferred(), d)
}

func (s *Store) insertDeed(ctx context.Context, db dbsqlc.DBTX, d support.AuditEntry) error {
	detail := []byte("{}")
	if d.Detail != nil {
		var err error
		if detail, err = json.Marshal(d.Detail); err != nil {
			return fmt.Errorf("encode an entry of the audit log: %w", err)
		}
	}
	roles := make([]string, len(d.Roles))
	for i, r := range d.Roles {
		roles[i] = string(r)
	}
	err := s.q.AuditInsert(ctx, db, &dbsqlc.AuditInsertParams{
		EntryID: d.ID, DeedID: d.ActionID, Actor: d.Actor, Roles: roles, Action: string(d.Action), TargetType: d.TargetType, Target: d.Target,
		OrderID: orNull(string(d.OrderID)), AttemptID: (*uuid.UUID)(d.AttemptID), Reason: d.Reason, Address: d.Address, RequestID: d.RequestID,
		Outcome: string(d.Outcome), Detail: detail,
	})
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

func deedFromRow(row *dbsqlc.StaffAudit) (support.AuditEntry, error) {
	d := support.AuditEntry{
		ID: row.EntryID, ActionID: row.DeedID, Actor: row.Actor, Action: support.Action(row.Action), TargetType: row.TargetType, Target: row.Target,
		OrderID: payment.OrderID(orEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID), Reason: row.Reason, Address: row.Address,
		RequestID: row.RequestID, Outcome: support.Outcome(row.Outcome), At: row.At,
	}
	for _, r := range row.Roles {
		d.Roles = append(d.Roles, payment.Role(r))
	}
	if err := json.Unmarshal(row.Detail, &d.Detail); err != nil {
		return d, fmt.Errorf("decode an entry of the audit log: %w", err)
	}
	return d, nil
}
