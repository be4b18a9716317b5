package groupcommit

import (
	"context"
	"time"
)

// ReadTimeout is how long a read waits for others, and how long it may take, so that a
// database that is lost is an answer and not a hanging request.
const ReadTimeout = 1500 * time.Millisecond

// Reads lets reads of single rows that come at the same time share one statement. It is
// safe for concurrent use.
type Reads[K comparable, V any] struct{ group *Group[*read[K, V]] }

// read is one read of the row that by names.
type read[K comparable, V any] struct {
	by    K
	value V
	found bool
}

// NewReads returns shared reads by a function that reads many rows. The function leaves out missing rows.
func NewReads[K comparable, V any](all func(ctx context.Context, by []K) (map[K]V, error)) *Reads[K, V] {
	return &Reads[K, V]{Shared(func(ctx context.Context, calls []*read[K, V]) error {
		ctx, cancel := context.WithTimeout(ctx, ReadTimeout)
		defer cancel()
		by := make([]K, len(calls))
		for i, r := range calls {
			by[i] = r.by
		}
		there, err := all(ctx, by)
		for _, r := range calls {
			r.value, r.found = there[r.by]
		}
		return err
	}, nil)}
}

// Get reads one row, false if it is not there. It returns context.DeadlineExceeded after
// ReadTimeout.
func (r *Reads[K, V]) Get(ctx context.Context, by K) (value V, found bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ReadTimeout)
	defer cancel()
	call := &read[K, V]{by: by}
	if err := r.group.Do(ctx, call); err != nil {
		return value, false, err
	}
	return call.value, call.found, nil
}
