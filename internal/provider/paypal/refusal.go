package paypal

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

// refusal is PayPal's error object (https://developer.paypal.com/api/rest/responses/#handle-errors). It omits the
// description, which may quote the request.
type refusal struct {
	status  int
	Name    string `json:"name"`
	DebugID string `json:"debug_id"`
	Details []struct {
		Issue string `json:"issue"`
	} `json:"details"`
}

// code returns the most specific code.
func (r *refusal) code() string {
	if len(r.Details) > 0 && r.Details[0].Issue != "" {
		return r.Details[0].Issue
	}
	return r.Name
}

// is reports whether the code is the error's name or issue.
func (r *refusal) is(code string) bool { return r.Name == code || r.code() == code }

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("paypal responded with %d %s, debug id %s", r.status, r.code(), r.DebugID)
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// PayPal's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said refusal
	if err := json.Unmarshal(a.Body, &said); err != nil || said.Name == "" {
		if !tokenRefused(a) {
			return nil, fmt.Errorf("the response with status %d is not in PayPal's format", a.Status)
		}
		said.Name = "invalid_token"
	}
	said.status = a.Status
	if !said.definitive() {
		return nil, &said
	}
	return &said, nil
}

// tokenRefused reports whether PayPal rejected the access token.
func tokenRefused(a kit.Answer) bool {
	var said struct {
		Error string `json:"error"`
	}
	return a.Status == http.StatusUnauthorized && json.Unmarshal(a.Body, &said) == nil && said.Error == "invalid_token"
}

// definitive reports whether the error refuses this request. Status 409 and errors about a request in progress concern
// another call. 429 and 5xx are transient.
func (r *refusal) definitive() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
	default:
		return false
	}
	switch r.code() {
	case "ORDER_COMPLETION_IN_PROGRESS", "PREVIOUS_REQUEST_IN_PROGRESS", "DUPLICATE_REQUEST_ID":
		return false
	}
	return true
}

// Missing implements kit.Refusal.
func (r *refusal) Missing() bool {
	return r.status == http.StatusNotFound && r.Name == "RESOURCE_NOT_FOUND"
}

// turnedAway reports whether PayPal rejected the app's credentials or permissions. An earlier call may have succeeded.
func (r *refusal) turnedAway() bool {
	return r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
}

// early reports whether the order was not approved yet, or the customer must act again. The customer may have approved
// the order since.
func (r *refusal) early(approved bool) bool {
	return r.code() == "ORDER_NOT_APPROVED" || r.code() == "PAYER_ACTION_REQUIRED" && !approved
}

// declined reports whether the payment method was declined.
func (r *refusal) declined() bool { return declines[r.code()] != "" }

func (r *refusal) failure() *payment.Failure {
	return payment.NewFailure(declines[r.code()], r.code())
}

// declines maps the issues of a payment method to our codes. Any other issue is provider_rejected
// (https://developer.paypal.com/api/rest/reference/orders/v2/errors/).
var declines = map[string]webhooks.FailureCode{ //nolint:gochecknoglobals // a table
	"INSTRUMENT_DECLINED":                     "card_declined",
	"PAYMENT_SOURCE_DECLINED_BY_PROCESSOR":    "card_declined",
	"PAYMENT_SOURCE_CANNOT_BE_USED":           "card_declined",
	"PAYER_CANNOT_PAY":                        "card_declined",
	"TRANSACTION_REFUSED":                     "card_declined",
	"CARD_EXPIRED":                            "card_declined",
	"REFERENCED_CARD_EXPIRED":                 "card_declined",
	"AUTHORIZATION_DENIED":                    "card_declined",
	"PAYEE_BLOCKED_TRANSACTION":               "fraud_suspected",
	"TRANSACTION_BLOCKED_BY_PAYEE":            "fraud_suspected",
	"PAYER_ACTION_REQUIRED":                   "authentication_failed",
	"ORDER_EXPIRED":                           "expired",
	"REDIRECT_PAYER_FOR_ALTERNATE_FUNDING":    "card_declined",
	"MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED": "card_declined",
}
