package pool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestTurns: the second read of one person begins after the first. Too many reads at a time are refused at once, and each wait has an end.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, ended := turns(), make(chan error, 25)
		ann := authz.WithReader(t.Context(), authz.Reader{Role: authz.ReadsForStaff, Name: "ann"})
		read := func(ctx context.Context, over <-chan struct{}) {
			leave, err := a.enter(ctx)
			if err == nil {
				<-over
				leave()
			}
			ended <- err
		}
		end := make(chan struct{})
		go read(ann, end)
		synctest.Wait()
		for range 25 {
			go read(ann, end)
		}
		synctest.Wait()
		for range 5 {
			require.ErrorIs(t, <-ended, payment.ErrOverloaded)
		}
		require.Empty(t, ended, "the others still wait")
		close(end)
		for range 21 {
			require.NoError(t, <-ended)
		}

		stays := make(chan struct{})
		go read(ann, stays)
		synctest.Wait()
		began := time.Now()
		_, err := a.enter(ann)
		require.ErrorIs(t, err, payment.ErrOverloaded)
		require.Equal(t, acquireTimeout, time.Since(began))
		close(stays)
		require.NoError(t, <-ended)
	})
}
