package outbox

import (
	"cmp"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// stamp is a time as the contract has it: RFC 3339 in UTC, always with six digits of a second. time.Time's own JSON drops zeros
// at the end.
type stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	return []byte(time.Time(s).UTC().Format(`"2006-01-02T15:04:05.000000Z"`)), nil
}

// amounts is the money that was moved so far, in minor units.
type amounts struct {
	AmountCaptured int64 `json:"amount_captured"`
	AmountRefunded int64 `json:"amount_refunded"`
	AmountDisputed int64 `json:"amount_disputed"`
}

// amountsIn is the sums of those attempts that are in a currency: an order may have been amended to another one.
func amountsIn(currency payment.Currency, attempts []payment.Attempt) (sum amounts) {
	for i := range attempts {
		if attempts[i].Money.Currency == currency {
			sum = sum.plus(amountsOf(attempts[i]))
		}
	}
	return sum
}

// amountsOf is the amounts of an attempt.
func amountsOf(a payment.Attempt) amounts {
	return amounts{a.AmountCaptured(), a.AmountRefunded(), a.AmountDisputed()}
}

func (a amounts) plus(b amounts) amounts {
	return amounts{a.AmountCaptured + b.AmountCaptured, a.AmountRefunded + b.AmountRefunded, a.AmountDisputed + b.AmountDisputed}
}

// amountsAt is the amounts of an attempt at a transition.
func amountsAt(t payment.Transition) amounts {
	return amounts{max(0, t.Facts.Captured), max(0, t.Facts.Refunded), max(0, t.Facts.Disputed)}
}

// attempt is a payment attempt as a version had it. Its members are named as in the API.
type attempt struct {
	PaymentAttemptID  string  `json:"payment_attempt_id"`
	OrderID           string  `json:"order_id"`
	UserID            string  `json:"user_id"`
	Account           string  `json:"account"`
	ProviderPaymentID *string `json:"provider_payment_id"`
	Status            string  `json:"status"`
	Stage             string  `json:"stage"`
	Amount            int64   `json:"amount"`
	Currency          string  `json:"currency"`
	amounts
	Capture payment.CaptureMode `json:"capture"`
	Origin  payment.Origin      `json:"origin"`
	// Saved is the payment method that the provider has stored by then.
	Saved     *saved   `json:"saved_payment_method"`
	Failure   *failure `json:"failure"`
	Review    *string  `json:"review"`
	Version   int      `json:"version"`
	CreatedAt stamp    `json:"created_at"`
	UpdatedAt stamp    `json:"updated_at"`
}

type saved struct {
	Token     string  `json:"token"`
	Type      string  `json:"type"`
	Display   string  `json:"display"`
	Expires   *string `json:"expires"`
	RemovedAt *stamp  `json:"removed_at"`
}

func savedOf(m payment.SavedMethod) *saved {
	return &saved{Token: m.Token, Type: m.Type, Display: m.Display, Expires: orNull(m.Expires), RemovedAt: (*stamp)(m.RemovedAt)}
}

type failure struct {
	Code         string  `json:"code"`
	Message      string  `json:"message"`
	ProviderCode *string `json:"provider_code"`
}

// Attempt publishes those transitions of an attempt that a merchant acts on: it is authorized or
// final, money moves after that, or the provider's review of it begins or ends. A success pays its order. With paid, that is published, too:
// after the success, or after the last change if the attempt had succeeded before and waited for a review. A failure leaves its
// order cancelled if that was requested: the storage writes this only then. An import publishes nothing. The siblings are the other
// attempts of the order. Their money counts in the order's amounts.
func Attempt(a *payment.Attempt, siblings []payment.Attempt, transitions []payment.Transition, paid bool) (events []Message) {
	beside, pays := amountsIn(a.Money.Currency, siblings), paying(transitions)
	for i, t := range transitions {
		kind := attemptType(t)
		if kind == "" {
			continue
		}
		m := newMessage(kind, a.ID.String(), t.Version, t.At, attemptAt(a, t))
		m.OrderID, m.AttemptID = a.OrderID, a.ID
		events = append(events, m)
		switch {
		case paid && i == pays:
			events = append(events, orderAt(OrderPaid, orderOf(a), a.ID, t.At, beside.plus(amountsAt(t))))
		case kind == AttemptFailed:
			events = append(events, orderAt(OrderCancelled, orderOf(a), payment.AttemptID{}, t.At, beside.plus(amountsAt(t))))
		}
	}
	return events
}

