package adyen

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// waits reports whether the customer must act. A pending payment waits for that where it has an
// action.
func (p paymentResponse) waits() bool {
	switch p.ResultCode {
	case "RedirectShopper", "IdentifyShopper", "ChallengeShopper", "PresentToShopper":
		return true
	case "Pending", "Received":
		return len(p.Action) > 0 && string(p.Action) != "null"
	}
	return false
}

// waiting is an offer that waits for its customer. What they make of it is a payment, whose pspReference may be another;
// an OFFER_CLOSED has that of the offer.
func (p paymentResponse) waiting() gateway.Outcome {
	o := gateway.Outcome{News: fsm.NewsActionRequired, NextAction: nextAction(p.Action), Container: p.PSPReference}
	if p.PSPReference != "" {
		o.References = []string{p.PSPReference}
	}
	return o
}

// action is as much of one as is needed to show it.
type action struct {
	Type      string          `json:"type"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
	Data      json.RawMessage `json:"data"`
	ExpiresAt string          `json:"expiresAt"`
}

// nextAction is how the customer goes on: by a page, by a voucher or a code, else by Adyen's own
// script, which takes the action as it is: the data are {"action": …}. It is nil for none.
func nextAction(raw json.RawMessage) *payment.NextAction {
	var a action
	if len(raw) == 0 || json.Unmarshal(raw, &a) != nil || a.Type == "" {
		return nil
	}
	next := &payment.NextAction{Type: payment.ActionSDK, Data: slices.Concat([]byte(`{"action":`), raw, []byte("}")), ExpiresAt: expiry(a.ExpiresAt)}
	switch {
	case a.Type == "redirect" && a.Method != http.MethodPost && a.URL != "":
		return payment.Redirect(a.URL)
	case a.Type == "redirect":
		var fields map[string]string
		if a.URL == "" || json.Unmarshal(a.Data, &fields) != nil {
			return next
		}
		return &payment.NextAction{Type: payment.ActionPostForm, URL: a.URL, Fields: fields}
	case a.Type == "voucher", a.Type == "bankTransfer", a.Type == "qrCode":
		next.Type = payment.ActionDisplay
	}
	return next
}

// expiry reads a time that may lack its zone; zero if it is none.
func expiry(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}
