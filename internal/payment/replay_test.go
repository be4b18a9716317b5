package payment_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// bringer is a stored event that was not applied, as its attempt was locked, and that
// brings the name by which a parked one knows the attempt.
func (r *rig) bringer(t *testing.T, parked webhooks.Event) payment.EventID {
	t.Helper()
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.Unmatched}, r.tell(t, parked))
	unlock := r.lock(t, id)
	defer unlock()
	e := event(webhooks.KindAuthorized, id.String(), parked.References[0])
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, e))
	stored, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events WHERE provider_event_id = $1", e.ID)[0])
	require.NoError(t, err)
	return stored
}

// A dry replay says what the replay would do, with what it would set free; if that is
// odd, without.
func TestADryReplaySaysWhatTheReplayWouldDo(t *testing.T) {
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
			r := newRig(t, setup{silent: true})
			id := r.bringer(t, c.parked)
			replay := func(dry bool) payment.Replayed {
				done, err := r.Replay(t.Context(), payment.Replay{ID: id, Dry: dry, With: func(ctx context.Context, tx payment.Tx, _ payment.Replayed) error {
					_, err := tx.EventLock(ctx, id)
					return err
				}})
				require.NoError(t, err)
				require.Equal(t, fsm.Applied, done.Verdict)
				require.Equal(t, c.opens, done.Opened)
				return done
			}
			dry := replay(true)
			require.Equal(t, requested, standingOf(r.attempt(t, dry.Before.ID)))
			require.Equal(t, replay(false).After.State, dry.After.State)
			require.Len(t, r.discrepancies(t, dry.Before.ID), len(c.opens))
		})
	}
}

// What the caller's part of a replay fails of, no parked event is to blame for.
func TestAReplayThatItsCallerRefusesIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.bringer(t, event(webhooks.KindDisputed, "ch_9"))
	refused := errors.New("refused")
	var runs int
	_, err := r.Replay(t.Context(), payment.Replay{ID: id, With: func(context.Context, payment.Tx, payment.Replayed) error {
		runs++
		return refused
	}})
	require.ErrorIs(t, err, refused)
	require.Equal(t, 1, runs)
	require.EqualValues(t, 2, r.parked(t))
}
