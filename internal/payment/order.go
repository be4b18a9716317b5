package payment

import (
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// OrderStatus is what has become of an order.
type OrderStatus string

// The statuses of an order. They are read off its attempts, not stored.
const (
	OrderOpen      OrderStatus = "open"
	OrderPaid      OrderStatus = "paid"
	OrderCancelled OrderStatus = "cancelled"
)

// Order is what is to be paid. What it is for never changes.
type Order struct {
	ID     OrderID
	UserID UserID
	// CreatedBy is the role of whoever set the price: RoleService or RoleCustomer.
	CreatedBy   Role
	RequestID   RequestID
	RequestHash idempotency.Hash
	Money       Money
	Description string
	Metadata    map[string]string
	// Accepted is the failed attempt whose late money a person has taken for the order's
	// payment; nil if nobody has.
	Accepted *AttemptID
	// CancelRequestedAt is the wish to cancel; nil if nobody had it.
	CancelRequestedAt *time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
	// Attempts are oldest first.
	Attempts []Attempt
}

// sameContent reports whether two orders are for the same, however it was written.
func (o Order) sameContent(p Order) bool {
	return o.Money == p.Money && o.Description == p.Description && maps.Equal(o.Metadata, p.Metadata)
}

// Status is paid with a succeeded attempt or accepted late money, cancelled with a
// wish and no live attempt, else open.
func (o Order) Status() OrderStatus {
	live := o.Live()
	switch {
	case live != nil && live.Succeeded(), o.Accepted != nil:
		return OrderPaid
	case live == nil && o.CancelRequestedAt != nil:
		return OrderCancelled
	}
	return OrderOpen
}

// Live is the attempt that is pending or succeeded; an order has one at most.
func (o Order) Live() *Attempt {
	for i := range o.Attempts {
		if !o.Attempts[i].Failed() {
			return &o.Attempts[i]
		}
	}
	return nil
}

// HoldsMoney reports whether any attempt holds money, a failed one included.
func (o Order) HoldsMoney() bool { return slices.ContainsFunc(o.Attempts, Attempt.HoldsMoney) }

// lateMoney is the LateMoneyError of an order without a live attempt, if one of its failed
// ones holds money.
func (o Order) lateMoney() error {
	if i := slices.IndexFunc(o.Attempts, Attempt.HoldsMoney); i >= 0 {
		return &LateMoneyError{Attempt: o.Attempts[i]}
	}
	return nil
}

// AmountHeld is the money of all attempts that nobody gave back, in minor units of the
// order's currency.
func (o Order) AmountHeld() (held int64) {
	for i := range o.Attempts {
		held += o.Attempts[i].Held()
	}
	return held
}

// answerTo is the order as a request to create it is answered: to the one that made
// it as it was then, to another one as it is.
func (o Order) answerTo(req idempotency.Request) Order {
	if o.RequestID == RequestID(req.Key) {
		o.Attempts, o.Accepted, o.CancelRequestedAt, o.UpdatedAt = nil, nil, nil, o.CreatedAt
	}
	return o
}
