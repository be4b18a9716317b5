package sandbox

import (
	"encoding/json"
	"errors"
)

type eventBody struct {
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Created string    `json:"created"`
	Data    eventData `json:"data"`
}

type eventData struct {
	ChargeID    string  `json:"charge_id"`
	RefundID    *string `json:"refund_id"`
	Reference   string  `json:"reference"`
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	FailureCode *string `json:"failure_code"`
	OrderID     string  `json:"order_id,omitempty"`

	// Those of a dispute. EntryID is the ledger's entry of the money that moved with it.
	DisputeID     string `json:"dispute_id,omitempty"`
	DisputeStatus Status `json:"dispute_status,omitempty"`
	Reason        string `json:"reason,omitempty"`
	DueBy         string `json:"due_by,omitempty"`
	EntryID       string `json:"entry_id,omitempty"`
}

func (t *tx) emit(c *chargeRecord, kind string, amount int64) {
	t.send(c, kind, eventData{Amount: amount, FailureCode: c.FailureCode})
}

func (t *tx) emitRefund(c *chargeRecord, re refund, kind string) {
	t.send(c, kind, eventData{Amount: re.Amount, RefundID: &re.ID})
}

func (t *tx) send(c *chargeRecord, kind string, data eventData) {
	data.ChargeID, data.Reference, data.OrderID, data.Currency = c.ID, c.Reference, c.OrderID, c.Currency
	body := eventBody{ID: newID("evt_"), Type: kind, Created: Stamp(t.now), Data: data}
	text, err := json.Marshal(body)
	t.err = errors.Join(t.err, err)
	t.entry.Events = append(t.entry.Events, event{
		Event: Event{ID: body.ID, Body: string(text), Copies: c.Copies}, At: t.now.Add(t.lag), Created: body.Created,
		Listed: t.loses(len(t.listed) + len(t.entry.Events)),
	})
}
