package razorpay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/razorpay"
)

const (
	statusCreated = "created" // an open link
	statusPaid    = "paid"
	statusFailed  = "failed" // a failed payment
)

// link is Razorpay's view of a payment link
// (https://razorpay.com/docs/api/payments/payment-links/entity/).
type link struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Currency    string `json:"currency"`
	Amount      *int64 `json:"amount"`
	AmountPaid  *int64 `json:"amount_paid"`
	OrderID     string `json:"order_id"`
	ReferenceID string `json:"reference_id"`
	ShortURL    string `json:"short_url"`
	Payments    []struct {
		PaymentID string `json:"payment_id"`
	} `json:"payments"`
}

// outcome maps a link by its status (https://razorpay.com/docs/payments/payment-links/states/). A link does not show the
// customer's failed payments: it stays open (see Client.tries). An unrecognized status is processing.
func (l link) outcome() (gateway.Outcome, error) {
	if l.ID == "" || l.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{Container: l.ID, References: []string{l.ID}, Event: fsm.EventProcessing}
	if l.OrderID != "" {
		o.References = append(o.References, l.OrderID)
	}
	var err error
	switch l.Status {
	case statusCreated:
		o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect(l.ShortURL)
	case statusPaid:
		o.Event, o.ProviderPaymentID = fsm.EventSucceeded, l.payment()
		o.Money, err = money(l.AmountPaid, l.Currency)
	case "cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case "expired":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", "")
	}
	return o, err
}

// payment returns the payment that paid the link, the first of several. A link that we make takes no partial payments.
func (l link) payment() string {
	if len(l.Payments) == 0 {
		return ""
	}
	return l.Payments[0].PaymentID
}

// paid is Razorpay's view of a payment on a link's page
// (https://razorpay.com/docs/api/payments/entity/).
type paid struct {
	ID          string `json:"id"`
	Entity      string `json:"entity"`
	Status      string `json:"status"`
	OrderID     string `json:"order_id"`
	Currency    string `json:"currency"`
	Amount      *int64 `json:"amount"`
	Refunded    int64  `json:"amount_refunded"`
	Captured    *bool  `json:"captured"`
	ErrorCode   string `json:"error_code"`
	ErrorReason string `json:"error_reason"`
	// CreatedAt is in seconds since 1970.
	CreatedAt int64     `json:"created_at"`
	Notes     noteTexts `json:"notes"`
}

func (p paid) failure() *payment.Failure {
	return payment.NewFailure(hooks.FailureCode(p.ErrorReason, p.ErrorCode))
}

// outcome maps a payment by its status (https://razorpay.com/docs/payments/payments/#payment-life-cycle). A failure is
// soft, because Razorpay may authorize the payment late
// (https://razorpay.com/docs/payments/payments/late-authorization/).
func (p paid) outcome() (gateway.Outcome, error) {
	if p.Entity != "payment" || p.ID == "" || p.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Event: fsm.EventProcessing}
	if p.OrderID != "" {
		o.Container, o.References = p.OrderID, []string{p.OrderID}
	}
	var err error
	switch p.Status {
	case "authorized":
		o.Event = fsm.EventAuthorized
		o.Money, err = money(p.Amount, p.Currency)
	case "refunded":
		if p.Captured != nil && !*p.Captured {
			// The payment was refunded before a capture, so the link can still be paid.
			o.Event, o.Failure = fsm.EventSoftFailed, payment.NewFailure("", "")
			break
		}
		fallthrough
	case "captured":
		o.Event = fsm.EventSucceeded
		o.Money, err = money(p.Amount, p.Currency)
	case statusFailed:
		o.Event, o.PageOpen = fsm.EventSoftFailed, true
		o.Failure = p.failure()
	}
	return o, err
}

// refund is Razorpay's view of a refund (https://razorpay.com/docs/api/refunds/entity/).
type refund struct {
	ID       string `json:"id"`
	Entity   string `json:"entity"`
	Status   string `json:"status"`
	Currency string `json:"currency"`
	Amount   *int64 `json:"amount"`
	Receipt  string `json:"receipt"`
	// Of is the id of the refunded payment.
	Of string `json:"payment_id"`
}

func (r refund) outcome() (gateway.RefundOutcome, error) {
	if r.Entity != "refund" || r.ID == "" || r.Status == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: r.Receipt, Event: fsm.EventProcessing}
	switch r.Status {
	case "processed":
		o.Event = fsm.EventSucceeded
	case "failed":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", "")
	}
	var err error
	o.Money, err = money(r.Amount, r.Currency)
	return o, err
}

// thousandths are the currencies with three decimals. Their last decimal must be 0
// (https://razorpay.com/docs/api/orders/create/).
var thousandths = map[payment.Currency]bool{"BHD": true, "KWD": true, "OMR": true} //nolint:gochecknoglobals // a table

// amount returns the amount in the currency's subunits, or an error if Razorpay does not accept the amount.
func amount(m payment.Money) (int64, error) {
	if m.Minor < 0 || thousandths[m.Currency] && m.Minor%10 != 0 {
		return 0, fmt.Errorf("%w: Razorpay takes no thousandths of %s", gateway.ErrUnsupportedRequest, m.Currency)
	}
	return m.Minor, nil
}

var errNoAmount = errors.New("the answer has no amount")

func money(units *int64, currency string) (*payment.Money, error) {
	if units == nil || *units < 0 || currency == "" {
		return nil, errNoAmount
	}
	return &payment.Money{Minor: *units, Currency: payment.Currency(strings.ToUpper(currency))}, nil
}
