package gateway

import (
	"encoding/json"
	"fmt"
)

// TokenKind is the kind of a payment method's token, by its form.
type TokenKind int

// The kinds of tokens. A single-use token was made for this one payment. A stored token can be charged by any holder.
// TokenEither leaves the decision to the provider, which accepts a stored token only with its customer.
const (
	TokenSingleUse TokenKind = iota
	TokenStored
	TokenEither
)

// Details are the data that a pay carries beside its amount. They are kept sealed for as long as the call may be sent
// again. Each adapter passes on the fields that its provider supports.
type Details struct {
	Token string `json:"token"`
	// MethodType is the provider's name for the sort of payment method; empty if not given.
	MethodType string `json:"type,omitempty"`
	// Stored is set if the token belongs to a payment method that the provider keeps for the customer.
	Stored bool `json:"stored,omitempty"`
	// Save requests that the provider stores the method for the customer, in its presence.
	Save bool `json:"save,omitempty"`
	// Unattended is set if the merchant charges a stored method without the customer.
	Unattended bool `json:"unattended,omitempty"`
	// ReturnURL is where the customer comes back to.
	ReturnURL string `json:"return_url,omitempty"`
	// StatementDescriptor is the text on the customer's statement.
	StatementDescriptor string   `json:"statement_descriptor,omitempty"`
	Customer            Customer `json:"customer,omitzero"`
	Browser             *Browser `json:"browser,omitempty"`
	Lines               []Line   `json:"lines,omitempty"`
	// ProviderData are members of the provider's own request, as JSON, by their names.
	ProviderData Data `json:"provider_data,omitempty"`
}

// Browser is the data of the customer's browser for 3-D Secure (EMVCo, "Browser Information").
type Browser struct {
	UserAgent    string `json:"user_agent,omitempty"`
	AcceptHeader string `json:"accept_header,omitempty"`
	Language     string `json:"language,omitempty"`
	ColorDepth   int    `json:"color_depth,omitempty"`
	ScreenHeight int    `json:"screen_height,omitempty"`
	ScreenWidth  int    `json:"screen_width,omitempty"`
	// TimeZoneOffset is in minutes, as JavaScript has it: -60 in Berlin in winter.
	TimeZoneOffset int  `json:"time_zone_offset,omitempty"`
	JavaEnabled    bool `json:"java_enabled,omitempty"`
}

// Text is the details as ParseDetails reads them.
func (d Details) Text() string {
	text, _ := json.Marshal(d) //nolint:errchkjson // texts and JSON always marshal
	return string(text)
}

// ParseDetails reads the text that Text wrote.
func ParseDetails(text string) (d Details, err error) {
	if err = json.Unmarshal([]byte(text), &d); err != nil {
		err = fmt.Errorf("read the details of a pay: %w", err)
	}
	return d, err
}

// Fits returns ErrUnsupportedRequest for a charge with a token of another kind than declared. Nothing is sent then. Every adapter
// calls it first: a stored method is charged only together with its customer.
func (d Details) Fits(kind TokenKind) error {
	if kind != TokenEither && d.Stored != (kind == TokenStored) {
		return fmt.Errorf("%w: stored is %t, which does not fit the token", ErrUnsupportedRequest, d.Stored)
	}
	return nil
}
