package paddle

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/paddle"
)

// transaction is Paddle's view of a payment (https://developer.paddle.com/api-reference/transactions/overview).
type transaction struct {
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Origin     string          `json:"origin"`
	CustomData json.RawMessage `json:"custom_data"`
	Currency   string          `json:"currency_code"`
	Checkout   struct {
		URL string `json:"url"`
	} `json:"checkout"`
	Details struct {
		Totals struct {
			GrandTotal string `json:"grand_total"`
		} `json:"totals"`
		PayoutTotals *payoutTotals `json:"payout_totals"`
		LineItems    []lineItem    `json:"line_items"`
	} `json:"details"`
}

// lineItem is an item and the amount that the customer pays for it.
type lineItem struct {
	ID     string `json:"id"`
	Totals struct {
		Total string `json:"total"`
	} `json:"totals"`
}

// These are members of custom_data: the attempt's id, which the webhook reader uses, and the charge's token.
const attemptMember, tokenMember = "payment_attempt_id", "payment_method"

// custom returns a member of custom_data, or "".
func (t transaction) custom(name string) string {
	var members map[string]any
	_ = json.Unmarshal(t.CustomData, &members) // a value that is not an object has no members
	text, _ := members[name].(string)
	return text
}

// attempt returns our id of the attempt, or "". A later charge of a subscription has a copy of this id, but it is
// another sale.
func (t transaction) attempt() string {
	if strings.HasPrefix(t.Origin, hooks.RenewalPrefix) {
		return ""
	}
	return t.custom(attemptMember)
}

const (
	draft, ready, billed = "draft", "ready", "billed"
	paid, completed      = "paid", "completed"
	canceled, pastDue    = "canceled", "past_due"
)

// state maps a status (https://developer.paddle.com/api-reference/transactions/create-transaction.md). A transaction is
// a draft until its customer has entered an address. It is then ready until the customer pays, even after failed tries.
// An unrecognised status is processing.
func (t transaction) state() fsm.Event {
	switch t.Status {
	case draft, ready:
		return fsm.EventActionRequired
	case paid, completed:
		return fsm.EventSucceeded
	case canceled:
		return fsm.EventFailed
	case pastDue:
		return fsm.EventSoftFailed
	}
	return fsm.EventProcessing
}

func (t transaction) outcome() (gateway.Outcome, error) {
	if t.ID == "" || t.Status == "" {
		return gateway.Outcome{}, errNoObject
	}
	o := gateway.Outcome{ProviderPaymentID: t.ID, Event: t.state()}
	if ours := t.attempt(); ours != "" {
		o.References = []string{ours}
	}
	var err error
	switch t.Status {
	case draft, ready:
		o.NextAction = t.action()
	case paid, completed:
		o.Money, err = amount(t.Details.Totals.GrandTotal, t.Currency)
	case canceled:
		o.Failure = payment.NewFailure("canceled", "")
	case pastDue:
		o.Failure = payment.NewFailure("provider_rejected", pastDue)
	}
	return o, err
}

// action returns the customer's next action: Paddle.js, which opens the transaction
// (https://developer.paddle.com/build/transactions/pass-transaction-checkout/), or the page that opens it. An account
// without a default payment link has no page.
func (t transaction) action() *payment.NextAction {
	if t.custom(tokenMember) != script && t.Checkout.URL != "" {
		return payment.Redirect(t.Checkout.URL)
	}
	data, err := json.Marshal(map[string]string{"transactionId": t.ID})
	if err != nil {
		return nil
	}
	return &payment.NextAction{Type: payment.ActionSDK, Data: data}
}

// amount parses an amount in minor units.
func amount(text, currency string) (*payment.Money, error) {
	units, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, errNoObject
	}
	return digits.Money(units, currency)
}
