package worklist

import (
	"context"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Resolve is the command of a person who has found out the facts of a discrepancy.
type Resolve struct {
	commands.Resolve

	// Expected is the assignee that the discrepancy must have, empty for no assignee; nil for any.
	Expected *string
}

// Resolve resolves a discrepancy as commands.Commands.Resolve does, or proposes the resolution, with its entry in the
// audit log in the same transaction. The same resolution again changes nothing, even by another person. It returns the
// errors of commands.Commands.Resolve, and a *payment.AssignedError.
func (s *Service) Resolve(ctx context.Context, who support.Staff, cmd Resolve) (Entry, error) {
	if err := who.MayAct(cmd.Reason, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Entry{}, err
	}
	d := who.Entry(support.Resolved, target, cmd.ID.String())
	d.Reason = cmd.Reason
	d.Detail = map[string]any{"resolution": string(cmd.Resolution), "provider_payment_id": cmd.ProviderPaymentID}
	written := false
	cmd.With = func(ctx context.Context, tx commands.Tx, settled payment.Discrepancy) error {
		if cmd.Expected != nil && *cmd.Expected != settled.Assignee {
			return &payment.AssignedError{Assignee: settled.Assignee}
		}
		written = true
		in := d
		in.OrderID, in.AttemptID = settled.OrderID, settled.AttemptID
		if settled.Awaits() {
			in.Action = support.Proposed
		}
		return s.Audit.DoneIn(ctx, tx, in)
	}
	settled, err := s.Payments.Resolve(ctx, who.Actor, cmd.Resolve)
	if err != nil || !written {
		d.OrderID, d.AttemptID = settled.OrderID, settled.AttemptID
		err = s.Audit.Audited(ctx, d, err)
	}
	if err != nil {
		return Entry{}, err
	}
	s.recount()
	return s.Store.Entry(ctx, cmd.ID, Shown)
}
