package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// portion takes a source, reads on from its mark and writes how far that was.
func (s *FinderStore) portion(
	ctx context.Context, source finder.Source, read func(ctx context.Context, tx *pipeline.Tx, from finder.Mark) (finder.Mark, int, error),
) (n int, err error) {
	err = s.pool.InTx(ctx, func(ctx context.Context, tx *pipeline.Tx) error {
		n = 0
		marks, err := s.q.SearchCursorTake(ctx, tx, string(source))
		if err != nil {
			return fmt.Errorf("take %s for the search: %w", source, err)
		}
		if len(marks) == 0 {
			return nil
		}
		to, many, err := read(ctx, tx, finder.Mark{At: marks[0].At, ID: marks[0].ID})
		if err != nil {
			return fmt.Errorf("copy %s for the search: %w", source, err)
		}
		if n = many; n == 0 {
			return nil
		}
		if err := s.q.SearchCursorMove(ctx, tx, &dbsqlc.SearchCursorMoveParams{At: to.At, ID: to.ID, Source: string(source)}); err != nil {
			return fmt.Errorf("mark %s for the search: %w", source, err)
		}
		return nil
	})
	return n, err
}

// IndexOrders implements finder.IndexStore.
func (s *FinderStore) IndexOrders(ctx context.Context, lag time.Duration, most int, words func(finder.Order) []string) (int, error) {
	return s.portion(ctx, finder.Orders, func(ctx context.Context, tx *pipeline.Tx, from finder.Mark) (finder.Mark, int, error) {
		rows, err := s.q.SearchOrdersNext(ctx, tx, &dbsqlc.SearchOrdersNextParams{
			AfterAt: from.At, AfterID: from.ID, Lag: lag.Seconds(), Most: int32(most), //nolint:gosec // a batch size
		})
		if err != nil || len(rows) == 0 {
			return from, 0, err
		}
		p := &dbsqlc.SearchOrdersAddParams{}
		for _, r := range rows {
			var metadata map[string]string
			_ = json.Unmarshal(r.Metadata, &metadata) // an order with unreadable metadata is found by its other fields
			o := finder.Order{ID: r.OrderID, User: r.UserID, Description: r.Description, Metadata: metadata, At: r.CreatedAt}
			p.OrderIds, p.CreatedAts = append(p.OrderIds, r.OrderID), append(p.CreatedAts, r.CreatedAt)
			p.Words = append(p.Words, strings.Join(words(o), " "))
		}
		last := rows[len(rows)-1]
		return finder.Mark{At: last.CreatedAt, ID: last.OrderID}, len(rows), s.q.SearchOrdersAdd(ctx, tx, p)
	})
}

// IndexAttempts implements finder.IndexStore.
func (s *FinderStore) IndexAttempts(ctx context.Context, lag time.Duration, most int) (int, error) {
	return s.portion(ctx, finder.Attempts, func(ctx context.Context, tx *pipeline.Tx, from finder.Mark) (finder.Mark, int, error) {
		rows, err := s.q.SearchAttemptsAdd(ctx, tx, &dbsqlc.SearchAttemptsAddParams{
			AfterAt: from.At, AfterID: uuidOf(from.ID), Lag: lag.Seconds(), Most: int32(most), //nolint:gosec // a batch size
		})
		if err != nil || len(rows) == 0 {
			return from, 0, err
		}
		return finder.Mark{At: rows[0].CreatedAt, ID: rows[0].AttemptID.String()}, int(rows[0].Many), nil
	})
}

// IndexEvents implements finder.IndexStore.
func (s *FinderStore) IndexEvents(ctx context.Context, lag time.Duration, most int, card func(finder.Event) string) (int, error) {
	return s.portion(ctx, finder.Events, func(ctx context.Context, tx *pipeline.Tx, from finder.Mark) (finder.Mark, int, error) {
		rows, err := s.q.SearchEventsNext(ctx, tx, &dbsqlc.SearchEventsNextParams{
			AfterID: uuidOf(from.ID), Lag: lag.Seconds(), Most: int32(most), //nolint:gosec // a batch size
		})
		if err != nil || len(rows) == 0 {
			return from, 0, err
		}
		cards := map[uuid.UUID]string{}
		for _, r := range rows {
			e := finder.Event{ID: r.EventID, AttemptID: r.AttemptID, Stored: r.Stored, At: r.ReceivedAt}
			if e.Body, err = s.opened(ctx, r); err != nil {
				return from, 0, err
			}
			if four := card(e); four != "" && r.AttemptID != nil {
				cards[*r.AttemptID] = four
			}
		}
		last := rows[len(rows)-1]
		to := finder.Mark{At: last.ReceivedAt, ID: last.EventID.String()}
		if len(cards) == 0 {
			return to, len(rows), nil
		}
		p := &dbsqlc.SearchCardsAddParams{}
		for id, four := range cards {
			p.AttemptIds, p.LastFours = append(p.AttemptIds, id), append(p.LastFours, four)
		}
		return to, len(rows), s.q.SearchCardsAdd(ctx, tx, p)
	})
}

// opened is the body of an event; nil where it was left out, or its key is gone.
func (s *FinderStore) opened(ctx context.Context, r *dbsqlc.SearchEventsNextRow) ([]byte, error) {
	if r.Sealed == nil {
		return nil, nil
	}
	_, body, err := s.keys.Open(ctx, r.EventID, r.Sealed)
	if errors.Is(err, envelope.ErrClosed) {
		return nil, nil
	}
	return body, err
}

// uuidOf is the id of a mark, zero at the beginning.
func uuidOf(text string) uuid.UUID {
	id, _ := uuid.Parse(text)
	return id
}
