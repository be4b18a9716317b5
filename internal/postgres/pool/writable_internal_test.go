package pool

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// TestTrialIsShared: probes that come together, and within a second, share a write. A write that hangs holds up no further ones: it ends,
// and a caller that stops waiting leaves it to the others.
func TestTrialIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var of trial
		var writes atomic.Int64
		broken := errors.New("read-only")
		slow := func(context.Context) error {
			writes.Add(1)
			time.Sleep(writeEvery / 2)
			return broken
		}
		for range 10 {
			go func() { assert.ErrorIs(t, of.shared(t.Context(), slow), broken) }()
		}
		time.Sleep(writeEvery - time.Millisecond)
		require.ErrorIs(t, of.shared(t.Context(), slow), broken)
		require.EqualValues(t, 1, writes.Load(), "one a second")
		time.Sleep(time.Millisecond)
		require.NoError(t, of.shared(t.Context(), func(context.Context) error { return nil }), "the next write, the new result")

		time.Sleep(writeEvery)
		hung := func(ctx context.Context) error {
			writes.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, of.shared(impatient, hung), payment.ErrUnavailable)
		began := time.Now()
		require.ErrorIs(t, of.shared(t.Context(), hung), context.DeadlineExceeded)
		require.Less(t, time.Since(began), writeTime)
		require.EqualValues(t, 2, writes.Load(), "a hanging write is shared, too")
	})
}
