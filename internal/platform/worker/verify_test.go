package worker_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

// archive holds this many attempts. The odd ones have lost their log.
type archive struct {
	attempts []payment.Attempt
	busy     bool
}

func (a *archive) Evidence(_ context.Context, after payment.AttemptID, limit int, alone bool) ([]verify.Evidence, error) {
	if a.busy || !alone {
		return nil, payment.ErrBusy
	}
	var all []verify.Evidence
	for i, attempt := range a.attempts {
		if attempt.ID.String() > after.String() && len(all) < limit {
			e := verify.Evidence{Attempt: attempt, Order: attempt.Money}
			if i%2 == 0 {
				e.Log = []payment.Transition{attempt.InitialTransition()}
			}
			all = append(all, e)
		}
	}
	return all, nil
}

func TestVerifyGoesRoundAndRound(t *testing.T) {
	t.Parallel()
	a := &archive{}
	for range 450 {
		id := payment.AttemptID(uuid.Must(uuid.NewV7()))
		now := time.Now()
		a.attempts = append(a.attempts, payment.Attempt{
			ID: id, OrderID: "A-1", State: fsm.Requested, Version: 1,
			Operations: []payment.Operation{{AttemptID: id, Kind: payment.OperationCharge, State: fsm.OperationSent, Fence: 1, Sends: 1, NextAt: &now}},
		})
	}
	type portion struct{ attempts, differences int }
	var told []portion
	var lines bytes.Buffer
	loop := worker.Verify(a, func(attempts, differences int) { told = append(told, portion{attempts, differences}) }, zerolog.New(&lines))
	turn := func() {
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.False(t, more, "slowly")
	}
	for range 3 {
		turn()
	}
	a.busy = true
	turn()
	a.busy = false
	require.Equal(t, 225, bytes.Count(lines.Bytes(), []byte(`"check":"log_is_there"`)))
	for i := range a.attempts {
		a.attempts[i].Version = 0
	}
	a.attempts = a.attempts[:1]
	turn()
	turn()
	require.Equal(t, []portion{{200, 100}, {200, 200}, {50, 225}, {1, 1}, {1, 1}}, told)
}
