package yookassa

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// The ways to confirm a payment, and the tokens that choose one; without a method of the pay's
// (payment_method.type) the customer chooses it there
// (https://yookassa.ru/developers/payment-acceptance/getting-started/payment-process#user-confirmation).
const (
	typeRedirect = "redirect"
	// typeEmbedded is YooKassa's widget on the shop's page.
	typeEmbedded = "embedded"
	typeQR       = "qr"
	// typeExternal is in an app or by a message, without the shop.
	typeExternal = "external"
	// typeApp is by a link to an app.
	typeApp = "mobile_application"
)

// confirmation requests one way to confirm a payment.
type confirmation struct {
	Type      string `json:"type"`
	ReturnURL string `json:"return_url,omitempty"`
	Locale    string `json:"locale,omitempty"`
}

// ways are the tokens that name how the customer confirms, not what is charged.
var ways = map[string]bool{ //nolint:gochecknoglobals // a table
	typeRedirect: true, typeEmbedded: true, typeQR: true, typeExternal: true, typeApp: true,
}

// confirms is the way to confirm that a pay's token chooses; redirect if it chooses none.
func confirms(d gateway.Details) string {
	if ways[d.Token] {
		return d.Token
	}
	return typeRedirect
}

// returns reports whether the customer comes back from this way to confirm, so that it needs an address.
func returns(way string) bool { return way == typeRedirect || way == typeApp }

// confirmationOf is nil for a way that needs an address to come back to, without one.
func confirmationOf(d gateway.Details) *confirmation {
	c := &confirmation{Type: confirms(d), Locale: locale(d.Customer.Locale)}
	switch {
	case returns(c.Type) && d.ReturnURL == "":
		return nil
	case returns(c.Type), c.Type == typeQR:
		c.ReturnURL = d.ReturnURL
	}
	return c
}

// locale is one of the two that YooKassa has; empty for any other.
func locale(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return map[string]string{"ru": "ru_RU", "en": "en_US"}[language]
}

// waiting is how an open payment is to be confirmed.
type waiting struct {
	Type  string `json:"type"`
	URL   string `json:"confirmation_url"`
	Token string `json:"confirmation_token"`
	Data  string `json:"confirmation_data"`
}

// action is what the customer must do; nil if the response has nothing.
func (w waiting) action() *payment.NextAction {
	switch {
	case w.URL != "":
		return payment.Redirect(w.URL)
	case w.Token != "":
		return &payment.NextAction{Type: payment.ActionSDK, Data: said(map[string]string{"confirmation_token": w.Token})}
	case w.Type == typeQR && w.Data != "":
		return &payment.NextAction{Type: payment.ActionDisplay, Data: said(map[string]string{"type": typeQR, "confirmation_data": w.Data})}
	case w.Type == typeExternal:
		return &payment.NextAction{Type: payment.ActionDisplay, Data: said(map[string]string{"type": typeExternal})}
	}
	return nil
}

func said(members map[string]string) json.RawMessage {
	text, _ := json.Marshal(members) //nolint:errchkjson // texts always marshal
	return text
}
