package payment

import (
	"maps"
	"slices"
	"time"

	"github.com/paylatch/paylatch/idempotency"
)

// OrderStatus is the status of an order.
type OrderStatus string

// The statuses of an order. They are derived from its attempts, not stored.
const (
	OrderOpen      OrderStatus = "open"
	OrderPaid      OrderStatus = "paid"
	OrderCancelled OrderStatus = "cancelled"
)

// Order is a debt of one customer. Its terms change only by an amendment, and only while no money of it is under way.
type Order struct {
	ID     OrderID
	UserID UserID
	// CreatedBy is the role that set the price: RoleService or RoleCustomer.
	CreatedBy   Role
	RequestID   RequestID
	RequestHash idempotency.Hash
	Money       Money
	Description string
	Metadata    map[string]string
	// Original are the terms with which an amended order was created; nil for an order that was never amended.
	Original *Terms
	// Revision rises with each change of the order itself; see Version.
	Revision int
	// Detailed is set if the order came with lines or a customer. SealedDetails are these, encrypted:
	// they are not read with the order.
	Detailed      bool
	SealedDetails []byte
	// Accepted is the failed attempt with late money that a person accepted as the order's payment;
	// nil without one.
	Accepted *AttemptID
	// CancelRequestedAt is when the order's cancellation was requested; nil if it was not. It is
	// never erased: a payment wins over it when the status is read.
	CancelRequestedAt *time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
	// Attempts are oldest first.
	Attempts []Attempt
}

// SameContent reports whether two orders have the same terms. Sealed terms are compared by the hash of the whole
// request.
func (o Order) SameContent(p Order) bool {
	if (o.Detailed || p.Detailed) && (o.RequestHash != p.RequestHash || o.Original != nil || p.Original != nil) {
		return false
	}
	return o.Terms().Equal(p.Terms())
}

// Terms are the terms of an order that its responses show.
type Terms struct {
	Money       Money
	Description string
	Metadata    map[string]string
}

// Terms returns the order's terms as they are now.
func (o Order) Terms() Terms { return Terms{o.Money, o.Description, o.Metadata} }

// Equal reports whether two terms are the same.
func (t Terms) Equal(u Terms) bool {
	return t.Money == u.Money && t.Description == u.Description && maps.Equal(t.Metadata, u.Metadata)
}

// Amended is the order with other terms. Its time of change rises, whatever the clock says.
func (o Order) Amended(t Terms, now time.Time) Order {
	if o.Original == nil {
		o.Original = new(o.Terms())
	}
	o.UpdatedAt = Later(o.ChangedAt(), now)
	o.Money, o.Description, o.Metadata = t.Money, t.Description, t.Metadata
	o.Revision++
	return o
}

