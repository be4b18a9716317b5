// Package sandbox calls the sandbox provider, which is internal/sandbox.
package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
	"github.com/paylatch/paylatch/internal/provider/httpjson"
)

// Client is one account at a sandbox. It implements gateway.Provider, gateway.Books and gateway.EventLog.
type Client struct {
	api *httpjson.API[*refusal]
}

// New returns the client of the sandbox at a base address.
func New(base string, client *http.Client) *Client {
	return &Client{&httpjson.API[*refusal]{
		Name: "the sandbox", Base: strings.TrimRight(base, "/"), HTTP: client, Done: []int{http.StatusOK, http.StatusCreated}, Read: readRefusal,
	}}
}

// Capabilities implements gateway.Provider. The sandbox never deletes a key, and finds
// a charge at once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: 365 * 24 * time.Hour, Find: true, FindConsistent: true,
		Complete: true, Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true,
	}
}

// refusal is a definitive error of the sandbox.
type refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// ChargeStatus is set where the charge, and not the request, is the reason.
	ChargeStatus string `json:"charge_status"`
}

// Error implements error.
func (r *refusal) Error() string { return "the sandbox refuses: " + r.Code }

// Missing implements httpjson.Refusal.
func (r *refusal) Missing() bool { return r.Status == http.StatusNotFound && r.Code == "not_found" }

func keyed(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// readRefusal reads a 4xx, except those that mean "later".
func readRefusal(a call.Answer) (*refusal, error) {
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusRequestTimeout || a.Status >= http.StatusInternalServerError {
		return nil, fmt.Errorf("the sandbox answers %d", a.Status)
	}
	var said struct {
		Error refusal `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return nil, fmt.Errorf("read a refusal: %w", err)
	}
	if said.Error.Code == "" {
		return nil, fmt.Errorf("somebody answers %d for the sandbox", a.Status)
	}
	said.Error.Status = a.Status
	return &said.Error, nil
}