// paying returns the index of the first success, or else of the last change of a success; -1 if there is none.
func paying(transitions []payment.Transition) int {
	last := -1
	for i, t := range transitions {
		switch kind := attemptType(t); {
		case kind == AttemptSucceeded:
			return i
		case kind == AttemptUpdated && t.To == fsm.Succeeded:
			last = i
		}
	}
	return last
}

func attemptType(t payment.Transition) string {
	switch {
	case t.Quiet, t.From == t.To && !t.To.Final() && !t.Reviewed, t.Cause.Kind == payment.CauseImport:
		return ""
	case t.From == t.To:
		return AttemptUpdated
	case t.To == fsm.Succeeded:
		return AttemptSucceeded
	case t.To == fsm.Failed:
		return AttemptFailed
	case t.To == fsm.Authorized:
		return AttemptAuthorized
	}
	return ""
}

func attemptAt(a *payment.Attempt, t payment.Transition) attempt {
	out := attempt{
		PaymentAttemptID: a.ID.String(), OrderID: string(a.OrderID), UserID: string(a.UserID), Account: a.Account,
		ProviderPaymentID: orNull(t.Facts.ProviderPaymentID), Status: string(t.To.Status()), Stage: payment.Attempt{State: t.To, Origin: a.Origin}.Stage(),
		Amount: a.Money.Minor, Currency: string(a.Money.Currency),
		amounts: amountsAt(t),
		Capture: a.Capture, Origin: cmp.Or(a.Origin, payment.OriginPaylatch), Version: t.Version, CreatedAt: stamp(a.CreatedAt), UpdatedAt: stamp(t.At),
	}
	out.Review = orNull(string(t.Facts.Review))
	if t.To == fsm.Failed {
		out.Failure = failureOf(a.Failure)
	}
	if m := a.Saved; m != nil {
		out.Saved = savedOf(*m)
	}
	return out
}

