package lemonsqueezy

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// The types of objects that are called.
const checkouts, orders = "checkouts", "orders"

// checkoutForm and orderForm are the forms of ids, as the samples of Lemon Squeezy's documentation have them.
var (
	checkoutForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	orderForm    = regexp.MustCompile(`^[0-9]{1,18}$`)
)

// checkout has attributes of a checkout (https://docs.lemonsqueezy.com/api/checkouts/the-checkout-object). None shows
// whether it was paid.
type checkout struct {
	Data struct {
		// Custom is an empty list for no members (lemonsqueezy.js, src/checkouts/types.ts).
		Custom json.RawMessage `json:"custom"`
	} `json:"checkout_data"`
	// Preview is an object where one was requested.
	Preview   json.RawMessage `json:"preview"`
	CreatedAt time.Time       `json:"created_at"`
	URL       string          `json:"url"`
}

// attempt is our id of the attempt, empty for none.
func (c checkout) attempt() string {
	var members map[string]any
	_ = json.Unmarshal(c.Data.Custom, &members) // what is no object has no members
	text, _ := members[attemptMember].(string)
	return text
}

// currency is that of the preview, empty without one.
func (c checkout) currency() string {
	var shown struct {
		Currency string `json:"currency"`
	}
	_ = json.Unmarshal(c.Preview, &shown) // what is no object has none
	return shown.Currency
}

// outcomeOf is the outcome of a checkout: it waits for its customer, whatever has become of it, since nothing but an
// order's webhook shows that it was paid.
func outcomeOf(o object[checkout]) (gateway.Outcome, error) {
	if o.Type != checkouts || !checkoutForm.MatchString(o.ID) || o.Attributes.URL == "" {
		return gateway.Outcome{}, errNoObject
	}
	waits := gateway.Outcome{Container: o.ID, References: []string{o.ID}, News: fsm.NewsActionRequired, NextAction: payment.Redirect(o.Attributes.URL)}
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
	return call.Digits{}.Money(units, o.Currency)
}

// left is what was not refunded.
func (o order) left() int64 { return *o.Total - o.RefundedAmount }

// valid reports whether an object is an order with an amount.
func valid(o object[order]) bool {
	return o.Type == orders && orderForm.MatchString(o.ID) && o.Attributes.Status != "" && o.Attributes.Total != nil
}

// outcome maps an order by its status, as its webhooks are read. A failed one leaves its page open. An unrecognised
// status is processing. Refunds have no names: only that all was refunded counts.
func outcome(o object[order]) (gateway.Outcome, error) {
	if !valid(o) {
		return gateway.Outcome{}, errNoObject
	}
	a := o.Attributes
	stands := gateway.Outcome{ProviderPaymentID: o.ID, Payee: a.StoreID.String(), News: fsm.NewsProcessing}
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
		stands.News, stands.PageOpen, stands.Failure = fsm.NewsFailed, true, payment.NewFailure("provider_rejected", a.Status)
	case "fraudulent":
		stands.News, stands.Failure = fsm.NewsFailed, payment.NewFailure("fraud_suspected", a.Status)
	}
	return stands, nil
}

func taken(o gateway.Outcome, a order) (gateway.Outcome, error) {
	money, err := a.money(*a.Total)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o.News, o.Money = fsm.NewsSucceeded, money
	if *a.Total > 0 && a.left() <= 0 {
		o.Refunds = []gateway.RefundOutcome{{News: fsm.NewsSucceeded, ProviderPaymentID: o.ProviderPaymentID, Whole: true}}
	}
	return o, nil
}
