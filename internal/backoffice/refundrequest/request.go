package refundrequest

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// State is the state of a request. All but Open are final.
type State string

// The states.
const (
	Open     State = "open"
	Approved State = "approved"
	Declined State = "declined"
)

// States returns the states, in the order of a life.
func States() []State { return []State{Open, Approved, Declined} }

var (
	// ErrNotFound is returned when no request has an id.
	ErrNotFound = errors.New("refund request not found")
	// ErrDecided is returned for a request that was decided in another way.
	ErrDecided = errors.New("the refund request is decided")
	// ErrOwn is returned for the approval of a request by its requester.
	ErrOwn = errors.New("the person who requested a refund can't approve it")
)

// Request is a refund that was requested.
type Request struct {
	ID        uuid.UUID
	AttemptID payment.AttemptID
	OrderID   payment.OrderID
	// UserID is the customer.
	UserID payment.UserID
	Money  payment.Money
	Reason string
	// By is the requester.
	By        string
	CreatedAt time.Time
	State     State
	// Decision is zero while the request is open.
	Decision
}

// Decision is how a request ended.
type Decision struct {
	DecidedBy      string
	DecisionReason string
	DecidedAt      *time.Time
	// RefundID is the id of the refund; nil unless the request is approved.
	RefundID *payment.RefundID
}

// Withdrawn reports whether the requester has taken the request back.
func (r Request) Withdrawn() bool { return r.State == Declined && r.DecidedBy == r.By }

// MayDecline reports whether a person may decline or withdraw the request. An admin may decline it.
func (r Request) MayDecline(who support.Staff) bool {
	return r.State == Open && (who.Has(payment.RoleAdmin) || r.By == who.Person())
}

// MayApprove reports whether a person may approve the request.
func (r Request) MayApprove(who support.Staff) bool {
	return r.State == Open && who.Has(payment.RoleAdmin) && !authz.SamePerson(r.By, who.Person())
}

// ParseID parses the id of a request. It returns ErrNotFound for a text that is not an id.
func ParseID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		return uuid.Nil, ErrNotFound
	}
	return id, nil
}
