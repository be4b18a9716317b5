package supportstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/mapping"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/support"
)

// EventShown implements support.Store.
func (s *Store) EventShown(ctx context.Context, id payment.EventID) (support.Event, error) {
	var e support.Event
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		row, err := s.q.EventRead(ctx, c, uuid.UUID(id))
		if err != nil {
			return fmt.Errorf("read event %s: %w", id, pool.Missing(err, payment.ErrEventNotFound))
		}
		e = shownFromRow(row)
		return nil
	})
	return e, err
}

func shownFromRow(row *dbsqlc.EventReadRow) support.Event {
	e := support.Event{
		ID: payment.EventID(row.EventID), Account: row.Account, ProviderEventID: row.ProviderEventID, Type: row.EventType, Kind: row.Kind,
		Verdict: fsm.Verdict(row.Verdict), OrderID: payment.OrderID(mapping.OrEmpty(row.OrderID)), AttemptID: (*payment.AttemptID)(row.AttemptID),
		ReceivedAt: row.ReceivedAt, OccurredAt: row.OccurredAt, Kept: row.Kept, Body: row.Body,
	}
	// What can't be read is shown by its columns; it must not hide all else of the case.
	news, _ := mapping.Webhook(row.ProviderEventID, row.News)
	e.Unsigned = news.NeedsFetch && news.SecretIndex < 0
	if news.Money != nil {
		e.Money = &payment.Money{Minor: news.Money.Minor, Currency: payment.Currency(news.Money.Currency)}
	}
	var headers map[string]string
	_ = json.Unmarshal(row.Headers, &headers)
	e.ContentType, e.Taken = headers["content-type"], headers[inbound.TakenHeader]
	return e
}
