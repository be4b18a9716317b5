package support

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
)

// Action names what staff did.
type Action string

// The actions. Those that end in view changed nothing.
const (
	Searched          Action = "search.view"
	ViewedAttempt     Action = "attempt.view"
	ViewedEvent       Action = "event.view"
	ViewedDiscrepancy Action = "discrepancy.view"
	ViewedWorklist    Action = "discrepancies.view"
	ViewedAudit       Action = "audit.view"
	RevealedEvent     Action = "event.reveal"
	Rechecked         Action = "attempt.recheck"
	ReplayedEvent     Action = "event.replay"
	TriedReplay       Action = "event.replay.view"
	Resolved          Action = "discrepancy.resolve"
	Proposed          Action = "discrepancy.propose"
	Refunded          Action = "createRefund" // by the API's call or the console alike
	SignedIn          Action = "sign_in"
	SignedOut         Action = "sign_out"
	RefusedToken      Action = "token.refused"
	RefusedAccess     Action = "access.refused" // to what is for staff
)

// attemptTarget is the target type of a deed about an attempt.
const attemptTarget = "attempt"

// DeedOutcome says what came of a deed.
type DeedOutcome string

// The outcomes. A deed that was begun has a second entry, unless the process died.
const (
	Begun   DeedOutcome = "begun"
	Done    DeedOutcome = "done"
	Refused DeedOutcome = "refused"
	Failed  DeedOutcome = "failed"
)

// Deed is one entry of the audit log.
type Deed struct {
	// ID rises with time. DeedID is the same for what was begun and what came of it.
	ID, DeedID uuid.UUID
	// Actor is empty where nobody was proven.
	Actor  string
	Roles  []payment.Role
	Action Action
	// TargetType and Target are what was looked at or acted on: an attempt, an event,
	// a text that was searched for.
	TargetType, Target string
	OrderID            payment.OrderID
	AttemptID          *payment.AttemptID
	Reason             string
	Address, RequestID string
	Outcome            DeedOutcome
	Detail             map[string]any
	At                 time.Time
}

func (w Staff) deed(action Action, targetType, target string) Deed {
	d := Deed{
		DeedID: uuid.Must(uuid.NewV7()), Actor: w.Subject, Roles: w.Roles, Action: action,
		TargetType: targetType, Target: kept(target), Address: w.Address, RequestID: w.RequestID,
	}
	if targetType == attemptTarget {
		if id, err := payment.ParseAttemptID(target); err == nil { // also one in capitals
			d.Target, d.AttemptID = id.String(), &id
		}
	}
	return d
}

// kept is what the audit log keeps of what somebody named, which may be any text:
// an index must hold it.
func kept(target string) string {
	const replaced = "\uFFFD"
	target = strings.ReplaceAll(strings.ToValidUTF8(target, replaced), "\x00", replaced)
	if len(target) <= maxQuery {
		return target
	}
	return strings.ToValidUTF8(target[:maxQuery], "") + "…"
}

// about is the deed, done with an attempt.
func (d Deed) about(a payment.Attempt) Deed {
	d.OrderID, d.AttemptID = a.OrderID, &a.ID
	return d
}

// write writes an entry of its own.
func (s *Service) write(ctx context.Context, d Deed, outcome DeedOutcome) error {
	d.ID, d.Outcome = uuid.Must(uuid.NewV7()), outcome
	return s.store.DeedInsert(ctx, d)
}

// looked writes down a look before it is shown; a look that found nothing, too.
func (s *Service) looked(ctx context.Context, d Deed, err error) error {
	return errors.Join(err, s.came(ctx, d, err))
}

// came writes down what came of a deed. While the storage is gone, and for what
// could not be meant, there is nothing to be written.
func (s *Service) came(ctx context.Context, d Deed, err error) error {
	switch {
	case err == nil:
		return s.write(ctx, d, Done)
	case errors.Is(err, payment.ErrUnavailable), errors.As(err, new(*payment.ValidationError)):
		return nil
	case refusal(err):
		d.Detail = map[string]any{"refusal": err.Error()}
		return s.write(ctx, d, Refused)
	}
	return s.write(ctx, d, Failed)
}

// refusal reports whether an error is an answer, whose text names nobody.
func refusal(err error) bool {
	if errors.As(err, new(*idempotency.ReplayError)) || errors.As(err, new(*idempotency.QuotaError)) {
		return true
	}
	for _, known := range []error{
		payment.ErrAttemptNotFound, payment.ErrEventNotFound, payment.ErrDiscrepancyNotFound, payment.ErrBusy, payment.ErrResolved,
		payment.ErrNotRefundable, payment.ErrRefundExceeds, payment.ErrRefundableChanged, payment.ErrRefundNotFound,
		payment.ErrAttemptFinal, payment.ErrNotCapturable, payment.ErrCaptureExceeds, idempotency.ErrKeyReused, idempotency.ErrInProgress,
		payment.ErrNotPending, payment.ErrHoldsMoney, payment.ErrPaymentTaken, payment.ErrPaymentIDMissing, payment.ErrForbidden,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Watch writes down what staff does by a use case that is not of this package,
// before act is run: one entry for a look, for anything else a second one of what
// came of it.
func (s *Service) Watch(ctx context.Context, who Staff, action Action, targetType, target string, act func() error) error {
	d := who.deed(action, targetType, target)
	if action.look() {
		if err := s.write(ctx, d, Done); err != nil {
			return err
		}
		return act()
	}
	return s.around(ctx, d, act)
}

// Act is Watch for what changes something about an attempt, with a reason. It
// returns payment.ErrForbidden and a payment.ValidationError before act is run.
func (s *Service) Act(ctx context.Context, who Staff, action Action, id payment.AttemptID, reason string, act func() error) error {
	if err := who.mayAct(reason); err != nil {
		return err
	}
	d := who.deed(action, attemptTarget, id.String())
	d.Reason = reason
	return s.around(ctx, d, act)
}

// Refuse writes down what was refused to staff before it began, for a text in an
// id's place for instance, and returns why; of somebody else, payment.ErrForbidden.
func (s *Service) Refuse(ctx context.Context, who Staff, action Action, targetType, target string, why error) error {
	if err := who.mayLook(); err != nil {
		return err
	}
	return s.looked(ctx, who.deed(action, targetType, target), why)
}

// SignIn writes down that a person signed in, before they are let in. By is the way.
func (s *Service) SignIn(ctx context.Context, who Staff, by string) error {
	d := who.deed(SignedIn, "", "")
	d.Detail = map[string]any{"by": by}
	return s.write(ctx, d, Done)
}

// around writes down that a deed was begun and what came of it.
func (s *Service) around(ctx context.Context, d Deed, act func() error) error {
	if err := s.write(ctx, d, Begun); err != nil {
		return err
	}
	err := act()
	return errors.Join(err, s.came(context.WithoutCancel(ctx), d, err))
}

func (a Action) look() bool {
	const ending = ".view"
	return len(a) > len(ending) && a[len(a)-len(ending):] == ending
}
