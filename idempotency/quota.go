package idempotency

import (
	"context"
	"fmt"
	"time"
)

// QuotaError is returned when a user has used too many new keys.
type QuotaError struct {
	// RetryAfter is when the next new key will be taken.
	RetryAfter time.Duration
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("too many new idempotency keys; try again in %s", e.RetryAfter)
}

// Quota bounds how many new keys a user may use in a window of time, over all
// replicas. Replays never count. The zero value allows everything.
type Quota struct {
	NewKeys int
	Per     time.Duration
}

// QuotaStore counts the new keys of users.
type QuotaStore interface {
	// QuotasTake counts keys of users in the present window. It locks nothing for
	// longer than the count takes, so one user's flood doesn't hold up the others.
	QuotasTake(ctx context.Context, requests []Request, per time.Duration) ([]Used, error)
}

// Used is a request's place in its user's window.
type Used struct {
	// Nth counts the window's keys from 1; 0 for a key that exists already.
	Nth int
	// Left is how long the window still lasts.
	Left time.Duration
}

// Take counts a new key, or returns a QuotaError.
func (q Quota) Take(ctx context.Context, store QuotaStore, r Request) error {
	refused, err := q.TakeAll(ctx, store, []Request{r})
	if err != nil {
		return err
	}
	return refused[0]
}

// TakeAll counts the new keys of requests and returns a QuotaError for each that
// is one too many, nil for the others, by position.
func (q Quota) TakeAll(ctx context.Context, store QuotaStore, requests []Request) ([]error, error) {
	refused := make([]error, len(requests))
	if q.NewKeys <= 0 {
		return refused, nil
	}
	used, err := store.QuotasTake(ctx, requests, q.Per)
	if err != nil {
		return nil, err
	}
	for i, u := range used {
		if u.Nth > q.NewKeys {
			refused[i] = &QuotaError{RetryAfter: u.Left}
		}
	}
	return refused, nil
}
