package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// keyHeader is the header by which the server recognises a request that comes again.
const keyHeader = "Idempotency-Key"

// maxBody is the largest response that is read, in bytes.
const maxBody = 16 << 20

// sender sends requests, again where that can change nothing but the response.
type sender struct{ Options }

// errAgain is why a response is not the last one.
var errAgain = errors.New("the server answered that the request may come again")

// Do implements api.HttpRequestDoer. A request that may be repeated is one that reads, or has a
// key; each try has the same key and body. It returns the last response, and an error where the
// last try had none.
func (s *sender) Do(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && r.Header.Get(keyHeader) == "" {
		return s.HTTP.Do(r) //nolint:gosec,wrapcheck // to the caller's own server; an *url.Error says what was sent
	}
	var last *http.Response
	response, err := backoff.Retry(r.Context(), func() (*http.Response, error) {
		var err error
		if last, err = s.try(r); err != nil {
			return nil, err
		}
		return last, again(last)
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: s.FirstPause, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: s.MaxPause,
	}), backoff.WithMaxTries(s.Tries), backoff.WithMaxElapsedTime(s.GiveUp))
	if err != nil && last != nil {
		return last, nil
	}
	return response, err //nolint:wrapcheck // an *url.Error says what was sent
}

// try sends the request once and reads the whole response.
func (s *sender) try(r *http.Request) (*http.Response, error) {
	once := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, backoff.Permanent(fmt.Errorf("client: %w", err)) //nolint:wrapcheck // it is wrapped
		}
		once.Body = body
	}
	response, err := s.HTTP.Do(once) //nolint:gosec // to the caller's own server
	if err != nil {
		return nil, err //nolint:wrapcheck // an *url.Error says what was sent
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("client: read the response to %s %s: %w", r.Method, r.URL.Path, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// again returns an error, with the pause of Retry-After, where the request is sent again.
func again(r *http.Response) error {
	switch {
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode >= http.StatusInternalServerError:
	case r.StatusCode == http.StatusConflict && underWay(r):
	default:
		return nil
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return &backoff.RetryAfterError{Duration: time.Duration(seconds) * time.Second}
	}
	return errAgain
}

// underWay reports whether the same request is being executed.
func underWay(r *http.Response) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var p struct {
		Code string `json:"code"`
	}
	return json.Unmarshal(body, &p) == nil && p.Code == "request-in-progress"
}
