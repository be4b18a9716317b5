package refundrequest

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// Query selects requests before an id, newest first. An empty State is any.
type Query struct {
	State  State
	Before uuid.UUID
	Limit  int
}

// Store keeps requests. Its errors are those of packages payment and refundrequest.
type Store interface {
	// Refundable reads an attempt and how much of it is left to refund, in minor units. It returns payment.ErrAttemptNotFound.
	Refundable(ctx context.Context, id payment.AttemptID) (payment.Attempt, int64, error)
	// OpenAmount is the sum of the open requests of an attempt.
	OpenAmount(ctx context.Context, id payment.AttemptID) (int64, error)
	// Same finds the open request of a person for an attempt and an amount. It returns ErrNotFound.
	Same(ctx context.Context, r Request) (Request, error)
	// Insert stores an open request and the entry in one transaction; where Same has one, it returns that, and false.
	Insert(ctx context.Context, r Request, entry support.AuditEntry) (Request, bool, error)
	// Request reads a request. It returns ErrNotFound.
	Request(ctx context.Context, id uuid.UUID) (Request, error)
	Requests(ctx context.Context, q Query) ([]Request, error)
	// Decline declines an open request and writes the entry in the same transaction. It returns ErrDecided.
	Decline(ctx context.Context, id uuid.UUID, d Decision, entry support.AuditEntry) error
	// ApproveIn approves an open request, and writes the entry, in a transaction of the same storage. It returns ErrDecided.
	ApproveIn(ctx context.Context, tx commands.Tx, id uuid.UUID, d Decision, entry support.AuditEntry) error
	// Refused writes an entry of its own.
	Refused(ctx context.Context, entry support.AuditEntry) error
}

// Payments makes refunds; activity.Commands in the program.
type Payments interface {
	Refund(ctx context.Context, actor authz.Actor, req idempotency.Request, cmd commands.CreateRefund) (commands.RefundReply, error)
}

// Audit audits looks; *support.Service in the program.
type Audit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
	Refuse(ctx context.Context, who support.Staff, action support.Action, targetType, target string, why error) error
}

// Service is the use cases of staff. It is safe for concurrent use.
type Service struct {
	store    Store
	payments Payments
	audit    Audit
}

// New returns a service.
func New(store Store, payments Payments, audit Audit) *Service {
	return &Service{store, payments, audit}
}

const (
	// target is the target type of staff's actions on a request.
	target = "refund_request"
	list   = "refund_requests"
)

// Request returns a request. It returns payment.ErrForbidden and ErrNotFound.
func (s *Service) Request(ctx context.Context, who support.Staff, id uuid.UUID) (r Request, err error) {
	if err := who.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Request{}, err
	}
	err = s.audit.Watch(ctx, who, support.ViewedRequest, target, id.String(), func() error {
		r, err = s.store.Request(ctx, id)
		return err
	})
	return r, err
}

// Requests lists requests of a state, newest first; of all where it is empty. It returns payment.ErrForbidden and a
// payment.ValidationError.
func (s *Service) Requests(ctx context.Context, who support.Staff, state State, p support.Page) (found []Request, next string, err error) {
	if err := who.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return nil, "", err
	}
	if state != "" && !slices.Contains(States(), state) {
		return nil, "", payment.Invalid("status", "must be open, approved or declined")
	}
	before, limit, err := p.BeforeID()
	if err != nil {
		return nil, "", err
	}
	err = s.audit.Watch(ctx, who, support.ViewedRequests, list, string(state), func() error {
		found, err = s.store.Requests(ctx, Query{State: state, Before: before, Limit: limit + 1})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	found, next = support.Cut(p, found, func(r Request) (time.Time, string) { return r.CreatedAt, r.ID.String() })
	return found, next, nil
}
