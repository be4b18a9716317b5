package gopay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/paylatch/paylatch/internal/provider/kit"
)

// refusal is the first error in GoPay's list of errors (https://doc.gopay.com, "Errors"). It omits the message, which
// may quote the request.
type refusal struct {
	status, number int
	name           string
}

// These are error numbers (https://doc.gopay.com, "Error codes"). systemError is GoPay's own failure. paymentMissing
// concerns a payment that does not exist, and recurrenceFailed a saved card that was not charged.
const systemError, paymentMissing, recurrenceFailed = 100, 304, 340

// code returns the name of the error, or its number.
func (r *refusal) code() string { return cmp.Or(r.name, strconv.Itoa(r.number)) }

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("gopay responded with %d %s", r.status, r.code())
}

// Missing implements kit.Refusal. GoPay does not document the status for an unknown payment.
func (r *refusal) Missing() bool {
	return r.status == http.StatusNotFound || r.number == paymentMissing
}

// readRefusal returns a definitive error as a refusal, and any other error as an error. A response that is not in
// GoPay's format may come from a proxy, so it is not a refusal.
func readRefusal(a kit.Answer) (*refusal, error) {
	var said struct {
		Errors []struct {
			Number int    `json:"error_code"`
			Name   string `json:"error_name"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil || len(said.Errors) == 0 || said.Errors[0].Number == 0 && said.Errors[0].Name == "" {
		return nil, fmt.Errorf("the response with status %d is not in GoPay's format", a.Status)
	}
	r := &refusal{status: a.Status, number: said.Errors[0].Number, name: said.Errors[0].Name}
	if !r.definitive() {
		return nil, r
	}
	return r, nil
}

// definitive reports whether the error refuses this request. GoPay's errors about fields and states have status 409.
func (r *refusal) definitive() bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return r.number != systemError
	}
	return false
}
