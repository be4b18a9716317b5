// Package standard calls a provider that implements the contract of the kind standard. The contract is
// docs/reference/standard-provider.md, and api/standard-provider.yaml for programs: for a shop's own provider, a local
// provider, or the sandbox. The tests check each request of this adapter and each response of the sandbox against it.
//
// No command is carried out twice. Each command has an Idempotency-Key. By the contract, the provider stores the key for
// at least a day, and answers a repeated command as the first time. A charge whose answer was lost is sent again with
// its key within the resend window. After that it is looked up by its reference, the attempt's id. A refund is looked up
// by its own reference. By the contract, both lookups are consistent. A status outside the contract counts as
// processing.
package standard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// keyLife is an hour shorter than the contract's key life of a day, so that the last resend arrives in time.
const keyLife = 23 * time.Hour

// Client is one account at a provider of the contract. It implements gateway.Provider, gateway.Books and
// gateway.EventLog.
type Client struct {
	kit.TakesAtOnce

	api *kit.API[*RefusalError]
}

// New returns the client of the provider at a base address. If the API key is empty, calls have no Authorization header.
func New(base, key string, client *http.Client) *Client {
	return &Client{api: &kit.API[*RefusalError]{
		Name: "the provider", Base: strings.TrimRight(base, "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated}, Read: readRefusal,
		Header: func() http.Header {
			if key == "" {
				return http.Header{}
			}
			return http.Header{"Authorization": {"Bearer " + key}}
		},
	}}
}

// Capabilities implements gateway.Provider. They are the contract's requirements for every provider. A provider refuses
// an operation that it does not offer as not_supported. No capability is read from the provider.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: keyLife, Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn, Complete: true,
		Captures: payment.CapturesOnce, CapturesSeen: true, Cancels: payment.CancelsByID,
		Refunds: payment.RefundsParts, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes,
	}
}

// RefusalError is a definitive error of the provider: it did not carry out the request.
type RefusalError struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// ChargeStatus is set if the charge's status is the reason, and not the request.
	ChargeStatus string `json:"charge_status,omitempty"`
}

// Error implements error.
func (r *RefusalError) Error() string { return "the provider refuses: " + r.Code }

// Missing implements kit.Refusal.
func (r *RefusalError) Missing() bool {
	return r.Status == http.StatusNotFound && r.Code == "not_found"
}

func keyed(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// errKeyInUse is returned for a conflict about the key. The response does not contain the outcome of the other call with
// this key.
var errKeyInUse = errors.New("another call to the provider has this idempotency key")

// readRefusal reads a 4xx as a refusal, with three exceptions: statuses that mean "later", conflicts about another
// call's key, and a 404 without the contract's code. Such a 404 may mean that the provider does not have the address.
func readRefusal(a kit.Answer) (*RefusalError, error) {
	if later(a.Status) {
		return nil, fmt.Errorf("the provider responded with %d", a.Status)
	}
	refused, err := RefusalOf(a.Status, a.Body)
	switch {
	case err != nil:
		return nil, err
	case refused.Status == http.StatusConflict && refused.ChargeStatus == "":
		return nil, errKeyInUse
	case refused.Status == http.StatusNotFound && !refused.Missing():
		return nil, fmt.Errorf("the provider responded with %d %s", a.Status, refused.Code)
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
