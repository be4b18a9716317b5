package mollie

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/mollie"
)

type amount struct {
	Currency string `json:"currency"`
	Value    string `json:"value"`
}

func (a *amount) money() (*payment.Money, error) {
	if a == nil {
		return nil, errNameless
	}
	return kit.ReadDecimal(a.Value, a.Currency)
}

// some reports whether the amount exists and is not zero.
func (a *amount) some() bool {
	sum, err := a.money()
	return a != nil && (err != nil || sum.Minor > 0)
}

type link struct {
	Href string `json:"href"`
}

// object is Mollie's view of a payment
// (https://docs.mollie.com/reference/get-payment).
type object struct {
	Resource          string          `json:"resource"`
	ID                string          `json:"id"`
	Mode              string          `json:"mode"`
	ProfileID         string          `json:"profileId"`
	OrderID           string          `json:"orderId"`
	Status            string          `json:"status"`
	Amount            *amount         `json:"amount"`
	AmountCaptured    *amount         `json:"amountCaptured"`
	AmountChargedBack *amount         `json:"amountChargedBack"`
	Metadata          json.RawMessage `json:"metadata"`
	Method            string          `json:"method"`
	SequenceType      string          `json:"sequenceType"`
	CustomerID        string          `json:"customerId"`
	MandateID         string          `json:"mandateId"`
	Details           struct {
		FailureReason string `json:"failureReason"`
		CardLabel     string `json:"cardLabel"`
		CardNumber    string `json:"cardNumber"`
		CardExpiry    string `json:"cardExpiryDate"`
		Account       string `json:"consumerAccount"`
	} `json:"details"`
	StatusReason struct {
		Code string `json:"code"`
	} `json:"statusReason"`
	Embedded struct {
		Captures    []capture    `json:"captures"`
		Refunds     []refund     `json:"refunds"`
		Chargebacks []chargeback `json:"chargebacks"`
	} `json:"_embedded"`
	Links struct {
		Checkout link `json:"checkout"`
	} `json:"_links"`
}

type capture struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

// chargeback is Mollie's view of a chargeback (https://docs.mollie.com/reference/get-chargeback).
type chargeback struct {
	ID         string    `json:"id"`
	Amount     *amount   `json:"amount"`
	CreatedAt  time.Time `json:"createdAt"`
	ReversedAt time.Time `json:"reversedAt"`
	Reason     struct {
		Code string `json:"code"`
	} `json:"reason"`
}

// dispute returns the dispute of a chargeback. A shop can't answer it at Mollie. It is lost unless the chargeback is
// reversed.
func (c chargeback) dispute(m payment.Money) payment.DisputeReport {
	d := payment.DisputeReport{ProviderID: c.ID, Status: fsm.DisputeLost, Reason: c.Reason.Code, Money: &m, At: c.CreatedAt.UTC()}
	if !c.ReversedAt.IsZero() {
		d.Status, d.At = fsm.DisputeWon, c.ReversedAt.UTC()
	}
	return d
}

// movements returns the chargeback and its reversal, if there is one. Mollie states only the chargeback's amount.
func (c chargeback) movements() ([]payment.MovementReport, error) {
	sum, err := c.Amount.money()
	switch {
	case err != nil:
		return nil, err
	case c.ID == "":
		return nil, errNameless
	}
	moved := []payment.MovementReport{{Kind: payment.MovementChargeback, Dispute: c.ID, Money: *sum, At: c.CreatedAt.UTC()}}
	if !c.ReversedAt.IsZero() {
		moved = append(moved, payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: c.ID, Whole: true, Money: *sum, At: c.ReversedAt.UTC()})
	}
	return moved, nil
}

// captured returns the status of one of the payment's captures.
func (p object) captured(id string) string {
	for _, c := range p.Embedded.Captures {
		if c.ID == id {
			return c.Status
		}
	}
	return ""
}

