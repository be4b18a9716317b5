package lemonsqueezy

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// These are the types of objects that the adapter reads.
const checkouts, orders = "checkouts", "orders"

// checkoutForm and orderForm are the forms of ids in the samples of Lemon Squeezy's documentation.
var (
	checkoutForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	orderForm    = regexp.MustCompile(`^[0-9]{1,18}$`)
)

// checkout has attributes of a checkout (https://docs.lemonsqueezy.com/api/checkouts/the-checkout-object). No attribute
// shows whether it was paid.
type checkout struct {
	Data struct {
		// Custom is an empty list if it has no members (lemonsqueezy.js, src/checkouts/types.ts).
		Custom json.RawMessage `json:"custom"`
	} `json:"checkout_data"`
	// Preview is an object if it was requested.
	Preview   json.RawMessage `json:"preview"`
	CreatedAt time.Time       `json:"created_at"`
	URL       string          `json:"url"`
}

// attempt returns our id of the attempt, or "".
func (c checkout) attempt() string {
	var members map[string]any
	_ = json.Unmarshal(c.Data.Custom, &members) // a value that is not an object has no members
	text, _ := members[attemptMember].(string)
	return text
}

// currency returns the preview's currency, or "" without a preview.
func (c checkout) currency() string {
	var shown struct {
		Currency string `json:"currency"`
	}
	_ = json.Unmarshal(c.Preview, &shown) // a value that is not an object has no currency
	return shown.Currency
}

// outcomeOf maps a checkout. It always waits for its customer, because only the webhook of an order shows that the
// checkout was paid.
func outcomeOf(o object[checkout]) (gateway.Outcome, error) {
	if o.Type != checkouts || !checkoutForm.MatchString(o.ID) || o.Attributes.URL == "" {
		return gateway.Outcome{}, errNoObject
	}
	waits := gateway.Outcome{Container: o.ID, References: []string{o.ID}, Event: fsm.EventActionRequired, NextAction: payment.Redirect(o.Attributes.URL)}
	if ours := o.Attributes.attempt(); ours != "" {
		waits.References = []string{ours, o.ID}
	}
	return waits, nil
}

// order has attributes of an order (https://docs.lemonsqueezy.com/api/orders/the-order-object).
type order struct {
	StoreID        json.Number `json:"store_id"`
	TestMode       *bool       `json:"test_mode"`
	Identifier     string      `json:"identifier"`
	Status         string      `json:"status"`
	Currency       string      `json:"currency"`
	Total          *int64      `json:"total"`
	RefundedAmount int64       `json:"refunded_amount"`
}

func (o order) money(units int64) (*payment.Money, error) {
	return kit.Digits{}.Money(units, o.Currency)
}

// left returns the amount that is not refunded.
func (o order) left() int64 { return *o.Total - o.RefundedAmount }

// valid reports whether an object is an order with an amount.
func valid(o object[order]) bool {
	return o.Type == orders && orderForm.MatchString(o.ID) && o.Attributes.Status != "" && o.Attributes.Total != nil
}

// outcome maps an order by its status, as the webhook reader does. The page of a failed order stays open. An
// unrecognised status is processing. Refunds have no ids, so only a full refund counts.
func outcome(o object[order]) (gateway.Outcome, error) {
	if !valid(o) {
		return gateway.Outcome{}, errNoObject
	}
	a := o.Attributes
	stands := gateway.Outcome{ProviderPaymentID: o.ID, Payee: a.StoreID.String(), Event: fsm.EventProcessing}
	if a.TestMode != nil {
		stands.Live = new(!*a.TestMode)
	}
	if a.Identifier != "" {
		stands.References = []string{a.Identifier}
	}
	switch a.Status {
	case "paid", "refunded", "partial_refund":
		return taken(stands, a)
	case "failed":
		stands.Event, stands.PageOpen, stands.Failure = fsm.EventFailed, true, payment.NewFailure("provider_rejected", a.Status)
	case "fraudulent":
		stands.Event, stands.Failure = fsm.EventFailed, payment.NewFailure("fraud_suspected", a.Status)
	}
	return stands, nil
}

func taken(o gateway.Outcome, a order) (gateway.Outcome, error) {
	money, err := a.money(*a.Total)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o.Event, o.Money = fsm.EventSucceeded, money
	if *a.Total > 0 && a.left() <= 0 {
		o.Refunds = []gateway.RefundOutcome{{Event: fsm.EventSucceeded, ProviderPaymentID: o.ProviderPaymentID, Whole: true}}
	}
	return o, nil
}
