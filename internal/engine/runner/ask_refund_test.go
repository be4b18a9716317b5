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

// ledger is a provider at which refunds are looked up.
type ledger struct {
	gateway.Provider

	refs []gateway.RefundRef
}

func (*ledger) Capabilities() payment.Capabilities {
	return payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true}
}

func (l *ledger) LookupRefund(_ context.Context, r gateway.RefundRef) (gateway.RefundOutcome, error) {
	l.refs = append(l.refs, r)
	return gateway.RefundOutcome{}, gateway.ErrInconclusive
}

// TestSend_refundOfThePaymentThatHoldsTheMoney: a refund is looked up by its own payment, not by another payment of the
// attempt.
func TestSend_refundOfThePaymentThatHoldsTheMoney(t *testing.T) {
	t.Parallel()
	p := &ledger{}
	r := runner.New(runner.Options{
		ProviderTimeout: time.Minute, Now: time.Now,
		Rules: changeset.Rules{
			Schedule: payment.Schedule{Lease: time.Minute}, Accounts: current.Of(map[string]gateway.Account{"": {Provider: p}}),
		},
	})
	a := payment.Attempt{
		ID: payment.AttemptID(uuid.New()), ProviderPaymentID: "page", State: fsm.Succeeded, ReadAt: time.Now(),
		Payments: []payment.Payment{
			{ID: "5000", State: fsm.PaymentFailed}, {ID: "5001", Container: "page", State: fsm.PaymentCaptured, Captured: 1999},
		},
	}
	o := a.NewOperation(payment.OperationRefund, payment.OperationOriginRequest, a.ReadAt)
	o.RefundID = payment.RefundID(uuid.New())
	task := runner.TaskOf(a, o, payment.Ask, "")
	task.Refund = &payment.Refund{ID: o.RefundID, Money: payment.Money{Minor: 700, Currency: "EUR"}}
	r.Send(t.Context(), task, r.Permit(), payment.Cause{})
	require.Len(t, p.refs, 1)
	require.Equal(t, "5001", p.refs[0].ProviderPaymentID)
	require.Equal(t, "page", p.refs[0].Container)
	require.EqualValues(t, 1999, p.refs[0].Taken.Minor)
}
