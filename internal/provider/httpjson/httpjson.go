// Package httpjson calls a provider's JSON API: what the adapters of such APIs have in common.
//
// A definitive error of the provider is a refusal, in the form of its own error object. Whatever else comes,
// such as the page of a proxy, is an error that leaves the outcome unknown.
package httpjson

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// Refusal is a provider's definitive error about a request: a pointer to its error object.
type Refusal interface {
	comparable
	error
	// Missing reports whether the provider has no such object.
	Missing() bool
}

// API is a provider's API as one account calls it.
type API[R Refusal] struct {
	// Name is the provider's, for errors.
	Name string
	// Base is the address that paths are below.
	Base string
	HTTP *http.Client
	// Header returns the headers of each request: credentials, the API's version. Nil returns none.
	Header func() http.Header
	// Done are the statuses of a success; 200 if empty.
	Done []int
	// Read reads a response with a status of 400 or above. It returns an error for one that refuses
	// nothing.
	Read func(call.Answer) (R, error)
	// Send sends a request; call.DoJSON if nil.
	Send func(ctx context.Context, r call.Request, body any) (call.Answer, error)
}

// Post sends a command. It returns the provider's refusal, or nil and the response in out; nothing is read
// into a nil out.
func (a *API[R]) Post(ctx context.Context, path string, header http.Header, l gateway.Permit, body, out any) (R, error) {
	return a.Do(ctx, call.Request{Method: http.MethodPost, URL: path, Header: header, Permit: &l}, body, out)
}

// Get sends a read; the first read of a command has the command's permit. It returns
// gateway.ErrNoSuchPayment for an object that the provider does not have.
func (a *API[R]) Get(ctx context.Context, path string, l *gateway.Permit, out any) error {
	var none R
	refused, err := a.Do(ctx, call.Request{Method: http.MethodGet, URL: path, Permit: l}, nil, out)
	switch {
	case refused == none:
		return err
	case refused.Missing():
		return gateway.ErrNoSuchPayment
	}
	return refused
}

// Do sends a request, of which the address is a path.
func (a *API[R]) Do(ctx context.Context, r call.Request, body, out any) (R, error) {
	var none R
	got, err := a.send(ctx, r, body)
	switch {
	case err != nil:
		return none, err
	case got.Status >= http.StatusBadRequest:
		return a.Read(got)
	case !slices.Contains(a.done(), got.Status):
		return none, fmt.Errorf("not an answer of %s: %d", a.Name, got.Status)
	case out == nil:
		return none, nil
	}
	return none, got.Read(out)
}

func (a *API[R]) send(ctx context.Context, r call.Request, body any) (call.Answer, error) {
	header := http.Header{}
	if a.Header != nil {
		header = a.Header()
	}
	maps.Copy(header, r.Header)
	r.URL, r.Header = a.Base+r.URL, header
	if a.Send != nil {
		return a.Send(ctx, r, body)
	}
	return call.DoJSON(ctx, a.HTTP, r, body)
}

func (a *API[R]) done() []int {
	if len(a.Done) == 0 {
		return []int{http.StatusOK}
	}
	return a.Done
}