// Later is the time of a change after another change: now, or a moment after that change if the clock has not passed it.
func Later(last, now time.Time) time.Time {
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// Version rises with each change of the order and of its attempts.
func (o Order) Version() int {
	version := o.Revision
	for i := range o.Attempts {
		version += o.Attempts[i].Version
	}
	return version
}

// Status is paid with a succeeded attempt or accepted late money, cancelled with a cancel request
// and no live attempt, else open.
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

// ChangedAt is when the order changed last, its attempts, their money and their disputes included.
func (o Order) ChangedAt() time.Time {
	last := o.UpdatedAt
	for _, a := range o.Attempts {
		if a.UpdatedAt.After(last) {
			last = a.UpdatedAt
		}
		for _, d := range a.Disputes {
			if d.UpdatedAt.After(last) {
				last = d.UpdatedAt
			}
		}
	}
	return last
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

// Attempt is the order's attempt with an id, nil if it does not exist.
func (o Order) Attempt(id AttemptID) *Attempt {
	for i := range o.Attempts {
		if o.Attempts[i].ID == id {
			return &o.Attempts[i]
		}
	}
	return nil
}

// HoldsMoney reports whether any attempt holds captured money, a failed one included.
func (o Order) HoldsMoney() bool { return slices.ContainsFunc(o.Attempts, Attempt.HoldsMoney) }

// LateMoney is the LateMoneyError of an order without a live attempt; nil if no attempt holds money.
func (o Order) LateMoney() error {
	if i := slices.IndexFunc(o.Attempts, Attempt.HoldsMoney); i >= 0 {
		return &LateMoneyError{Attempt: o.Attempts[i]}
	}
	return nil
}

// AmountHeld is the sum of Held of all attempts, in minor units of the order's currency. An order may be amended to another
// currency: attempts from before that do not count.
func (o Order) AmountHeld() int64 { return o.sum(Attempt.Held) }

// AmountCaptured is the sum of AmountCaptured of the attempts that AmountHeld counts.
func (o Order) AmountCaptured() int64 { return o.sum(Attempt.AmountCaptured) }

func (o Order) sum(of func(Attempt) int64) (sum int64) {
	for i := range o.Attempts {
		if o.Attempts[i].Money.Currency == o.Money.Currency {
			sum += of(o.Attempts[i])
		}
	}
	return sum
}

// Underpaid reports whether the money of an attempt is less than the order needs, because the order was amended after the
// attempt had begun.
func (o Order) Underpaid(a Attempt) bool {
	return a.Money != o.Money && (a.Money.Currency != o.Money.Currency || a.Held() < o.Money.Minor)
}

// NeedOf is what the order needs of the money of one of its attempts.
func (o Order) NeedOf(a *Attempt) Need {
	beside := slices.ContainsFunc(o.Attempts, func(other Attempt) bool { return other.ID != a.ID && other.HoldsMoney() })
	return NeedOf(beside, o.Underpaid(*a))
}

// ResponseTo is the order in the response to a request that created it. A repeat of the creating request gets the order
// as it was then. Another request gets the order as it is now.
func (o Order) ResponseTo(req idempotency.Request) Order {
	if o.RequestID == RequestID(req.Key) {
		o.Attempts, o.Accepted, o.CancelRequestedAt, o.UpdatedAt, o.Revision = nil, nil, nil, o.CreatedAt, 1
		if t := o.Original; t != nil {
			o.Money, o.Description, o.Metadata = t.Money, t.Description, t.Metadata
		}
	}
	return o
}

// Views returns the order's attempts, each with the fields that the order adds.
func (o Order) Views() []View {
	views := make([]View, len(o.Attempts))
	for i, a := range o.Attempts {
		views[i] = ViewOf(a, o)
	}
	return views
}

// View is an attempt with the fields that its order adds.
type View struct {
	Attempt
	// CanStartNew is set where a page may offer to pay again: this attempt failed, the order is
	// open, and no attempt of it holds money.
	CanStartNew bool
}

// ViewOf is the attempt as its order shows it.
func ViewOf(a Attempt, o Order) View {
	return View{Attempt: a, CanStartNew: a.Failed() && o.TakesPay() == nil}
}

// InProgressError is returned when the order has a live attempt of another request.
type InProgressError struct{ Attempt Attempt }

// Error implements error.
func (e *InProgressError) Error() string { return "payment in progress: " + e.Attempt.ID.String() }

// LateMoneyText is shown to the customer of late money, everywhere in the same words, until a
// person has resolved it.
const LateMoneyText = "Your payment arrived after all; the shop is looking at it."

// LateMoneyError is the ErrOrderPaid of an order without a paid attempt: a failed one holds money.
type LateMoneyError struct{ Attempt Attempt }

// Error implements error.
func (e *LateMoneyError) Error() string {
	return ErrOrderPaid.Error() + ": late money of attempt " + e.Attempt.ID.String()
}

// Unwrap makes it an ErrOrderPaid.
func (*LateMoneyError) Unwrap() error { return ErrOrderPaid }
