package commands

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// seen is a lookup that shows nothing, of an attempt as it was then.
type seen struct {
	Sights

	payment.Attempt
}

func (s seen) LookRefund(context.Context, payment.AttemptID, payment.RefundID, payment.Cause) (gateway.Sight, error) {
	return gateway.Sight{Attempt: s.Attempt}, nil
}

func (s seen) Look(context.Context, payment.AttemptID, payment.Cause) (gateway.Sight, error) {
	return gateway.Sight{Attempt: s.Attempt}, nil
}

type clock struct{ ResolutionTx }

func (clock) Now() time.Time { return time.Unix(1_000_000, 0) }

// A runner may send the operation between the lookup and the transaction. The lookup proves nothing then.
func TestADecisionIsOfWhatTheLookupSaw(t *testing.T) {
	t.Parallel()
	now := clock{}.Now()
	a := payment.Attempt{ID: payment.AttemptID(uuid.New()), State: fsm.OutcomeUnknown, Money: payment.Money{Minor: 500, Currency: "EUR"}}
	refund := payment.NewRefund(a, payment.RefundByRequest, a.Money, now)
	charge := a.NewOperation(payment.OperationCharge, payment.OperationOriginRequest, now)
	back := a.NewOperation(payment.OperationRefund, payment.OperationOriginRequest, now)
	back.RefundID = refund.ID
	of := payment.Discrepancy{Kind: payment.NeedsReview, About: payment.AboutRefundUnknown, AboutID: refund.ID.String(), AttemptID: &a.ID}
	for name, c := range map[string]struct {
		of     payment.Discrepancy
		refund *payment.Refund
		sent   int
		busy   bool
	}{
		"a refund":                          {of, &refund, 1, true},
		"a refund beside another operation": {of, &refund, 0, false},
		"a refund that stayed":              {of, &refund, -1, false},
		"a payment":                         {payment.Discrepancy{Kind: payment.NeedsReview, AttemptID: &a.ID}, nil, 0, true},
		"a payment beside a refund":         {payment.Discrepancy{Kind: payment.NeedsReview, AttemptID: &a.ID}, nil, 1, false},
		"a payment that stayed":             {payment.Discrepancy{Kind: payment.NeedsReview, AttemptID: &a.ID}, nil, -1, false},
	} {
		before, after := a, a
		before.Operations, after.Operations = []payment.Operation{charge, back}, []payment.Operation{charge, back}
		if c.sent >= 0 {
			after.Operations[c.sent].Fence++
		}
		choice := Choice{Resolution: payment.ResolvedNotPaid}
		found, err := ResolutionLookups{Sights: seen{Attempt: before}}.Freed(t.Context(), c.of, choice)
		require.NoError(t, err, name)
		d := &Decision{Changeset: changeset.New(clock{}, changeset.Rules{}), Affected: &Affected{attempt: &after, refund: c.refund}, Choice: choice, found: found}
		if err = d.free(t.Context()); c.busy {
			require.ErrorIs(t, err, payment.ErrBusy, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
