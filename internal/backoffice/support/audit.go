package support

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// insert writes an entry of its own.
func (s *Service) insert(ctx context.Context, e AuditEntry, outcome Outcome) error {
	e.ID, e.Outcome = payment.OnlyCell.NewID(), outcome
	return s.store.AuditInsert(ctx, e)
}

// insertIn writes an entry in a transaction.
func (s *Service) insertIn(ctx context.Context, tx changeset.Tx, e AuditEntry, outcome Outcome) error {
	e.ID, e.Outcome = payment.OnlyCell.NewID(), outcome
	return s.store.AuditInsertIn(ctx, tx, e)
}

// audited writes the outcome of an action, by its error, and returns that error and its
// own. There is no entry while the storage is gone, nor of a malformed request.
func (s *Service) audited(ctx context.Context, e AuditEntry, err error) error {
	switch {
	case err == nil:
		return s.insert(ctx, e, Done)
	case errors.Is(err, payment.ErrUnavailable), errors.As(err, new(*payment.ValidationError)):
		return err
	case refusal(err):
		e.Detail = map[string]any{"refusal": err.Error()}
		return errors.Join(err, s.insert(ctx, e, Refused))
	}
	return errors.Join(err, s.insert(ctx, e, Failed))
}

// Audited is for the use cases of other packages: it writes the outcome of an action, by its error, and returns that error and its own.
// Of a malformed request there is no entry.
func (s *Service) Audited(ctx context.Context, e AuditEntry, err error) error {
	return s.audited(ctx, e, err)
}

// DoneIn is for the use cases of other packages: it writes, in the transaction of an action, that it was done.
func (s *Service) DoneIn(ctx context.Context, tx changeset.Tx, e AuditEntry) error {
	return s.insertIn(ctx, tx, e, Done)
}

// refusal reports whether an error is a decision, with a text free of personal data.
func refusal(err error) bool {
	if errors.As(err, new(*idempotency.ReplayError)) || errors.As(err, new(*idempotency.QuotaError)) {
		return true
	}
	for _, decision := range []error{
		payment.ErrAttemptNotFound, payment.ErrEventNotFound, payment.ErrDiscrepancyNotFound, payment.ErrBusy, payment.ErrResolved,
		payment.ErrNotRefundable, payment.ErrRefundExceeds, payment.ErrRefundableChanged, payment.ErrRefundNotFound,
		payment.ErrAttemptFinal, payment.ErrNotCapturable, payment.ErrNotCompletable, payment.ErrCaptureExceeds, idempotency.ErrKeyReused, idempotency.ErrInProgress,
		payment.ErrNotPending, payment.ErrHoldsMoney, payment.ErrPaymentTaken, payment.ErrPaymentIDMissing, payment.ErrForbidden,
		payment.ErrJobNotFound, payment.ErrJobRunning, payment.ErrAssigned,
	} {
		if errors.Is(err, decision) {
			return true
		}
	}
	return false
}

// Watch audits an action of staff by a use case of another package: before act is run,
// and, unless it is a view, once more with its outcome.
func (s *Service) Watch(ctx context.Context, who Staff, action Action, targetType, target string, act func() error) error {
	e := who.entry(action, targetType, target)
	if action.look() {
		if err := s.insert(ctx, e, Done); err != nil {
			return err
		}
		return act()
	}
	return s.around(ctx, e, act)
}

// Act is Watch for a change, with a reason. It returns payment.ErrForbidden and a
// payment.ValidationError before act is run.
func (s *Service) Act(ctx context.Context, who Staff, action Action, targetType, target, reason string, act func() error) error {
	if err := who.mayAct(reason); err != nil {
		return err
	}
	e := who.entry(action, targetType, target)
	e.Reason = reason
	return s.around(ctx, e, act)
}

// around writes an entry before an action and one with its outcome.
func (s *Service) around(ctx context.Context, e AuditEntry, act func() error) error {
	if err := s.insert(ctx, e, Begun); err != nil {
		return err
	}
	err := act()
	// A caller that is gone meanwhile does not undo the action.
	return s.audited(context.WithoutCancel(ctx), e, err)
}

// Refuse audits a refusal before an action began, of a malformed id for instance, and
// returns why. It returns payment.ErrForbidden if the actor is not staff.
func (s *Service) Refuse(ctx context.Context, who Staff, action Action, targetType, target string, why error) error {
	if err := who.mayLook(); err != nil {
		return err
	}
	return s.audited(ctx, who.entry(action, targetType, target), why)
}

// SignIn audits a sign-in before it takes effect. By is its method.
func (s *Service) SignIn(ctx context.Context, who Staff, by string) error {
	e := who.entry(SignedIn, "", "")
	e.Detail = map[string]any{"by": by}
	return s.insert(ctx, e, Done)
}

// AuditFilter selects entries of the audit log; an empty field is any.
type AuditFilter struct {
	Actor  string
	Action string
	Target string
}

// Audit lists the audit log, newest first, for admin only; this view, or its refusal,
// is in it, too. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Audit(ctx context.Context, who Staff, f AuditFilter, p Page) (list []AuditEntry, next string, err error) {
	if err := who.may(payment.RoleAdmin); err != nil {
		return nil, "", s.Refuse(ctx, who, ViewedAudit, "audit", "", err)
	}
	for field, text := range map[string]string{"actor": f.Actor, "action": f.Action, "target": f.Target} {
		if !storable(text) {
			return nil, "", invalid(field, "must be text in UTF-8")
		}
	}
	id, err := p.id()
	if err != nil {
		return nil, "", err
	}
	list, err = s.store.AuditEntries(authz.WithReader(ctx, who.Reader()), AuditQuery{Actor: f.Actor, Action: Action(f.Action), Target: f.Target, BeforeID: id, Limit: p.limit + 1})
	if err := s.audited(ctx, who.entry(ViewedAudit, "audit", ""), err); err != nil {
		return nil, "", err
	}
	list, next = Cut(p, list, func(e AuditEntry) (time.Time, string) { return e.At, e.ID.String() })
	return list, next, nil
}
