package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
)

// receiver is a provider that receives cancels and has no lookups.
type receiver struct {
	gateway.Provider

	can  payment.Capabilities
	sent []gateway.Cancel
}

func (r *receiver) Capabilities() payment.Capabilities { return r.can }

func (r *receiver) Cancel(_ context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	r.sent = append(r.sent, c)
	return gateway.Outcome{Event: fsm.EventProcessing}, nil
}

// TestCancelByReference: a payment that its provider has not named is cancelled by our reference, where
// the provider takes that and the charge was ours to send, and is else left until it is named.
func TestCancelByReference(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		can     payment.Capabilities
		begun   payment.Origin
		state   fsm.State
		outcome gateway.CallOutcome
		sent    int
	}{
		"by_reference":    {payment.Capabilities{Cancels: payment.CancelsByReference}, payment.OriginPaylatch, fsm.AwaitingCustomer, gateway.CallAccepted, 1},
		"by_its_id_only":  {payment.Capabilities{Cancels: payment.CancelsByID}, payment.OriginPaylatch, fsm.AwaitingCustomer, gateway.CallAsked, 0},
		"failed_already":  {payment.Capabilities{Cancels: payment.CancelsByReference}, payment.OriginPaylatch, fsm.Failed, gateway.CallAsked, 0},
		"begun_elsewhere": {payment.Capabilities{Cancels: payment.CancelsByReference}, payment.OriginExternal, fsm.AwaitingCustomer, gateway.CallAsked, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &receiver{can: tt.can}
			r := runner.New(runner.Options{
				ProviderTimeout: time.Minute, Now: time.Now,
				Rules: changeset.Rules{
					Schedule: payment.Schedule{Lease: time.Minute},
					Accounts: current.Of(map[string]gateway.Account{"": {Provider: p}}),
				},
			})
			a := payment.Attempt{ID: payment.AttemptID(uuid.New()), Origin: tt.begun, State: tt.state, ReadAt: time.Now()}
			o := a.NewOperation(payment.OperationCancel, payment.OperationOriginPolicy, a.ReadAt)
			res := r.Send(t.Context(), runner.TaskOf(a, o, payment.Send, ""), r.Permit(), payment.Cause{})
			require.Equal(t, tt.outcome, res.Outcome)
			require.Len(t, p.sent, tt.sent)
			for _, c := range p.sent {
				require.Equal(t, a.ID, c.Attempt)
				require.Empty(t, c.ProviderPaymentID)
				require.Equal(t, o.Key(), c.IdempotencyKey)
			}
		})
	}
}