// outcome maps a payment by its status (https://docs.mollie.com/docs/status-change). Failed, canceled and expired are
// final. An unrecognized status is processing.
func outcome(p object) (gateway.Outcome, error) {
	if p.Resource != "payment" || p.ID == "" || p.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Container: p.OrderID, Payee: p.ProfileID, Live: p.live(), Event: fsm.EventProcessing}
	// A classic webhook contains only Mollie's id of the payment.
	if ours := texts(p.Metadata)["payment_attempt_id"]; ours != "" {
		o.References = []string{ours}
	}
	if p.OrderID != "" {
		o.References = append(o.References, p.OrderID)
	}
	var err error
	switch p.Status {
	case "open":
		if page := p.Links.Checkout.Href; page != "" {
			o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect(page)
		}
	case "authorized":
		err = p.held(&o)
	case "paid":
		err = p.paid(&o)
	case "failed":
		o.Event, o.Failure = fsm.EventFailed, p.failure()
	case "canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case "expired":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", "")
	}
	return o, err
}

// live returns nil if the response does not state the mode.
func (p object) live() *bool {
	if p.Mode != "live" && p.Mode != "test" {
		return nil
	}
	return new(p.Mode == "live")
}

// held maps a hold. A partially captured hold may remain for the rest. A hold with a pending capture can't be captured
// again.
func (p object) held(o *gateway.Outcome) error {
	if p.AmountCaptured.some() {
		return p.paid(o)
	}
	for _, c := range p.Embedded.Captures {
		if c.Status == "pending" || c.Status == "succeeded" {
			return nil
		}
	}
	o.Event, o.Saved = fsm.EventAuthorized, p.saved()
	var err error
	o.Money, err = p.Amount.money()
	return err
}

// paid adds the captured amount, the refunds and the chargebacks. Refunds and chargebacks leave the status "paid".
func (p object) paid(o *gateway.Outcome) error {
	o.Event, o.Saved = fsm.EventSucceeded, p.saved()
	sum := p.Amount
	if p.AmountCaptured.some() {
		sum = p.AmountCaptured
	}
	var err error
	if o.Money, err = sum.money(); err != nil {
		return err
	}
	for _, r := range p.Embedded.Refunds {
		one, err := refundOutcome(r)
		if err != nil {
			return err
		}
		o.Refunds = append(o.Refunds, one)
	}
	return p.chargedBack(o)
}

// chargedBack adds the payment's chargebacks, their reversals and their disputes. The total counts only if the
// chargebacks are not listed.
func (p object) chargedBack(o *gateway.Outcome) error {
	for _, c := range p.Embedded.Chargebacks {
		moved, err := c.movements()
		if err != nil {
			return err
		}
		o.Movements = append(o.Movements, moved...)
		o.Disputes = append(o.Disputes, c.dispute(moved[0].Money))
	}
	if len(o.Movements) > 0 || !p.AmountChargedBack.some() {
		return nil
	}
	sum, err := p.AmountChargedBack.money()
	if err != nil {
		return err
	}
	o.Movements = []payment.MovementReport{{Kind: payment.MovementChargeback, Money: *sum}}
	return nil
}

// failure returns the reason of a declined card, if Mollie reports one.
func (p object) failure() *payment.Failure {
	return payment.NewFailure(hooks.FailureCode(cmp.Or(p.Details.FailureReason, p.StatusReason.Code)))
}

// refund is Mollie's view of a refund (https://docs.mollie.com/reference/get-refund).
type refund struct {
	Resource string          `json:"resource"`
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Amount   *amount         `json:"amount"`
	Metadata json.RawMessage `json:"metadata"`
}

func refundOutcome(r refund) (gateway.RefundOutcome, error) {
	if r.Resource != "refund" || r.ID == "" || r.Status == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, Reference: texts(r.Metadata)[refundName], Event: fsm.EventProcessing}
	switch r.Status {
	case "refunded":
		o.Event = fsm.EventSucceeded
	case "failed":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("provider_rejected", "")
	case "canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	}
	var err error
	o.Money, err = r.Amount.money()
	return o, err
}

// texts returns the string members of metadata. Mollie stores metadata as it was sent: an object, an object in a string,
// or another value.
func texts(raw json.RawMessage) map[string]string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	found := map[string]string{}
	for name, value := range members {
		if s, ok := value.(string); ok {
			found[name] = s
		}
	}
	return found
}
