package gateway

import (
	"encoding/json"
	"fmt"
)

// TokenKind is what a payment method's token is, by its form.
type TokenKind int

// The kinds of tokens. A single-use one was made for this one payment; a stored one can be charged
// by any holder. TokenEither leaves it to the provider, which takes a stored one only with its
// customer.
const (
	TokenSingleUse TokenKind = iota
	TokenStored
	TokenEither
)

// Method is what an attempt is paid with. It is kept sealed for as long as the call may
// be sent again.
type Method struct {
	Token string `json:"token"`
	// Type is the provider's name for the sort of payment method; empty if not given.
	Type string `json:"type,omitempty"`
	// Stored is set if the caller declares the token as that of a stored payment method.
	Stored bool `json:"stored,omitempty"`
	// Customer is the owner at the provider.
	Customer string `json:"customer,omitempty"`
	// ReturnURL is where the customer comes back to.
	ReturnURL string `json:"return_url,omitempty"`
}

// Text is the method as ParseMethod reads it.
func (m Method) Text() string {
	text, _ := json.Marshal(m) //nolint:errchkjson // texts always marshal
	return string(text)
}

// ParseMethod reads what Text wrote.
func ParseMethod(text string) (m Method, err error) {
	if err = json.Unmarshal([]byte(text), &m); err != nil {
		err = fmt.Errorf("read a payment method: %w", err)
	}
	return m, err
}

// Fits returns ErrUnfit, with which nothing is sent, for a charge with a token of another kind than
// declared. Every adapter calls it first: a stored method is charged only together with its
// customer.
func (c Charge) Fits(kind TokenKind) error {
	if kind != TokenEither && c.Stored != (kind == TokenStored) {
		return fmt.Errorf("%w: stored is %t for a token that says otherwise", ErrUnfit, c.Stored)
	}
	return nil
}
