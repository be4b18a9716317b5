package payment_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// gated lets the test say when the provider answers.
type gated struct {
	payment.Provider

	asked, answer chan struct{}
}

func (g gated) Charge(ctx context.Context, c payment.Charge) (payment.Outcome, error) {
	close(g.asked)
	<-g.answer
	return g.Provider.Charge(ctx, c)
}

// A thousand duplicates of one slow pay wait without holding connections (ten
// that block on a locked key stall a whole service), and all get its attempt.
func TestAThousandDuplicatesHoldNoConnections(t *testing.T) {
	t.Parallel()
	const crowd = 1000
	slow := gated{asked: make(chan struct{}), answer: make(chan struct{})}
	r := newRig(t, setup{silent: true, provider: func(p payment.Provider) payment.Provider {
		slow.Provider = p
		return slow
	}, change: func(o *payment.Options) { o.Wait, o.ProviderTimeout, o.Lease = patience, patience, 2*patience }})
	r.order(t, "A-1")

	ids := make(chan payment.AttemptID, crowd)
	var all, begun sync.WaitGroup
	created := make(chan struct{}, crowd)
	pay := func() {
		begun.Done()
		p, err := try(t.Context(), r.Service, "A-1", "crowd-key", "tok_success")
		if err != nil {
			t.Errorf("a duplicate got %v", err)
		}
		if p.Result == idempotency.Created {
			created <- struct{}{}
		}
		ids <- p.ID
	}
	begun.Add(crowd)
	all.Go(pay)
	<-slow.asked
	for range crowd - 1 {
		all.Go(pay)
	}
	begun.Wait()
	for range 50 {
		var busy int
		require.NoError(t, r.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'paylatch' AND state <> 'idle'`).Scan(&busy))
		require.LessOrEqual(t, busy, 5)
	}
	close(slow.answer)
	all.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		require.Equal(t, first, id)
	}
	require.Len(t, created, 1)
}
