// Package paymentsjson is the JSON form of payment_attempts.payments. The column has an attempt's payments and
// containers.
package paymentsjson

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Payments are an attempt's payments and containers as the row has them. Text of another form can't be read: the query that
// reads it fails, so that no attempt is taken for one without payments. Names are short because each change of an attempt
// writes them again.
type Payments struct {
	Payments   []Payment   `json:"p,omitempty"`
	Containers []Container `json:"c,omitempty"`
	PageOpen   bool        `json:"open,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. A member that is not known is an error: it may be a payment.
func (p *Payments) UnmarshalJSON(text []byte) error {
	type plain Payments
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode((*plain)(p)); err != nil {
		return fmt.Errorf("read payments: %w", err)
	}
	return nil
}

// Payment is one payment at the provider. Its amounts are in minor units of the attempt's currency.
type Payment struct {
	ID         string `json:"id,omitempty"`
	State      string `json:"st"`
	Container  string `json:"in,omitempty"`
	NamedBy    string `json:"by,omitempty"`
	Authorized int64  `json:"au,omitempty"`
	Captured   int64  `json:"ca,omitempty"`
	Refunded   int64  `json:"re,omitempty"`
	Disputed   int64  `json:"di,omitempty"`
	Failure    string `json:"fa,omitempty"`
	// First and Reported are microseconds since 1970, 0 without a time. Last is microseconds after First.
	First    int64 `json:"t,omitempty"`
	Last     int64 `json:"l,omitempty"`
	Reported int64 `json:"r,omitempty"`
}

// Container is a page, session or order in which payments are made.
type Container struct {
	ID    string `json:"id"`
	Ended bool   `json:"end,omitempty"`
}
