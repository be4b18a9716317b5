package square

import (
	"fmt"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// card is a card on file (https://developer.squareup.com/reference/square/objects/Card).
type card struct {
	ID      string        `json:"id"`
	Brand   read.Note     `json:"card_brand"`
	Last4   read.Note     `json:"last_4"`
	Month   *read.Integer `json:"exp_month"`
	Year    *read.Integer `json:"exp_year"`
	Enabled read.Word     `json:"enabled"`
}

// fill reads a card. A disabled card can't be enabled again, nor can a card that its holder had forgotten.
func (c card) fill(e webhooks.Event) (webhooks.Event, error) {
	if c.ID == "" {
		return e, fmt.Errorf("%w: %s without an id", webhooks.ErrPayload, e.Type)
	}
	e.Kind, e.Method = webhooks.KindMethodUpdated, &webhooks.Method{Tokens: []string{c.ID}, Type: "card"}
	if e.Type == "card.disabled" || e.Type == "card.forgotten" || c.Enabled == "false" {
		e.Kind = webhooks.KindMethodRemoved
	}
	if c.Last4 != "" {
		e.Method.Display = string(c.Brand) + " •••• " + string(c.Last4)
	}
	if c.Month != nil && c.Year != nil && *c.Month >= 1 && *c.Month <= 12 && *c.Year >= 2000 && *c.Year <= 9999 {
		e.Method.Expires = fmt.Sprintf("%04d-%02d", int64(*c.Year), int64(*c.Month))
	}
	return e, nil
}
