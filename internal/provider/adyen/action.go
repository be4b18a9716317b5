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

// waits reports whether the customer must act. A pending payment waits for its customer only if it has an action.
func (p paymentResponse) waits() bool {
	switch p.ResultCode {
	case "RedirectShopper", "IdentifyShopper", "ChallengeShopper", "PresentToShopper":
		return true
	case "Pending", "Received":
		return len(p.Action) > 0 && string(p.Action) != "null"
	}
	return false
}

// waiting returns the outcome of an offer that waits for its customer. The resulting payment may have another
// pspReference. An OFFER_CLOSED has the offer's pspReference.
func (p paymentResponse) waiting() gateway.Outcome {
	o := gateway.Outcome{Event: fsm.EventActionRequired, NextAction: nextAction(p.Action), Container: p.PSPReference}
	if p.PSPReference != "" {
		o.References = []string{p.PSPReference}
	}
	return o
}

// action is the part of an action that is needed to show it.
type action struct {
	Type      string          `json:"type"`
	URL       string          `json:"url"`
	Method    string          `json:"method"`
	Data      json.RawMessage `json:"data"`
	ExpiresAt string          `json:"expiresAt"`
}

// nextAction returns the customer's next action: a page, a voucher or a code, or Adyen's own script. The script takes
// the action unchanged, so the data are {"action": …}. nextAction returns nil if there is no action.
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

// expiry parses a time that may lack its time zone. It returns the zero time for invalid text.
func expiry(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}
