// Package call sends one HTTP request to a provider and tells, when it goes
// wrong, whether anything was sent.
//
// The licence is asked when a connection stands and before the request is written
// to it: a process that was frozen before that sends nothing, not even a header.
// No command is ever sent again by itself, and no redirect is followed: where it
// leads is not what was asked.
package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"

	"github.com/paylatch/paylatch/internal/payment"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 1 << 20

// Request is one request to a provider.
type Request struct {
	Method, URL string
	Header      http.Header
	Body        []byte
	// Licence is asked before anything goes out. Reads need none; one that a
	// command begins with has the command's, and is then never sent without it.
	Licence *payment.Licence
	// Question says that the request moves nothing, whatever its method; a GET is
	// one anyway.
	Question bool
}

// Answer is what the provider said, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request by a client whose transport is a [http.Transport]. It returns
// an error that wraps payment.ErrNotSent when no byte of the request went out; any
// other error leaves the outcome unknown.
func Do(ctx context.Context, client *http.Client, r Request) (Answer, error) {
	gate := &gate{licence: r.Licence, read: (r.Question || r.Method == http.MethodGet) && r.Licence == nil}
	ctx, gate.cancel = context.WithCancelCause(ctx)
	defer gate.cancel(nil)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: gate.pass})
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", payment.ErrNotSent, err)
	}
	req.GetBody = nil
	req.Header = r.Header.Clone()
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := direct.Do(req)
	if err != nil {
		return Answer{}, gate.explain(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return Answer{}, fmt.Errorf("read the provider's answer: %w", err)
	}
	if len(body) > maxAnswer {
		return Answer{}, errors.New("the provider's answer is too long")
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// NotSent marks that a command was not sent because what it asks first went wrong.
func NotSent(err error) error {
	if err == nil || errors.Is(err, payment.ErrNotSent) {
		return err
	}
	return fmt.Errorf("%w: %w", payment.ErrNotSent, err)
}
