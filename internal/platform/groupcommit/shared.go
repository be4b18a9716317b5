package groupcommit

import (
	"context"
	"time"
)

// stall is how long items wait for the flush before theirs. A slower flush may never end: its connection may be dead,
// and theirs need not be.
const stall = 250 * time.Millisecond

// Shared returns a group of concurrent calls that share a transaction or a read, up to 64 of them. A call records its
// own result. Flushed is as in Options.
func Shared[T any](flush func(ctx context.Context, calls []T) error, flushed func(items int)) *Group[T] {
	return New(Options[T]{
		Flush: func(ctx context.Context, b *Batch[T]) error { return flush(ctx, b.Items) }, Flushed: flushed,
		Batch: Limits{Items: 64}, Stall: stall,
	})
}
