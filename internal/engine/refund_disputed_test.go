package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A refund beside an open dispute may give the money back twice: its caller must know of the dispute.
func TestRefundBesideADispute(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	opened := event(webhooks.KindDisputed, id.String())
	opened.Dispute = &webhooks.Dispute{ID: "dp_1", Status: webhooks.DisputeOpen}
	r.tell(t, opened)
	cmd := commands.CreateRefund{AttemptID: id, ProviderPaymentID: r.attempt(t, id).ProviderPaymentID}
	ofAnother := request("refund", "refund-1", "")
	ofAnother.User = "u2"
	_, err := r.Refund(t.Context(), authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: "u2"}, ofAnother, cmd)
	require.ErrorIs(t, err, payment.ErrForbidden, "a stranger does not learn of the dispute")
	_, err = r.Refund(t.Context(), shop, request("refund", "refund-1", ""), cmd)
	require.ErrorIs(t, err, payment.ErrDisputeOpen)
	require.Empty(t, r.refunds(t, id))
	cmd.AcknowledgeDispute = true
	made, err := r.Refund(t.Context(), shop, request("refund", "refund-1", "acknowledged"), cmd)
	require.NoError(t, err, "what was refused has left the key unused")
	require.Equal(t, fsm.RefundSucceeded, made.State)
	require.Equal(t, cmd.ProviderPaymentID, made.ProviderPaymentID)

	second := r.paid(t, "A-2", "tok_success").ID
	opened = event(webhooks.KindDisputed, second.String())
	opened.Dispute = &webhooks.Dispute{ID: "dp_2", Status: webhooks.DisputeOpen}
	r.tell(t, opened)
	won := event(webhooks.KindDisputeClosed, second.String())
	won.Dispute = &webhooks.Dispute{ID: "dp_2", Status: webhooks.DisputeWon}
	r.tell(t, won)
	require.Equal(t, fsm.RefundSucceeded, r.refund(t, second, "refund-2").State, "the dispute is over")
}
