package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestReplay(t *testing.T) {
	t.Parallel()
	t.Run("dry_run", replayDryRun)
	t.Run("failed_by_its_caller", replayFailedByItsCaller)
	t.Run("fetches_the_refund", replayFetchesTheRefund)
}

// bringer is a stored event that was not applied, as its attempt was locked, and that brings the
// name that a parked one waits for.
func (r *env) bringer(t *testing.T, parked webhooks.Event) payment.EventID {
	t.Helper()
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, parked))
	unlock := r.lock(t, id)
	defer unlock()
	e := event(webhooks.KindAuthorized, id.String(), parked.References[0])
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, e))
	stored, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events WHERE provider_event_id = $1", e.ID)[0])
	require.NoError(t, err)
	return stored
}

// A dry replay shows the effect of the replay, with the parked events that it would release. It shows the effect without
// them if one is a poison message.
func replayDryRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parked webhooks.Event
		opens  []payment.DiscrepancyKind
	}{
		"it frees another": {event(webhooks.KindDisputed, "ch_9"), []payment.DiscrepancyKind{payment.Disputed}},
		"which is odd":     {inCurrency(event(webhooks.KindSucceeded, "ch_9"), noise(1<<13)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			id := r.bringer(t, c.parked)
			replay := func(dry bool) intake.Replayed {
				done, err := r.Replay(t.Context(), intake.Replay{ID: id, Dry: dry, With: func(ctx context.Context, tx intake.Tx, _ intake.Replayed) error {
					_, err := tx.EventLock(ctx, id)
					return err
				}})
				require.NoError(t, err)
				require.Equal(t, fsm.Applied, done.Verdict)
				require.Equal(t, c.opens, done.Opened)
				return done
			}
			dry := replay(true)
			require.Equal(t, requested, standingOf(r.attempt(t, dry.Before.ID).Attempt))
			require.Equal(t, replay(false).After.State, dry.After.State)
			require.Len(t, r.discrepancies(t, dry.Before.ID), len(c.opens))
		})
	}
}

// A failure in the caller's part of a replay is not the fault of a parked event.
func replayFailedByItsCaller(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.bringer(t, event(webhooks.KindDisputed, "ch_9"))
	refused := errors.New("refused")
	var runs int
	_, err := r.Replay(t.Context(), intake.Replay{ID: id, With: func(context.Context, intake.Tx, intake.Replayed) error {
		runs++
		return refused
	}})
	require.ErrorIs(t, err, refused)
	require.Equal(t, 1, runs)
	require.EqualValues(t, 2, r.parked(t))
}

// lostRefunds loses the results of refunds.
type lostRefunds struct{ gateway.Provider }

func (lostRefunds) Refund(context.Context, gateway.RefundCall) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, errNoAnswer
}

// The replay of such a notice fetches the refund, too.
func replayFetchesTheRefund(t *testing.T) {
	t.Parallel()
	p := &backs{refund: sevenEuros(fsm.EventSucceeded)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_success")
	r.tell(t, refunded(paid))
	id, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events")[0])
	require.NoError(t, err)
	dry, err := r.Replay(t.Context(), intake.Replay{ID: id, Dry: true})
	require.NoError(t, err)
	require.True(t, dry.Changed())
	require.Empty(t, r.refunds(t, paid.ID))
	done, err := r.Replay(t.Context(), intake.Replay{ID: id})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, done.Verdict)
	require.EqualValues(t, 700, done.After.Refunded)
	require.Equal(t, webhooks.Money{Minor: 1, Currency: "EUR"}, *done.Event.Event.Money, "what the event said stays")
	require.Equal(t, []string{"provider re_1 succeeded 700"}, r.refunds(t, paid.ID))
}
