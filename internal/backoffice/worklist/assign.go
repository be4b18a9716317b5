package worklist

import (
	"context"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Assign is the command that sets the assignee of a discrepancy.
type Assign struct {
	ID payment.DiscrepancyID
	// Assignee is the caller where it is nil; empty removes the assignment.
	Assignee *string
	// Expected is the assignee that the discrepancy must have now, empty for no assignee. If it is nil, the caller may
	// take an unassigned discrepancy, and may unassign or pass on their own.
	Expected *string
	Reason   string
}

// maxReason bounds a reason, in bytes.
const maxReason = 2000

// Assign assigns a discrepancy. The same again, without Expected, changes nothing. It returns payment.ErrForbidden, a
// payment.ValidationError, payment.ErrDiscrepancyNotFound, payment.ErrResolved and a *payment.AssignedError.
func (s *Service) Assign(ctx context.Context, who support.Staff, cmd Assign) (Entry, error) {
	if err := who.MayLook(); err != nil {
		return Entry{}, err
	}
	if err := cmd.valid(who); err != nil {
		return Entry{}, err
	}
	to := who.Subject
	if cmd.Assignee != nil {
		to = *cmd.Assignee
	}
	entry := who.Entry(support.Assigned, target, cmd.ID.String())
	entry.Reason = cmd.Reason
	about := entry
	err := s.Store.Assign(ctx, cmd.ID, func(d payment.Discrepancy) (string, support.AuditEntry, error) {
		about = entry
		about.OrderID, about.AttemptID = d.OrderID, d.AttemptID
		if err := cmd.may(who.Subject, to, d); err != nil {
			return "", about, err
		}
		done := about
		done.ID, done.Outcome = payment.OnlyCell.NewID(), support.Done
		done.Detail = map[string]any{"from": d.Assignee, "to": to}
		return to, done, nil
	})
	if err != nil {
		return Entry{}, s.Audit.Audited(ctx, about, err)
	}
	return s.Store.Entry(ctx, cmd.ID, Shown)
}

// may returns payment.ErrResolved or a *payment.AssignedError.
func (cmd Assign) may(caller, to string, d payment.Discrepancy) error {
	allowed := d.Assignee == "" || d.Assignee == caller || d.Assignee == to
	if cmd.Expected != nil {
		allowed = d.Assignee == *cmd.Expected
	}
	switch {
	case d.Resolved != nil:
		return payment.ErrResolved
	case !allowed:
		return &payment.AssignedError{Assignee: d.Assignee}
	}
	return nil
}

func (cmd Assign) valid(who support.Staff) error {
	if cmd.Assignee != nil && *cmd.Assignee != "" && *cmd.Assignee != who.Subject {
		if _, err := authz.ParseUserID(*cmd.Assignee); err != nil {
			return payment.Invalid("assignee", err.Error())
		}
	}
	if cmd.Expected != nil && !payment.Nameable(*cmd.Expected) {
		return payment.Invalid("expected_assignee", "must be the assignee of a response, or null")
	}
	if len(cmd.Reason) > maxReason || !payment.IsStorable(cmd.Reason) {
		return payment.Invalid("reason", "must be at most 2000 bytes, or be left out")
	}
	return nil
}
