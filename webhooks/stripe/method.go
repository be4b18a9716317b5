package stripe

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// methodKinds are the events of stored payment methods that change or end (https://docs.stripe.com/api/events/types). A detached
// method can't be attached again. payment_method.attached is none of them: what a payment stored comes with the payment.
var methodKinds = map[string]webhooks.Kind{
	"payment_method.updated":               webhooks.KindMethodUpdated,
	"payment_method.automatically_updated": webhooks.KindMethodUpdated,
	"payment_method.detached":              webhooks.KindMethodRemoved,
	"customer.source.updated":              webhooks.KindMethodUpdated,
	"customer.source.deleted":              webhooks.KindMethodRemoved,
}

// card is a card in a payment method or a source, or an older card object itself.
type card struct {
	Brand read.Note     `json:"brand"`
	Last4 read.Note     `json:"last4"`
	Month *read.Integer `json:"exp_month"`
	Year  *read.Integer `json:"exp_year"`
}

// debit is a bank account in a payment method, or an older bank account object itself.
type debit struct {
	Bank  read.Note `json:"bank_name"`
	Last4 read.Note `json:"last4"`
}

// methodData holds the fields read from a payment method, a source, a card or a bank account.
type methodData struct {
	ID     string                `json:"id"`
	Object read.Word             `json:"object"`
	Type   read.Note             `json:"type"`
	Card   read.Optional[*card]  `json:"card"`
	SEPA   read.Optional[*debit] `json:"sepa_debit"`
	US     read.Optional[*debit] `json:"us_bank_account"`
}

// withMethod adds the stored payment method to an event.
func withMethod(e webhooks.Event, kind webhooks.Kind, raw json.RawMessage) (webhooks.Event, error) {
	var m methodData
	if err := read.JSON("object of "+e.Type, raw, &m); err != nil {
		return e, err
	}
	if m.ID == "" {
		return e, fmt.Errorf("%w: %s without an id", webhooks.ErrPayload, e.Type)
	}
	if m.Object == "card" {
		read.Loosely(raw, &m.Card.Value)
	}
	e.Kind, e.Method = kind, &webhooks.Method{Tokens: []string{m.ID}, Type: cmp.Or(string(m.Type), string(m.Object))}
	switch bank := cmp.Or(m.SEPA.Value, m.US.Value); {
	case m.Card.Value != nil:
		c := m.Card.Value
		e.Method.Display = MethodDisplay(string(c.Brand), string(c.Last4))
		if c.Month != nil && c.Year != nil {
			e.Method.Expires = MethodExpires(int64(*c.Year), int64(*c.Month))
		}
	case bank != nil:
		e.Method.Display = MethodDisplay(string(bank.Bank), string(bank.Last4))
	}
	return e, nil
}

// MethodDisplay is a stored payment method for people, by the brand of its card or the name of its bank.
func MethodDisplay(of, last4 string) string {
	switch {
	case last4 == "":
		return of
	case of == "":
		return "•••• " + last4
	}
	return of + " •••• " + last4
}

// MethodExpires is the last month of a card, as YYYY-MM; empty for a month that is none.
func MethodExpires(year, month int64) string {
	if year < 2000 || year > 9999 || month < 1 || month > 12 {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", year, month)
}
