package yookassa

import (
	"encoding/json"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// These are the ways to confirm a payment, and also the tokens that choose them. If the charge has no method
// (payment_method.type), the customer chooses one during the confirmation
// (https://yookassa.ru/developers/payment-acceptance/getting-started/payment-process#user-confirmation).
const (
	typeRedirect = "redirect"
	// typeEmbedded is YooKassa's widget on the shop's page.
	typeEmbedded = "embedded"
	typeQR       = "qr"
	// typeExternal is a confirmation in an app or by a message, without the shop.
	typeExternal = "external"
	// typeApp is a confirmation by a link to an app.
	typeApp = "mobile_application"
)

// confirmation is a request for one way to confirm a payment.
type confirmation struct {
	Type      string `json:"type"`
	ReturnURL string `json:"return_url,omitempty"`
	Locale    string `json:"locale,omitempty"`
}

// ways are the tokens that name the way of the confirmation and not the payment method.
var ways = map[string]bool{ //nolint:gochecknoglobals // a table
	typeRedirect: true, typeEmbedded: true, typeQR: true, typeExternal: true, typeApp: true,
}

// confirms returns the way of the confirmation that the token chooses, or redirect.
func confirms(d gateway.Details) string {
	if ways[d.Token] {
		return d.Token
	}
	return typeRedirect
}

// returns reports whether the customer returns to the shop after this way of confirmation, so that a return address is
// required.
func returns(way string) bool { return way == typeRedirect || way == typeApp }

// confirmationOf returns nil if the way requires a return address and the charge has none.
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

// locale returns one of YooKassa's two locales, or "".
func locale(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return map[string]string{"ru": "ru_RU", "en": "en_US"}[language]
}

// waiting describes how an open payment must be confirmed.
type waiting struct {
	Type  string `json:"type"`
	URL   string `json:"confirmation_url"`
	Token string `json:"confirmation_token"`
	Data  string `json:"confirmation_data"`
}

// action returns the customer's next action, or nil if the response has none.
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
