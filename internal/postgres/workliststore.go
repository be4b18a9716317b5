package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// WorklistStore stores the additions of package worklist to discrepancies: assignees, comments, and the turns of
// the settler.
//
// A discrepancy's row is locked after its event, its order and its attempts. An assignment locks the row alone, and a
// comment locks nothing.

var _ worklist.Store = (*WorklistStore)(nil)

// WorklistStore keeps the worklist. It is safe for concurrent use.
type WorklistStore struct {
	pool  *pool.Pool
	q     *dbsqlc.Queries
	audit *SupportStore
}

// NewWorklistStore returns a store on the connections of p.
func NewWorklistStore(p *pool.Pool) *WorklistStore {
	return &WorklistStore{pool: p, q: dbsqlc.New(), audit: NewSupportStore(p, nil)}
}

// List implements worklist.Store. Its statement is planned for the given filter: open discrepancies have an index of
// their own.
func (s *WorklistStore) List(ctx context.Context, q worklist.Query) (list []worklist.Entry, err error) {
	err = s.pool.OnceAside(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL plan_cache_mode = force_custom_plan"); err != nil {
			return fmt.Errorf("plan the worklist: %w", err)
		}
		rows, err := s.rows(ctx, tx, q)
		if err != nil {
			return fmt.Errorf("list discrepancies: %w", err)
		}
		list = nil
		for _, row := range rows {
			list = append(list, worklistFromRow((*dbsqlc.WorklistEntryRow)(row)))
		}
		return s.fill(ctx, tx, list, q.Comments)
	})
	return list, err
}

func (s *WorklistStore) rows(ctx context.Context, db dbsqlc.DBTX, q worklist.Query) ([]*dbsqlc.WorklistNewestRow, error) {
	p := dbsqlc.WorklistNewestParams{
		FromAt: q.FromAt, FromID: q.FromID, Status: q.Status, Kind: string(q.Kind), Account: q.Account, Assignee: q.Assignee,
		Unassigned: q.Unassigned, OpenedFrom: q.OpenedFrom, OpenedTo: q.OpenedTo, Most: int32(q.Limit), //nolint:gosec // a page
	}
	if !q.Oldest {
		return s.q.WorklistNewest(ctx, db, &p)
	}
	rows, err := s.q.WorklistOldest(ctx, db, (*dbsqlc.WorklistOldestParams)(&p))
	list := make([]*dbsqlc.WorklistNewestRow, len(rows))
	for i, row := range rows {
		list[i] = (*dbsqlc.WorklistNewestRow)(row)
	}
	return list, err
}

// Entry implements worklist.Store.
func (s *WorklistStore) Entry(ctx context.Context, id payment.DiscrepancyID, comments int) (e worklist.Entry, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.WorklistEntry(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		one := []worklist.Entry{worklistFromRow(row)}
		err = s.fill(ctx, c, one, comments)
		e = one[0]
		return err
	})
	return e, err
}

func worklistFromRow(row *dbsqlc.WorklistEntryRow) worklist.Entry {
	return worklist.Entry{Discrepancy: discrepancyFromRow(&row.Discrepancies), AssignedAt: row.Discrepancies.AssignedAt, ReadAt: row.ReadAt}
}

// fill reads the subjects of entries, and the newest comments of each.
func (s *WorklistStore) fill(ctx context.Context, db dbsqlc.DBTX, list []worklist.Entry, comments int) error {
	ids, at := make([]uuid.UUID, len(list)), make(map[uuid.UUID]*worklist.Entry, len(list))
	for i := range list {
		ids[i] = uuid.UUID(list[i].ID)
		at[ids[i]] = &list[i]
	}
	rows, err := s.q.WorklistFacts(ctx, db, ids)
	if err != nil {
		return fmt.Errorf("read what %d discrepancies are about: %w", len(ids), err)
	}
	for _, row := range rows {
		about(at[row.DiscrepancyID], row)
	}
	if comments == 0 || len(ids) == 0 {
		return nil
	}
	written, err := s.q.WorklistComments(ctx, db, &dbsqlc.WorklistCommentsParams{DiscrepancyIds: ids, Most: int32(comments)}) //nolint:gosec // some
	if err != nil {
		return fmt.Errorf("read the comments of %d discrepancies: %w", len(ids), err)
	}
	for _, c := range written {
		e := at[c.DiscrepancyID]
		e.Comments = append(e.Comments, commentFrom(c))
	}
	return nil
}

