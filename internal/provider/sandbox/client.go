// Package sandbox calls the sandbox provider, which is internal/sandbox.
package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Client is one account at a sandbox. It implements gateway.Provider.
type Client struct {
	base string
	http *http.Client
}

// New returns the client of the sandbox at a base address.
func New(base string, client *http.Client) *Client {
	return &Client{base: strings.TrimRight(base, "/"), http: client}
}

// Capabilities implements gateway.Provider. The sandbox never deletes a key, and finds
// a charge at once.
func (c *Client) Capabilities() payment.Capabilities {
	return payment.Capabilities{
		KeyLife: 365 * 24 * time.Hour, Find: true, FindConsistent: true,
		Complete: true, Capture: true, PartialCapture: true, Cancel: true, Refund: true, PartialRefund: true, LookupRefund: true,
		RefundsConsistent: true,
	}
}

// post sends a command. The permit is spent when its first byte goes out.
func (c *Client) post(ctx context.Context, path, key string, l gateway.Permit, body, out any) (*refusal, error) {
	a, err := call.DoJSON(ctx, c.http, call.Request{
		Method: http.MethodPost, URL: c.base + path, Permit: &l, Header: http.Header{"Idempotency-Key": {key}},
	}, body)
	if err != nil {
		return nil, err
	}
	return read(a, out)
}

func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	a, err := call.Do(ctx, c.http, call.Request{Method: http.MethodGet, URL: address, Header: http.Header{}})
	if err != nil {
		return err
	}
	refused, err := read(a, out)
	switch {
	case refused != nil && refused.Status == http.StatusNotFound && refused.Code == "not_found":
		return gateway.ErrNoSuchPayment
	case refused != nil:
		return fmt.Errorf("the sandbox refuses to tell: %s", refused.Code)
	}
	return err
}

// refusal is a definitive error of the sandbox.
type refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// ChargeStatus is set where the charge, and not the request, is the reason.
	ChargeStatus string `json:"charge_status"`
}

// read decodes a response. A 4xx is a refusal, except those that mean "later".
func read(a call.Answer, out any) (*refusal, error) {
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusRequestTimeout, a.Status >= http.StatusInternalServerError:
		return nil, fmt.Errorf("the sandbox answers %d", a.Status)
	case a.Status >= http.StatusBadRequest:
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
	case a.Status != http.StatusOK && a.Status != http.StatusCreated:
		return nil, fmt.Errorf("the sandbox answers %d", a.Status)
	}
	return nil, a.Read(out)
}
