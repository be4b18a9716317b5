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
}

func (t *tx) emit(c *chargeRecord, kind string, amount int64) {
	t.send(c, kind, eventData{Amount: amount, FailureCode: c.FailureCode})
}

func (t *tx) emitRefund(c *chargeRecord, re refund, kind string) {
	t.send(c, kind, eventData{Amount: re.Amount, RefundID: &re.ID})
}

func (t *tx) send(c *chargeRecord, kind string, data eventData) {
	if !t.emits {
		return
	}
	data.ChargeID, data.Reference, data.Currency = c.ID, c.Reference, c.Currency
	body := eventBody{ID: newID("evt_"), Type: kind, Created: stamp(t.now), Data: data}
	text, err := json.Marshal(body)
	t.err = errors.Join(t.err, err)
	t.entry.Events = append(t.entry.Events, event{
		ID: body.ID, Body: string(text), At: t.now.Add(t.lag), Copies: c.Copies,
	})
}
