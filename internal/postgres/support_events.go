package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// EventShown implements support.Store.
func (s *SupportStore) EventShown(ctx context.Context, id payment.EventID) (support.Event, error) {
	var e support.Event
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.EventRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read event %s: %w", id, pool.Missing(err, payment.ErrEventNotFound))
		}
		e, err = s.shownFromRow(ctx, row)
		return err
	})
	return e, err
}

// shownFromRow is an event with the provider's bytes, if they came with the row. Without their key they can't be read.
func (s *SupportStore) shownFromRow(ctx context.Context, row *dbsqlc.EventReadRow) (support.Event, error) {
	e := support.Event{
		ID: payment.EventID(row.EventID), Account: row.Account, ProviderEventID: row.ProviderEventID, Type: row.EventType, Kind: row.Kind,
		Verdict: fsm.Verdict(row.Verdict), OrderID: payment.OrderID(orEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID),
		ReceivedAt: row.ReceivedAt, OccurredAt: row.OccurredAt, Kept: row.Kept, Taken: row.Taken,
	}
	// An unreadable event is shown by its columns; it must not hide the rest of the history.
	news, _ := webhookOf(row.ProviderEventID, row.News)
	e.Unsigned = news.NeedsFetch && news.SecretIndex < 0
	if news.Money != nil {
		e.Money = &payment.Money{Minor: news.Money.Minor, Currency: payment.Currency(news.Money.Currency)}
	}
	if row.Sealed == nil {
		return e, nil
	}
	headers, body, err := s.keys.Open(ctx, row.EventID, row.Sealed)
	if errors.Is(err, envelope.ErrClosed) {
		return e, nil
	}
	e.ContentType, e.Body = headers["content-type"], body
	return e, err
}
