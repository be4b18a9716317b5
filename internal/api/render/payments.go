package render

import (
	"cmp"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Renderer renders objects with values that depend on the time.
type Renderer struct {
	now       func() time.Time
	pollAfter time.Duration
	// forStaff leaves out the data that would let staff continue a payment in the customer's place.
	forStaff bool
}

// New returns a renderer with a clock. A pending attempt should first be read again after pollAfter; 0 means a second.
func New(now func() time.Time, pollAfter time.Duration) Renderer {
	if pollAfter == 0 {
		pollAfter = time.Second
	}
	return Renderer{now: now, pollAfter: pollAfter}
}

// For returns a renderer for a reader of a user's objects.
func (r Renderer) For(reader authz.Actor, of payment.UserID) Renderer {
	r.forStaff = !reader.Continues(of)
	return r
}

// ForStaff returns a renderer that leaves out the data that would let staff continue a payment in the customer's place.
func (r Renderer) ForStaff() Renderer {
	r.forStaff = true
	return r
}

// Order renders an order with its attempts.
func (r Renderer) Order(o payment.Order) gen.Order {
	out := gen.Order{
		OrderID: string(o.ID), UserID: string(o.UserID),
		Amount: o.Money.Minor, Currency: string(o.Money.Currency), Version: o.Version(), Status: gen.OrderStatus(o.Status()),
		AmountHeld: o.AmountHeld(), AmountCaptured: o.AmountCaptured(), CreatedBy: gen.OrderCreatedBy(o.CreatedBy), Description: o.Description, Metadata: o.Metadata,
		CreatedAt: gen.Micros(o.CreatedAt), UpdatedAt: gen.Micros(o.ChangedAt()),
		Attempts: make([]gen.Attempt, len(o.Attempts)),
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	for i, v := range o.Views() {
		out.Attempts[i] = r.Attempt(v)
	}
	return out
}

// Attempt renders an attempt without its status token.
func (r Renderer) Attempt(v payment.View) gen.Attempt {
	request := string(v.RequestID)
	out := gen.Attempt{
		PaymentAttemptID: v.ID.String(), OrderID: string(v.OrderID), UserID: string(v.UserID),
		ClientRequestID: &request, Account: v.Account, ProviderPaymentID: orNull(v.ProviderPaymentID),
		Status: gen.AttemptStatus(v.State.Status()), Stage: gen.AttemptStage(v.Stage()),
		Amount: v.Money.Minor, Currency: string(v.Money.Currency),
		AmountCaptured: v.AmountCaptured(), AmountRefunded: v.AmountRefunded(), AmountDisputed: v.AmountDisputed(),
		Capture:            gen.AttemptCapture(v.Capture),
		Origin:             gen.AttemptOrigin(cmp.Or(v.Origin, payment.OriginPaylatch)),
		Payments:           payments(v.Attempt),
		Disputes:           make([]gen.Dispute, len(v.Disputes)),
		CanStartNewAttempt: v.CanStartNew, Version: v.Version,
		CreatedAt: gen.Micros(v.CreatedAt), UpdatedAt: gen.Micros(v.UpdatedAt),
		FinalizedAt: (*gen.Micros)(v.FinalizedAt), Review: (*gen.AttemptReview)(orNull(string(v.Review.Status))),
	}
	for i, d := range v.Disputes {
		out.Disputes[i] = Dispute(d)
	}
	if m := v.Saved; m != nil {
		out.SavedPaymentMethod = &gen.SavedPaymentMethod{
			Token: m.Token, Type: m.Type, Display: m.Display, Expires: orNull(m.Expires), RemovedAt: (*gen.Micros)(m.RemovedAt),
		}
	}
	if v.State.Final() {
		out.Failure = failure(v.Failure)
		return out
	}
	out.NextPollMs = r.nextPoll(v.Attempt).Milliseconds()
	out.NextAction = nextAction(v.NextAction)
	if n := out.NextAction; n != nil && r.forStaff {
		n.Fields, n.Data = nil, nil
	}
	return out
}

// payments returns all that the attempt has at the provider.
func payments(a payment.Attempt) []gen.ProviderPayment {
	out := make([]gen.ProviderPayment, len(a.Payments))
	for i := range a.Payments {
		p := &a.Payments[i]
		out[i] = gen.ProviderPayment{
			ProviderPaymentID: p.ID, Container: p.Container, Status: gen.ProviderPaymentStatus(p.Status()),
			AmountAuthorized: max(0, p.Authorized), AmountCaptured: max(0, p.Captured), AmountRefunded: max(0, p.Refunded), AmountDisputed: max(0, p.Disputed),
			SeenAt: gen.Micros(p.LastAt),
		}
	}
	return out
}

func nextAction(n *payment.NextAction) *gen.NextAction {
	if n == nil {
		return nil
	}
	out := &gen.NextAction{Type: gen.NextActionType(n.Type), URL: orNull(n.URL)}
	if len(n.Fields) > 0 {
		out.Fields = &n.Fields
	}
	if len(n.Data) > 0 {
		out.Data = &n.Data
	}
	if !n.ExpiresAt.IsZero() {
		out.ExpiresAt = (*gen.Micros)(&n.ExpiresAt)
	}
	return out
}

// Refund renders a refund.
func Refund(r payment.Refund) gen.Refund {
	return gen.Refund{
		RefundID: r.ID.String(), PaymentAttemptID: r.AttemptID.String(), OrderID: string(r.OrderID),
		Amount: r.Money.Minor, Currency: string(r.Money.Currency), Status: gen.RefundStatus(r.State), Origin: gen.RefundOrigin(r.Origin),
		Reason: orNull(r.Reason), Failure: failure(r.Failure), Version: r.Version,
		CreatedAt: gen.Micros(r.CreatedAt), UpdatedAt: gen.Micros(r.UpdatedAt),
		FinalizedAt: (*gen.Micros)(r.FinalizedAt),
	}
}

// Dispute renders a dispute.
func Dispute(d payment.Dispute) gen.Dispute {
	out := gen.Dispute{
		DisputeID: d.ID.String(), PaymentAttemptID: d.AttemptID.String(), ProviderDisputeID: d.ProviderDisputeID,
		Status: gen.DisputeStatus(d.State), Reason: orNull(d.Reason), OpenedAt: gen.Micros(d.OpenedAt), ClosedAt: (*gen.Micros)(d.ClosedAt),
	}
	if d.Money != nil {
		currency := string(d.Money.Currency)
		out.Amount, out.Currency = &d.Money.Minor, &currency
	}
	if !d.DueBy.IsZero() {
		out.DueBy = (*gen.Micros)(&d.DueBy)
	}
	return out
}

func failure(f *payment.Failure) *gen.Failure {
	if f == nil {
		return nil
	}
	return &gen.Failure{Code: gen.FailureCode(f.Code), Message: f.Message, ProviderCode: orNull(f.ProviderCode)}
}

// RetryAfter is when to read an attempt again, as the header has it; empty when no change can come.
func (r Renderer) RetryAfter(v payment.View) string {
	if v.State.Final() {
		return ""
	}
	return strconv.FormatInt(Seconds(r.nextPoll(v.Attempt)), 10)
}

// nextPoll grows with an attempt's age: a tenth of it, from one to five times the configured pause.
func (r Renderer) nextPoll(a payment.Attempt) time.Duration {
	age := r.now().Sub(a.CreatedAt)
	return min(max(age/10, r.pollAfter), 5*r.pollAfter).Round(time.Millisecond)
}
