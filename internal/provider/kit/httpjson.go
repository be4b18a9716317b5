package kit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
)

// API calls a provider's JSON API. It contains the common parts of the adapters for such APIs.
//
// A definitive error of the provider is a refusal, in the form of the provider's error object. Any other response, such
// as a proxy's page, is an error that leaves the outcome unknown.

// Refusal is a provider's definitive error about a request: a pointer to its error object.
type Refusal interface {
	comparable
	error
	// Missing reports whether the provider has no such object.
	Missing() bool
}

// API is a provider's API with the credentials of one account.
type API[R Refusal] struct {
	// Name is the provider's name in errors.
	Name string
	// Base is the address that paths are relative to.
	Base string
	HTTP *http.Client
	// Header returns the headers of each request: credentials and the API's version. If it is nil, there are none.
	Header func() http.Header
	// Done are the statuses of a success; 200 if empty.
	Done []int
	// Read reads a response with a status of 400 or above. It returns an error for a response that is not a refusal.
	Read func(Answer) (R, error)
	// Send sends a request; DoJSON if nil.
	Send func(ctx context.Context, r Request, body any) (Answer, error)
}

// Post sends a command. It returns the provider's refusal, or nil and the response in out. If out is nil, the response
// is not decoded.
func (a *API[R]) Post(ctx context.Context, path string, header http.Header, l gateway.Permit, body, out any) (R, error) {
	return a.Do(ctx, Request{Method: http.MethodPost, URL: path, Header: header, Permit: &l}, body, out)
}

// Get sends a read. The first read of a command carries the command's permit. It returns gateway.ErrNoSuchPayment if the
// provider does not have the object.
func (a *API[R]) Get(ctx context.Context, path string, l *gateway.Permit, out any) error {
	var none R
	refused, err := a.Do(ctx, Request{Method: http.MethodGet, URL: path, Permit: l}, nil, out)
	switch {
	case refused == none:
		return err
	case refused.Missing():
		return gateway.ErrNoSuchPayment
	}
	return refused
}

// Do sends a request whose URL is a path below Base.
func (a *API[R]) Do(ctx context.Context, r Request, body, out any) (R, error) {
	var none R
	got, err := a.send(ctx, r, body)
	switch {
	case err != nil:
		return none, err
	case got.Status >= http.StatusBadRequest:
		return a.Read(got)
	case !slices.Contains(a.done(), got.Status):
		return none, fmt.Errorf("unexpected response of %s with status %d", a.Name, got.Status)
	case out == nil:
		return none, nil
	}
	return none, got.Read(out)
}

func (a *API[R]) send(ctx context.Context, r Request, body any) (Answer, error) {
	header := http.Header{}
	if a.Header != nil {
		header = a.Header()
	}
	maps.Copy(header, r.Header)
	r.URL, r.Header = a.Base+r.URL, header
	if a.Send != nil {
		return a.Send(ctx, r, body)
	}
	return DoJSON(ctx, a.HTTP, r, body)
}

func (a *API[R]) done() []int {
	if len(a.Done) == 0 {
		return []int{http.StatusOK}
	}
	return a.Done
}
