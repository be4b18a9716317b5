package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
)

// maxResponse is the largest response that is read, in bytes.
const maxResponse = 4 << 20

// backend is how the shop calls paylatch and, for the proof, the provider.
type backend Options

// order and attempt are the contract's, as far as a shop needs them.
type order struct {
	ID       string    `json:"order_id"`
	Status   string    `json:"status"`
	Amount   int64     `json:"amount"`
	Currency string    `json:"currency"`
	Attempts []attempt `json:"attempts"`
}

type attempt struct {
	ID         string `json:"payment_attempt_id"`
	Status     string `json:"status"`
	Stage      string `json:"stage"`
	Captured   int64  `json:"amount_captured"`
	Refunded   int64  `json:"amount_refunded"`
	CanStart   bool   `json:"can_start_new_attempt"`
	Origin     string `json:"origin"`
	NextAction *struct {
		Type string  `json:"type"`
		URL  string  `json:"url"`
		Data voucher `json:"data"`
	} `json:"next_action"`
	Failure *struct {
		Message string `json:"message"`
	} `json:"failure"`
}

// voucher is the sandbox provider's voucher, which a customer pays at a till.
type voucher struct {
	Reference    string `json:"reference"`
	Instructions string `json:"instructions"`
	URL          string `json:"url"`
}

// external reports whether the provider's own form takes the payment.
func (a attempt) external() bool { return a.Origin == "external" }

// charge is an entry of the provider's ledger.
type charge struct {
	Kind      string `json:"kind"`
	Reference string `json:"reference"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
}

// response is a response of paylatch or the provider.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a response) ok() bool { return a.status >= 200 && a.status < 300 }

// code is the problem's; empty if there is none.
func (a response) code() string {
	var p struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.body, &p)
	return p.Code
}

var errUnavailable = errors.New("paylatch does not respond")

// call sends a request for the customer. The headers are those that the page
// sent and paylatch should see.
func (b backend) call(ctx context.Context, method, path string, body any, headers http.Header) (response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return response{}, fmt.Errorf("write a request: %w", err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, b.PublicURL+path, bytes.NewReader(text)) //nolint:gosec // our own address; ids in the path are escaped
	if err != nil {
		return response{}, fmt.Errorf("make a request: %w", err)
	}
	maps.Copy(r.Header, headers)
	r.Header.Set("Authorization", "Bearer "+b.Token)
	r.Header.Set("On-Behalf-Of", user)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return b.send(r)
}

func (b backend) send(r *http.Request) (response, error) {
	resp, err := b.Client.Do(r) //nolint:gosec // to our own addresses
	if err != nil {
		return response{}, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return response{}, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return response{resp.StatusCode, resp.Header, body}, nil
}

// order reads an order; found is false if there is none.
func (b backend) order(ctx context.Context, id string) (o order, found bool, err error) {
	a, err := b.call(ctx, http.MethodGet, "/v1/orders/"+url.PathEscape(id), nil, nil)
	switch {
	case err != nil:
		return order{}, false, err
	case a.status == http.StatusNotFound, a.status == http.StatusForbidden:
		return order{}, false, nil
	case !a.ok():
		return order{}, false, fmt.Errorf("%w: %d %s", errUnavailable, a.status, a.code())
	}
	if err := json.Unmarshal(a.body, &o); err != nil {
		return order{}, false, fmt.Errorf("read an order: %w", err)
	}
	return o, true, nil
}

// charges returns the provider's movements of money for an order.
func (b backend) charges(ctx context.Context, o order) ([]charge, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.ProviderURL+"/v1/ledger", nil)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	a, err := b.send(r)
	if err != nil {
		return nil, err
	}
	var all, of []charge
	if err := json.Unmarshal(a.body, &all); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	for _, c := range all {
		for _, attempt := range o.Attempts {
			if c.Reference == attempt.ID {
				of = append(of, c)
			}
		}
	}
	return of, nil
}
