package cloudpayments

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

// transaction is CloudPayments' view of a payment or a refund.
type transaction struct {
	TransactionID json.Number     `json:"TransactionId"`
	PublicID      string          `json:"PublicId"`
	TestMode      json.RawMessage `json:"TestMode"`
	InvoiceID     string          `json:"InvoiceId"`
	Amount        json.Number     `json:"Amount"`
	Currency      string          `json:"Currency"`
	Status        string          `json:"Status"`
	ReasonCode    json.Number     `json:"ReasonCode"`
	JSONData      json.RawMessage `json:"JsonData"`
	// The card. Token is set if CloudPayments has saved the card for the account.
	AccountID    string `json:"AccountId"`
	Token        string `json:"Token"`
	CardType     string `json:"CardType"`
	CardLastFour string `json:"CardLastFour"`
	CardExpDate  string `json:"CardExpDate"`
}

func parse(a answer) (transaction, error) {
	var t transaction
	if err := json.Unmarshal(a.Model, &t); err != nil {
		return transaction{}, fmt.Errorf("read a transaction: %w", err)
	}
	if t.TransactionID == "" || t.TransactionID == "0" {
		return transaction{}, errNameless
	}
	return t, nil
}

// statusDeclined is the status of one declined transaction. On the page and in the script, the payer may make another
// transaction (https://developers.cloudpayments.ru/#fail).
const statusDeclined = "Declined"

// live returns nil if the response does not state the mode.
func (t transaction) live() *bool {
	switch string(t.TestMode) {
	case "true":
		return new(false)
	case "false":
		return new(true)
	}
	return nil
}

func (t transaction) money() (*payment.Money, error) {
	return kit.ReadDecimal(string(t.Amount), t.Currency)
}

// reason returns ReasonCode, or "" for 0, "approved".
func (t transaction) reason() string {
	if t.ReasonCode == "0" {
		return ""
	}
	return string(t.ReasonCode)
}

// data returns the shop's own texts, which are JSON in a string.
func (t transaction) data() map[string]string {
	var text string
	if json.Unmarshal(t.JSONData, &text) != nil {
		text = string(t.JSONData)
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(text), &members)
	texts := map[string]string{}
	for name, member := range members {
		if json.Unmarshal(member, &text) == nil {
			texts[name] = text
		}
	}
	return texts
}

func read(a answer) (gateway.Outcome, error) {
	t, err := parse(a)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return t.outcome()
}

// outcome maps a transaction by its status (https://developers.cloudpayments.ru/#statusy-operatsiy). A decline is final:
// a retry is a new transaction. An unrecognized status is processing.
func (t transaction) outcome() (o gateway.Outcome, err error) {
	o = gateway.Outcome{ProviderPaymentID: string(t.TransactionID), Payee: t.PublicID, Live: t.live(), Event: fsm.EventProcessing}
	switch t.Status {
	case "":
		return gateway.Outcome{}, errNameless
	case "AwaitingAuthentication":
		o.Event = fsm.EventActionRequired
	case "Created", "Pending": // of a link that is not paid, from memory; any other transaction may be at the bank
		if t.data()[linkMark] != "" {
			o.Event = fsm.EventActionRequired
		}
	case "Authorized":
		o.Event, o.Saved = fsm.EventAuthorized, t.saved()
		o.Money, err = t.money()
	case "Completed":
		o.Event, o.Saved = fsm.EventSucceeded, t.saved()
		o.Money, err = t.money()
	case "Cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case statusDeclined:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure(hooks.FailureCode(t.reason()))
	}
	return o, err
}
