package payment

import (
	"context"
	"time"
)

// lookPatience is how long a lookup waits for others, and how long a read may take, so
// that a database that is lost is an answer and not a hanging request. A connection
// whose read is cut is closed: it may be dead.
const lookPatience = 1500 * time.Millisecond

// lookup is one read of an attempt by K, which names it.
type lookup[K comparable] struct {
	by      K
	attempt Attempt
	err     error
}

// look reads an attempt. Calls that come at the same time share a read. It returns
// ErrUnavailable when that does not end.
func look[K comparable](ctx context.Context, g *gatherer[*lookup[K]], by K) (Attempt, error) {
	l := &lookup[K]{by: by, err: ErrUnavailable}
	if !g.do(ctx, l) {
		return Attempt{}, ErrUnavailable
	}
	return l.attempt, l.err
}

// lookAll is what a gatherer of lookups does with them: one read for all.
func lookAll[K comparable](read func(ctx context.Context, by []K) (map[K]Attempt, error)) func(context.Context, []*lookup[K]) {
	return func(ctx context.Context, lookups []*lookup[K]) {
		ctx, cancel := context.WithTimeout(ctx, lookPatience)
		defer cancel()
		names := make([]K, len(lookups))
		for i, l := range lookups {
			names[i] = l.by
		}
		there, err := read(ctx, names)
		for _, l := range lookups {
			var found bool
			l.err = err
			if l.attempt, found = there[l.by]; err == nil && !found {
				l.err = ErrAttemptNotFound
			}
		}
	}
}
