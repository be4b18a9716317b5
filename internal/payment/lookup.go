package payment

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/groupcommit"
)

// lookPatience is how long a lookup waits for others, and how long a read may take, so
// that a database that is lost is an answer and not a hanging request. A connection
// whose read is cut is closed: it may be dead.
const lookPatience = 1500 * time.Millisecond

// lookup is one read of an attempt by K, which names it.
type lookup[K comparable] struct {
	by      K
	attempt Attempt
	found   bool
}

// look reads an attempt. Calls that come at the same time share a read. It returns
// ErrUnavailable when that does not end.
func look[K comparable](ctx context.Context, g *groupcommit.Group[*lookup[K]], by K) (Attempt, error) {
	l := &lookup[K]{by: by}
	if err := inTime(ctx, g, l); err != nil {
		return Attempt{}, err
	}
	if !l.found {
		return Attempt{}, ErrAttemptNotFound
	}
	return l.attempt, nil
}

// inTime gives up a shared read that does not end.
func inTime[T any](ctx context.Context, g *groupcommit.Group[T], item T) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience)
	defer cancel()
	return grouped(g.Do(ctx, item))
}

// lookAll is the flush of lookups: one read for all.
func lookAll[K comparable](read func(ctx context.Context, by []K) (map[K]Attempt, error)) func(context.Context, []*lookup[K]) error {
	return func(ctx context.Context, lookups []*lookup[K]) error {
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		names := make([]K, len(lookups))
		for i, l := range lookups {
			names[i] = l.by
		}
		there, err := read(ctx, names)
		for _, l := range lookups {
			l.attempt, l.found = there[l.by]
		}
		return err
	}
}
