// Package kit has the shared code of the adapters. It has one HTTP request to a provider, JSON APIs, tokens, amounts,
// tables, and the description of an adapter.
//
// Do sends one HTTP request to a provider and reports, on failure, whether anything was sent.
//
// The permit is checked after the connection is established and before the request is written. So a process that was
// frozen before that moment sends nothing, not even a header. No command is resent automatically, and no redirect is
// followed.
package kit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// maxAnswer limits the body of a response, in bytes, unless its request sets another limit.
const maxAnswer = 1 << 20

// Request is one request to a provider.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Permit is checked before anything is sent. A read needs none; the first read of a
	// command carries the command's permit and is never sent without it.
	Permit *gateway.Permit
	// Question marks a request that changes nothing, even if its method is not GET. A GET is always such a request.
	Question bool
	// MaxAnswer limits the body of the response, in bytes; 0 is 1 MiB. Lists of large objects set it.
	MaxAnswer int64
}

// Answer is the provider's response with any status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request; the client's transport must be a [http.Transport]. It returns an
// error that wraps gateway.ErrNotSent if no byte of the request was sent; any other
// error leaves the outcome unknown.
func Do(ctx context.Context, client *http.Client, r Request) (Answer, error) {
	gate := &gate{permit: r.Permit, read: (r.Question || r.Method == http.MethodGet) && r.Permit == nil}
	ctx, gate.cancel = context.WithCancelCause(ctx)
	defer gate.cancel(nil)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: gate.pass})
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
	}
	req.GetBody = nil
	req.Header = r.Header.Clone()
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := direct.Do(req)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok {
			at.URL, _, _ = strings.Cut(at.URL, "?") // a query may have a signature
		}
		return Answer{}, gate.explain(err)
	}
	defer func() { _ = resp.Body.Close() }()
	limit := cmp.Or(r.MaxAnswer, maxAnswer)
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return Answer{}, fmt.Errorf("read the provider's answer: %w", err)
	}
	if int64(len(body)) > limit {
		return Answer{}, errors.New("the provider's answer is too long")
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// NotSent marks a command as not sent because a read before it failed.
func NotSent(err error) error {
	if err == nil || errors.Is(err, gateway.ErrNotSent) {
		return err
	}
	return fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
}
