package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A refund stores its payment once. Every later call is about this payment, whoever made the refund.
func TestARefundKeepsItsPayment(t *testing.T) {
	t.Parallel()
	t.Run("requested", keepsRequested)
	t.Run("by policy", keepsPolicy)
	t.Run("reported", keepsReported)
	t.Run("reported while another one is unknown", keepsUnclaimed)
}

// apart is a provider that lists refunds by payment. It has the refunds of pi_b alone: under another payment they are canceled.
type apart struct {
	*till

	lost bool
}

func newApart(t *testing.T, change func(*options)) (*env, *apart) {
	t.Helper()
	p := &apart{till: newTill(map[string]gateway.Outcome{"pi_a": ofEuros(fsm.EventSucceeded, price), "pi_b": ofEuros(fsm.EventSucceeded, price)})}
	return newEnv(t, setup{silent: true, change: change, provider: func(of gateway.Provider) gateway.Provider {
		p.on(of)
		return p
	}}), p
}

func (p *apart) Refund(ctx context.Context, r gateway.RefundCall) (gateway.RefundOutcome, error) {
	if p.lost {
		return gateway.RefundOutcome{}, errNoAnswer
	}
	return p.till.Refund(ctx, r)
}

func (p *apart) LookupRefund(ctx context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	out, err := p.till.LookupRefund(ctx, r)
	if out.ProviderRefundID = r.ProviderRefundID; r.ProviderPaymentID != "pi_b" {
		out.Event, out.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	return out, err
}

func (r *env) refundsOf(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	return rows[string](t, r, "SELECT origin || ' ' || status || ' ' || provider_payment_id FROM refunds WHERE attempt_id = $1 ORDER BY created_at", id.String())
}

// The second refund names no payment, because one payment alone holds money then.
func keepsRequested(t *testing.T) {
	t.Parallel()
	r, p := newApart(t, nil)
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindSucceeded, id, "pi_b"))
	for key, name := range []string{"pi_a", ""} {
		_, err := r.Refund(t.Context(), shop, request("refund", "refund-key-"+string(rune('a'+key)), ""), commands.CreateRefund{AttemptID: id, ProviderPaymentID: name})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"refund pi_a", "refund pi_b"}, p.asked())
	require.Equal(t, []string{"request succeeded pi_a", "request succeeded pi_b"}, r.refundsOf(t, id))
	require.Empty(t, r.verify(t))
}

func keepsPolicy(t *testing.T) {
	t.Parallel()
	r, _ := newApart(t, autoRefunds)
	id := r.register(t, commands.External{}).ID
	r.lateNow(t, id)
	r.recheck(t, id)
	require.True(t, r.attempt(t, id).Failed())
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"))
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_b"))
	r.everyOperation(t, id)
	require.Equal(t, []string{"policy succeeded pi_a"}, r.refundsOf(t, id))
	a := r.attempt(t, id)
	require.Zero(t, a.Payment("pi_a").Held())
	require.EqualValues(t, price, a.Payment("pi_b").Held())
}

// The merchant refunds the second payment in the provider's dashboard, and the refund is under way.
func keepsReported(t *testing.T) {
	t.Parallel()
	r, p := newApart(t, nil)
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindSucceeded, id, "pi_b"))
	back := of(webhooks.KindRefundPending, id, "pi_b", price)
	back.RefundID = "re_dashboard"
	r.tell(t, back)
	r.everyOperation(t, id)
	require.Equal(t, []string{"lookup refund pi_b"}, p.asked())
	require.Equal(t, []string{"provider pending pi_b"}, r.refundsOf(t, id))
	require.Equal(t, []string{"needs_review second_payment pi_b"}, r.about(t, id))

	back.ID, back.Kind = "evt_later", webhooks.KindRefundSucceeded
	r.tell(t, back)
	a := r.attempt(t, id)
	require.Zero(t, a.Payment("pi_b").Held())
	require.EqualValues(t, price, a.Payment("pi_a").Held())
	require.Empty(t, r.verify(t))
}

// The dashboard's refund of the second payment is recorded as money first: it might be the refund of ours without a name.
func keepsUnclaimed(t *testing.T) {
	t.Parallel()
	r, p := newApart(t, nil)
	id := r.register(t, commands.External{}).ID
	r.tell(t, under(webhooks.KindSucceeded, id, "pi_a"), under(webhooks.KindSucceeded, id, "pi_b"))
	p.lost = true
	ours, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: id, ProviderPaymentID: "pi_a"})
	require.NoError(t, err)
	back := of(webhooks.KindRefundSucceeded, id, "pi_b", price)
	back.RefundID = "re_dashboard"
	r.tell(t, back)
	require.Equal(t, []string{"request pending pi_a"}, r.refundsOf(t, id))
	own := of(webhooks.KindRefundSucceeded, id, "pi_a", price)
	own.RefundID, own.RefundReference = "re_ours", ours.ID.String()
	r.tell(t, own)
	require.Equal(t, []string{"request succeeded pi_a", "provider succeeded pi_b"}, r.refundsOf(t, id))
	require.Zero(t, r.attempt(t, id).Held())
	require.Empty(t, r.verify(t))
}