// order is an order that is paid or cancelled.
type order struct {
	OrderID  string `json:"order_id"`
	UserID   string `json:"user_id"`
	Status   string `json:"status"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	// amounts are those of all its attempts.
	amounts
	// PaymentAttemptID is the attempt that paid it; null for a cancelled one.
	PaymentAttemptID *string `json:"payment_attempt_id"`
	UpdatedAt        stamp   `json:"updated_at"`
}

// orderOf returns the published fields of an attempt's order. An attempt has the terms of its order.
func orderOf(a *payment.Attempt) payment.Order {
	return payment.Order{ID: a.OrderID, UserID: a.UserID, Money: a.Money}
}

// Order publishes that an order is paid, by which attempt, or cancelled. It has no versions of its own:
// late money may pay a cancelled one, and nothing follows that.
func Order(kind string, o payment.Order, by payment.AttemptID, at time.Time) Message {
	return orderAt(kind, o, by, at, amountsIn(o.Money.Currency, o.Attempts))
}

func orderAt(kind string, o payment.Order, by payment.AttemptID, at time.Time, sum amounts) Message {
	version, status := 1, payment.OrderCancelled
	out := order{
		OrderID: string(o.ID), UserID: string(o.UserID), Amount: o.Money.Minor, Currency: string(o.Money.Currency), amounts: sum, UpdatedAt: stamp(at),
	}
	if kind == OrderPaid {
		version, status = 2, payment.OrderPaid
		out.PaymentAttemptID = new(by.String())
	}
	out.Status = string(status)
	m := newMessage(kind, string(o.ID), version, at, out)
	m.OrderID = o.ID
	return m
}

// endedRefund is a refund that has ended, with the amounts of its attempt.
type endedRefund struct {
	RefundID         string `json:"refund_id"`
	PaymentAttemptID string `json:"payment_attempt_id"`
	OrderID          string `json:"order_id"`
	Amount           int64  `json:"amount"`
	Currency         string `json:"currency"`
	amounts
	Status      string               `json:"status"`
	Reason      *string              `json:"reason"`
	Failure     *failure             `json:"failure"`
	Origin      payment.RefundOrigin `json:"origin"`
	Version     int                  `json:"version"`
	CreatedAt   stamp                `json:"created_at"`
	UpdatedAt   stamp                `json:"updated_at"`
	FinalizedAt stamp                `json:"finalized_at"`
}

// Refund publishes that a refund of an attempt has ended, which it does once.
func Refund(r *payment.Refund, of payment.Attempt) Message {
	kind := RefundSucceeded
	if r.State == fsm.RefundFailed {
		kind = RefundFailed
	}
	m := newMessage(kind, r.ID.String(), r.Version, *r.FinalizedAt, endedRefund{
		RefundID: r.ID.String(), PaymentAttemptID: r.AttemptID.String(), OrderID: string(r.OrderID),
		Amount: r.Money.Minor, Currency: string(r.Money.Currency), amounts: amountsOf(of), Status: string(r.State),
		Reason: orNull(r.Reason), Failure: failureOf(r.Failure), Origin: r.Origin, Version: r.Version,
		CreatedAt: stamp(r.CreatedAt), UpdatedAt: stamp(r.UpdatedAt), FinalizedAt: stamp(*r.FinalizedAt),
	})
	m.OrderID, m.AttemptID = r.OrderID, r.AttemptID
	return m
}

// dispute is a dispute as a version had it, with the amounts of its attempt then.
type dispute struct {
	DisputeID         string  `json:"dispute_id"`
	PaymentAttemptID  string  `json:"payment_attempt_id"`
	OrderID           string  `json:"order_id"`
	ProviderDisputeID string  `json:"provider_dispute_id"`
	Status            string  `json:"status"`
	Reason            *string `json:"reason"`
	Amount            *int64  `json:"amount"`
	Currency          *string `json:"currency"`
	amounts
	DueBy    *stamp `json:"due_by"`
	Version  int    `json:"version"`
	OpenedAt stamp  `json:"opened_at"`
	ClosedAt *stamp `json:"closed_at"`
}

// Dispute publishes a change of an attempt's dispute. For a new dispute, was has version 0. If the first report is already
// the end (won or lost), only the end is published. An accepted dispute counts as lost.
func Dispute(d, was payment.Dispute, of payment.Attempt) Message {
	kind := DisputeUpdated
	switch {
	case d.State != was.State && d.State == fsm.DisputeWon:
		kind = DisputeWon
	case d.State != was.State && d.State.Closed():
		kind = DisputeLost
	case was.Version == 0:
		kind = DisputeOpened
	}
	out := dispute{
		DisputeID: d.ID.String(), PaymentAttemptID: d.AttemptID.String(), OrderID: string(d.OrderID), ProviderDisputeID: d.ProviderDisputeID,
		Status: string(d.State), Reason: orNull(d.Reason), amounts: amountsOf(of), Version: d.Version, OpenedAt: stamp(d.OpenedAt), ClosedAt: (*stamp)(d.ClosedAt),
	}
	if d.Money != nil {
		out.Amount, out.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
	}
	if !d.DueBy.IsZero() {
		out.DueBy = new(stamp(d.DueBy))
	}
	m := newMessage(kind, d.ID.String(), d.Version, d.UpdatedAt, out)
	m.OrderID, m.AttemptID = d.OrderID, d.AttemptID
	return m
}

// discrepancy is the payload of a discrepancy, open or resolved.
type discrepancy struct {
	DiscrepancyID    string  `json:"discrepancy_id"`
	Kind             string  `json:"kind"`
	About            string  `json:"about"`
	AboutID          string  `json:"about_id"`
	Status           string  `json:"status"`
	OrderID          *string `json:"order_id"`
	PaymentAttemptID *string `json:"payment_attempt_id"`
	Account          *string `json:"account"`
	Amount           *int64  `json:"amount"`
	Currency         *string `json:"currency"`
	Text             string  `json:"text"`
	OpenedAt         stamp   `json:"opened_at"`
	Resolution       *string `json:"resolution"`
	ResolvedAt       *stamp  `json:"resolved_at"`
}

// Discrepancy publishes that a discrepancy was opened or, if it is resolved, that it was.
func Discrepancy(d payment.Discrepancy) Message {
	kind, version, at := DiscrepancyOpened, 1, d.At
	out := discrepancy{
		DiscrepancyID: d.ID.String(), Kind: string(d.Kind), About: d.About, AboutID: d.AboutID, Status: "open",
		OrderID: orNull(string(d.OrderID)), Account: orNull(d.Event.Account), Text: d.Text, OpenedAt: stamp(d.At),
	}
	if d.AttemptID != nil {
		out.PaymentAttemptID = new(d.AttemptID.String())
	}
	if d.Money != nil {
		out.Amount, out.Currency = &d.Money.Minor, orNull(string(d.Money.Currency))
	}
	if d.Resolved != nil {
		kind, version, at = DiscrepancyResolved, 2, d.Resolved.At
		out.Status, out.Resolution, out.ResolvedAt = "resolved", orNull(string(d.Resolved.Resolution)), new(stamp(at))
	}
	m := newMessage(kind, d.ID.String(), version, at, out)
	m.OrderID = d.OrderID
	return m
}

func failureOf(f *payment.Failure) *failure {
	if f == nil {
		return nil
	}
	return &failure{Code: f.Code, Message: f.Message, ProviderCode: orNull(f.ProviderCode)}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
