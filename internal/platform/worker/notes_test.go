package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/worker"
)

type notes struct{ written atomic.Int64 }

func (n *notes) Flush(context.Context) error { n.written.Add(1); return nil }

func TestNotesAreWrittenTwiceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n notes
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- worker.New(zerolog.Nop(), worker.WriteNotes(&n)).Run(ctx) }()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 4, n.written.Load())
		cancel()
		require.NoError(t, <-done)
	})
}