func about(e *worklist.Entry, row *dbsqlc.WorklistFactsRow) {
	e.EventID, e.User, e.Account = (*payment.EventID)(row.EventID), payment.UserID(row.UserID), row.Account
	e.Circumstances, e.CommentCount = circumstances(row), row.Comments
	e.ProviderPaymentID, e.Capture = row.ProviderPaymentID, row.Capture
	if row.DisputedAs != "" {
		e.Dispute = payment.Dispute{ProviderDisputeID: row.DisputedAs, Reason: row.DisputeReason}
		if row.AnswerBy.Unix() != 0 {
			e.Dispute.DueBy = row.AnswerBy
		}
	}
	if row.ExpectedCurrency != "" {
		e.Expected = &payment.Money{Minor: row.Expected, Currency: payment.Currency(row.ExpectedCurrency)}
	}
	if row.HasAttempt {
		e.Held = &payment.Money{Minor: row.Held, Currency: payment.Currency(row.Currency)}
	}
}

// Count implements worklist.Store.
func (s *WorklistStore) Count(ctx context.Context) (open int64, err error) {
	err = s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		if open, err = s.q.WorklistOpen(ctx, c); err != nil {
			return fmt.Errorf("count what is open: %w", err)
		}
		return nil
	})
	return open, err
}

// Assign implements worklist.Store.
func (s *WorklistStore) Assign(ctx context.Context, id payment.DiscrepancyID, decide func(d payment.Discrepancy) (string, support.AuditEntry, error)) error {
	return s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		row, err := s.q.DiscrepancyLock(ctx, tx, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("lock discrepancy %s: %w", id, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		to, done, err := decide(discrepancyFromRow(row))
		if err != nil {
			return err
		}
		if to != row.Assignee {
			if _, err := s.q.WorklistAssign(ctx, tx.DeferredRows(1, pool.ErrGuard), &dbsqlc.WorklistAssignParams{DiscrepancyID: uuid.UUID(id), Assignee: to}); err != nil {
				return fmt.Errorf("assign discrepancy %s: %w", id, err)
			}
		}
		return s.audit.InsertEntry(ctx, tx.Deferred(), done)
	})
}

// Comment implements worklist.Store.
func (s *WorklistStore) Comment(ctx context.Context, c worklist.Comment, done support.AuditEntry) (first *worklist.Comment, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		first = nil
		row, err := s.q.DiscrepancyRead(ctx, tx, uuid.UUID(c.DiscrepancyID))
		if err != nil {
			return fmt.Errorf("read discrepancy %s: %w", c.DiscrepancyID, pool.Missing(err, payment.ErrDiscrepancyNotFound))
		}
		d := discrepancyFromRow(row)
		done.OrderID, done.AttemptID = d.OrderID, d.AttemptID
		added, err := s.q.WorklistComment(ctx, tx, &dbsqlc.WorklistCommentParams{
			CommentID: c.ID, DiscrepancyID: uuid.UUID(c.DiscrepancyID), Author: c.Author, Text: c.Text, Key: string(c.Key),
		})
		switch {
		case err != nil:
			return fmt.Errorf("comment on discrepancy %s: %w", c.DiscrepancyID, err)
		case added == 0:
			first, err = s.commentOf(ctx, tx, c)
			return err
		}
		return s.audit.InsertEntry(ctx, tx.Deferred(), done)
	})
	return first, err
}

// commentOf reads the comment of the same author with the same key.
func (s *WorklistStore) commentOf(ctx context.Context, db dbsqlc.DBTX, c worklist.Comment) (*worklist.Comment, error) {
	row, err := s.q.WorklistCommentOf(ctx, db, &dbsqlc.WorklistCommentOfParams{
		DiscrepancyID: uuid.UUID(c.DiscrepancyID), Author: c.Author, Key: string(c.Key),
	})
	if err != nil {
		return nil, fmt.Errorf("read the comment on discrepancy %s under the same key: %w", c.DiscrepancyID, err)
	}
	first := commentFrom(row)
	return &first, nil
}

func commentFrom(row *dbsqlc.WorklistComments) worklist.Comment {
	return worklist.Comment{
		ID: row.CommentID, DiscrepancyID: payment.DiscrepancyID(row.DiscrepancyID), Author: row.Author, Text: row.Text, Key: idempotency.Key(row.Key), At: row.At,
	}
}
