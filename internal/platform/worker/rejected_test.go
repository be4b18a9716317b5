package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

// rejections counts calls; there are three portions to verify.
type rejections struct{ flushed, verified, purged int }

func (r *rejections) Flush(context.Context) error {
	r.flushed++
	return nil
}

func (r *rejections) VerifyAgain(context.Context) (bool, error) {
	r.verified++
	return r.verified < 3, nil
}

func (r *rejections) PurgeRejected(_ context.Context, keep time.Duration, limit int) (int, error) {
	if r.purged++; keep != 24*time.Hour || r.purged > 2 {
		return 0, nil
	}
	return limit, nil
}

func TestRejectedLoops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r rejections
		s := worker.New(zerolog.Nop(), worker.KeepRejected(&r), worker.VerifyRejected(&r), worker.PurgeRejected(&r, 24*time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second/2)
		defer cancel()
		require.NoError(t, s.Run(ctx))
		require.Equal(t, rejections{flushed: 60, verified: 3 + 5, purged: 3}, r)
	})
}
