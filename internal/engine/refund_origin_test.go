package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// keyless is a provider without idempotency keys: no call to it is ever sent twice.
type keyless struct{ gateway.Provider }

func (p keyless) Capabilities() payment.Capabilities {
	c := p.Provider.Capabilities()
	c.KeyLife = 0
	return c
}

// refundBy makes a refund in the name of a user.
func (r *env) refundBy(t *testing.T, user string, id payment.AttemptID, key string, minor int64) payment.Refund {
	t.Helper()
	req := request("refund", key, key)
	req.User = user
	admin := authz.Actor{Subject: user, Roles: []payment.Role{payment.RoleAdmin}}
	made, err := r.Refund(t.Context(), admin, req, commands.CreateRefund{AttemptID: id, Amount: &minor})
	require.NoError(t, err)
	return made.Refund
}

// The origin of a refund is a stored fact and is not derived from a name. The permitted actions depend on the origin,
// and others choose the names.
func TestRefundOrigin(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"u1", "paylatch", "provider", "cli:root", "policy:x"} {
		t.Run("sent once/"+user, func(t *testing.T) {
			t.Parallel()
			var sent int
			p := &refunding{refund: func(send func() (gateway.RefundOutcome, error)) (gateway.RefundOutcome, error) {
				sent++
				_, _ = send()
				return gateway.RefundOutcome{}, errNoAnswer
			}}
			r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return keyless{p.on(of)} }})
			id := r.paid(t, "A-1", "tok_success").ID
			made := r.refundBy(t, user, id, "refund-1", 700)
			require.Equal(t, fsm.RefundPending, made.State)
			for range 3 {
				r.exec(t, "UPDATE operations SET lease_until = NULL, next_at = now() WHERE kind = 'refund' AND open")
				_, err := r.RecheckRefund(t.Context(), made.ID, byTest)
				require.NoError(t, err)
			}
			require.Equal(t, 1, sent, "its answer was lost: only a look may tell")
			require.Len(t, r.ledger(t), 2, "one charge, one refund")
		})
		t.Run("told from the dashboard's/"+user, func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: backLost}
			r := newEnv(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			ours := r.refundBy(t, user, id, "refund-1", 500)
			r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_theirs", 500))
			named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 500)
			named.RefundReference = ours.ID.String()
			r.tell(t, named)
			require.EqualValues(t, 1000, r.attempt(t, id).Refunded, "both were paid back")
			require.Empty(t, r.verify(t))
		})
	}
	t.Run("a key of a customer's is not the policy's", func(t *testing.T) {
		t.Parallel()
		p := &refunding{refund: turnedAway}
		r := newEnv(t, setup{silent: true, provider: p.on, change: autoRefunds})
		id := r.paid(t, "A-1", "tok_never").ID
		r.say(t, id, webhooks.KindFailed)
		part := event(webhooks.KindSucceeded, id.String())
		part.Money = &webhooks.Money{Minor: 300, Currency: "EUR"}
		r.tell(t, part)
		made := r.refundBy(t, "u1", id, "auto-late-success", 300)
		require.Equal(t, fsm.RefundFailed, made.State)
		require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
		due, err := r.DueRefunds(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1, "late money is paid back by the account's policy")
	})
}
