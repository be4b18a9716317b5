// Package standard calls any provider that implements the contract of docs/reference/standard-provider.md: a shop's own, a local one, the sandbox.
// api/standard-provider.yaml describes the contract; the tests hold each request of this adapter, and each response of the sandbox,
// against it.
//
// No command is carried out twice: each has an Idempotency-Key, which the contract has the provider keep for a day at least and answer as
// it did the first time. A charge whose answer was lost is sent again with its key within the resend window, and after that looked up by
// its reference, the attempt's id, and a refund by its own: both lookups are consistent by the contract. What no status of the contract
// is counts as under way.
package standard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// keyLife is an hour less than the day for which the contract has keys kept: what is sent last must get there in time.
const keyLife = 23 * time.Hour

// Client is one account at a provider of the contract. It implements gateway.Provider, gateway.Books and gateway.EventLog.
type Client struct {
	api *httpjson.API[*RefusalError]
}

// New returns the client of the provider at a base address. Without an API key its calls bear none.
func New(base, key string, client *http.Client) *Client {
	return &Client{&httpjson.API[*RefusalError]{
		Name: "the provider", Base: strings.TrimRight(base, "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated}, Read: readRefusal,
		Header: func() http.Header {
			if key == "" {
				return http.Header{}
			}
			return http.Header{"Authorization": {"Bearer " + key}}
		},
	}}
}

// Capabilities implements gateway.Provider by what the contract requires of every provider. What one does not offer it refuses as not_supported when it
// is called for: no capability is fetched.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Find: true, FindConsistent: true,
		Complete: true, Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true,
	}
}

// RefusalError is a definitive error of the provider: nothing was done.
type RefusalError struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// ChargeStatus is set where the charge, and not the request, is the reason.
	ChargeStatus string `json:"charge_status,omitempty"`
}

// Error implements error.
func (r *RefusalError) Error() string { return "the provider refuses: " + r.Code }

// Missing implements httpjson.Refusal.
func (r *RefusalError) Missing() bool {
	return r.Status == http.StatusNotFound && r.Code == "not_found"
}

func keyed(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// errKeyInUse is a conflict that is about the key: what became of the call that has it is not in this response.
var errKeyInUse = errors.New("another call to the provider has this idempotency key")

// readRefusal reads a 4xx, except those that mean "later", those about the key of another call, and a 404 that does not have the contract's
// code: that may be of an address that the provider does not have.
func readRefusal(a call.Answer) (*RefusalError, error) {
	if later(a.Status) {
		return nil, fmt.Errorf("the provider answers %d", a.Status)
	}
	refused, err := RefusalOf(a.Status, a.Body)
	switch {
	case err != nil:
		return nil, err
	case refused.Status == http.StatusConflict && refused.ChargeStatus == "":
		return nil, errKeyInUse
	case refused.Status == http.StatusNotFound && !refused.Missing():
		return nil, fmt.Errorf("the provider answers %d %s", a.Status, refused.Code)
	}
	return refused, nil
}

func later(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly || status >= http.StatusInternalServerError
}

// RefusalOf reads the error object of a response.
func RefusalOf(status int, body []byte) (*RefusalError, error) {
	var read struct {
		Error RefusalError `json:"error"`
	}
	if err := json.Unmarshal(body, &read); err != nil {
		return nil, fmt.Errorf("read a refusal: %w", err)
	}
	if read.Error.Code == "" {
		return nil, fmt.Errorf("a response of %d without an error of the contract", status)
	}
	read.Error.Status = status
	return &read.Error, nil
}
