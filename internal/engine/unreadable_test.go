package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// reader reads a body as its set events.
type reader struct{ events []webhooks.Event }

func (r *reader) Read(webhooks.Delivery) []webhooks.Event { return r.events }

func odd(id string) webhooks.Event {
	return webhooks.Event{ID: id, IDSource: webhooks.Native, Type: "charge.paid", Kind: webhooks.KindUnreadable, Unreadable: "unknown currency"}
}

// unreadableIn is the id of the stored event with a provider's id.
func unreadableIn(t *testing.T, r *env, id string) payment.EventID {
	t.Helper()
	stored, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events WHERE provider_event_id = $1", id)[0])
	require.NoError(t, err)
	return stored
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	var by reader
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.Readers = map[string]webhooks.Reader{}
		for name := range o.Accounts {
			o.Readers[name] = &by
		}
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.VerdictUnreadable, payment.VerdictUnreadable}, r.tell(t, odd("evt_1"), odd("evt_2")))
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, odd("evt_1")))
	kinds := func() []string { return rows[string](t, r, "SELECT kind FROM discrepancies") }
	require.Equal(t, []string{"unreadable_event"}, kinds(), "one an account, type and hour")

	by.events = []webhooks.Event{odd("evt_1")}
	done, err := r.Replay(t.Context(), intake.Replay{ID: unreadableIn(t, r, "evt_1")})
	require.NoError(t, err)
	require.Equal(t, payment.VerdictUnreadable, done.Verdict)

	paid := event(webhooks.KindSucceeded, id.String())
	paid.ID = "evt_1"
	by.events = []webhooks.Event{odd("evt_0"), paid}
	done, err = r.Replay(t.Context(), intake.Replay{ID: unreadableIn(t, r, "evt_1"), Dry: true})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, done.Verdict)
	require.Equal(t, []string{"unreadable"}, rows[string](t, r, "SELECT DISTINCT verdict FROM provider_events"))
	done, err = r.Replay(t.Context(), intake.Replay{ID: unreadableIn(t, r, "evt_1")})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, done.Verdict)
	require.True(t, done.After.Succeeded())
	require.Equal(t, []string{"applied succeeded " + id.String()},
		rows[string](t, r, "SELECT verdict || ' ' || kind || ' ' || attempt_id FROM provider_events WHERE provider_event_id = 'evt_1' AND refs = ARRAY[$1]", id.String()))
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, paid))
	require.Equal(t, []string{"unreadable_event"}, kinds(), "what it means now is what it is compared with")
}

// TestReadAgain: a version reads each unreadable event once.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	var by reader
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.Readers = map[string]webhooks.Reader{}
		for name := range o.Accounts {
			o.Readers[name] = &by
		}
	}})
	id := r.paid(t, "A-1", "tok_never").ID
	r.tell(t, odd("evt_1"), odd("evt_2"))
	by.events = []webhooks.Event{odd("evt_1")}
	for _, want := range []int{2, 0} {
		n, err := r.ReadAgain(t.Context(), "v1", 10)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	paid := event(webhooks.KindSucceeded, id.String())
	paid.ID = "evt_2"
	by.events = []webhooks.Event{paid}
	n, err := r.ReadAgain(t.Context(), "v2", 10)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"evt_1 unreadable", "evt_2 applied"},
		rows[string](t, r, "SELECT provider_event_id || ' ' || verdict FROM provider_events ORDER BY provider_event_id"))
}
