package payment_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/inbound"
	"github.com/paylatch/paylatch/internal/intake"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// spoil makes what was stored of an event something that this version can't read.
func (r *env) spoil(t *testing.T, e webhooks.Event, news string) {
	t.Helper()
	r.exec(t, "UPDATE provider_events SET news = $2 WHERE provider_event_id = $1", e.ID, news)
}

// A row of the inbox that can't be read is quarantined. All others are tried, and what brings a
// name or an end for which it waits is stored.
func TestUnreadableRow(t *testing.T) {
	t.Parallel()
	for name, news := range map[string]string{
		"a text for a number":      `{"id": "x", "kind": "succeeded", "secret_index": "first"}`,
		"a newer form":             `{"version": 2, "event": {"kind": "succeeded"}}`,
		"a list":                   `[1, 2]`,
		"nothing":                  `null`,
		"another form of the kind": `{"kind": {"name": "succeeded"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("beside others that are due", func(t *testing.T) {
				t.Parallel()
				othersAreRetried(t, news)
			})
			t.Run("under the answer to a charge", func(t *testing.T) {
				t.Parallel()
				answerIsStored(t, news)
			})
			t.Run("under the end of a refund", func(t *testing.T) {
				t.Parallel()
				refundIsStored(t, news)
			})
		})
	}
}

func othersAreRetried(t *testing.T, news string) {
	t.Helper()
	r := newEnv(t, setup{silent: true})
	odd, fine := event(webhooks.KindSucceeded, "ch_odd"), event(webhooks.KindSucceeded, "ch_late")
	r.tell(t, odd, fine)
	r.spoil(t, odd, news)
	id := r.paid(t, "A-1", "tok_never").ID
	for _, name := range []string{"ch_odd", "ch_late"} {
		r.exec(t, `INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('sandbox', $2, 'A-1', $1)`, id.String(), name)
	}
	r.exec(t, "UPDATE provider_events SET next_try_at = now()")
	_, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt), "the other one is applied")
	r.setApart(t, odd)
	_, err = r.Replay(t.Context(), intake.Replay{ID: r.eventID(t, odd)})
	require.ErrorIs(t, err, payment.ErrEventUnreadable)

	n, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, n, "it is not tried again")
	sane, _, err := (&inbound.Received{Event: odd}).JSON()
	require.NoError(t, err)
	r.spoil(t, odd, string(sane)) // as a version does that reads the form
	again, err := r.Replay(t.Context(), intake.Replay{ID: r.eventID(t, odd)})
	require.NoError(t, err)
	require.Equal(t, fsm.Repeat, again.Verdict)
}

func answerIsStored(t *testing.T, news string) {
	t.Helper()
	var r *env
	odd, fine := event(webhooks.KindDisputed, ""), event(webhooks.KindSucceeded, "")
	p := &spy{charge: func(_ context.Context, _ gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		odd.References, fine.References = []string{out.ProviderPaymentID}, []string{out.ProviderPaymentID}
		r.tell(t, odd, fine)
		r.spoil(t, odd, news)
		return out, err
	}}
	r = newEnv(t, setup{silent: true, provider: p.on})
	paid := r.paid(t, "A-1", "tok_never")
	require.NotEmpty(t, paid.ProviderPaymentID, "the answer is stored")
	require.Equal(t, succeeded, standingOf(paid.Attempt), "and what waited for it is applied")
	r.setApart(t, odd)
	require.Empty(t, r.verify(t))
}

func refundIsStored(t *testing.T, news string) {
	t.Helper()
	p := &refunding{refund: backLost}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 700)
	odd, theirs := cents(webhooks.KindRefundPending, id, "re_odd", 100), cents(webhooks.KindRefundPending, id, "re_theirs", 300)
	require.Equal(t, []fsm.Verdict{inbound.Deferred, inbound.Deferred}, r.tell(t, odd, theirs))
	r.spoil(t, odd, news)
	named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 700)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, named))
	require.Equal(t, []string{"u1 re_ours succeeded 700", "provider re_theirs pending 300"}, r.refunds(t, id), "ours, and the one that had waited")
	r.setApart(t, odd)
	require.Empty(t, r.verify(t))
}

func (r *env) eventID(t *testing.T, e webhooks.Event) payment.EventID {
	t.Helper()
	id, err := payment.ParseEventID(rows[string](t, r, "SELECT event_id::text FROM provider_events WHERE provider_event_id = $1", e.ID)[0])
	require.NoError(t, err)
	return id
}

// setApart asserts that an event is quarantined with a discrepancy, and that nothing else waits.
func (r *env) setApart(t *testing.T, e webhooks.Event) {
	t.Helper()
	require.Zero(t, r.parked(t))
	require.Equal(t, []string{"needs_review"}, rows[string](t, r, "SELECT kind FROM discrepancies WHERE provider_event_id = $1 AND resolved_at IS NULL", e.ID))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at IS NULL AND body IS NOT NULL FROM provider_events WHERE provider_event_id = $1", e.ID))
}
