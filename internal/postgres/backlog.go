package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Overdue is how long the longest due attempt, refund and parked event have been due. It is less than zero if the next
// one is not due yet. The entry is missing if no object will be due.
func (s *Store) Overdue(ctx context.Context) (map[string]time.Duration, error) {
	overdue := map[string]time.Duration{}
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.Overdue(ctx, c)
		if err != nil {
			return fmt.Errorf("look for what is overdue: %w", err)
		}
		for _, row := range rows {
			overdue[row.What] = time.Duration(row.Seconds * float64(time.Second))
		}
		return nil
	})
	return overdue, err
}

// ParkedEvents is the number of events that wait for their attempt or refund.
func (s *Store) ParkedEvents(ctx context.Context) (int64, error) {
	var n int64
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		var err error
		n, err = s.q.EventsParkedCount(ctx, c)
		return err
	})
	return n, err
}

// ForeignEvents implements intake.Store.
func (s *Store) ForeignEvents(ctx context.Context) (map[string]int64, error) {
	counts := map[string]int64{}
	err := s.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.EventsForeign(ctx, c)
		for _, row := range rows {
			counts[row.Account] = row.Events
		}
		return err
	})
	return counts, err
}

// Waiting is how many discrepancies of a kind are open, and the age of the oldest.
type Waiting struct {
	Count  int64
	Oldest time.Duration
}

// DiscrepanciesWaiting counts the open discrepancies by kind.
func (s *Store) DiscrepanciesWaiting(ctx context.Context) (map[string]Waiting, error) {
	waiting := map[string]Waiting{}
	err := s.pool.Aside(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := s.q.DiscrepanciesWaiting(ctx, c)
		for _, row := range rows {
			waiting[row.Kind] = Waiting{row.Waiting, time.Duration(row.OldestSeconds * float64(time.Second))}
		}
		return err
	})
	return waiting, err
}
