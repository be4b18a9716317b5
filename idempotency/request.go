package idempotency

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// How long a response is kept, by its type. A 5xx response is not kept at all.
const (
	KeepMoney   = 30 * 24 * time.Hour
	KeepOther   = 72 * time.Hour
	KeepRefused = 6 * time.Hour
)

// MaxBody is the largest body that is kept with a response, in bytes. Of a larger one only the
// subject is kept, and the entity is read again.
const MaxBody = 64 << 10

var (
	// ErrKeyReused is returned when the key was used for another request.
	ErrKeyReused = errors.New("idempotency key reused for another request")
	// ErrInProgress is returned when the first request with this key still runs.
	ErrInProgress = errors.New("request in progress")
	// ErrFenced is returned when another runner has taken the key over.
	ErrFenced = errors.New("key taken over by another runner")
)

// Request is one command of one user, as it is recognised again.
type Request struct {
	User     string
	Endpoint string
	Key      Key
	Hash     Hash
	// Refusal renders the response to an executed command that was refused, so that the refusal
	// can be stored with the key and replayed to the letter. Only [Refused] needs it.
	Refusal func(error) Response
}

// Name identifies a key.
type Name struct {
	User, Endpoint string
	Key            Key
}

// Name is the name of the request's key.
func (r Request) Name() Name { return Name{r.User, r.Endpoint, r.Key} }

// Same returns ErrKeyReused where the request with this key was another one.
func (r Request) Same(first Hash) error {
	if r.Hash != first {
		return ErrKeyReused
	}
	return nil
}

// Result separates a first response from a repeated one.
type Result string

// The values of the Idempotency-Result header.
const (
	Created Result = "created"
	Reused  Result = "reused"
)

// Response is the stored response of a command, which repetitions get.
type Response struct {
	Status  int
	Headers map[string]string
	// Body is empty where the response is rendered from the subject as it is now.
	Body []byte
	// Subject is the id of the entity that the command made or moved.
	Subject string
}

// refused reports whether the command was not carried out.
func (r Response) refused() bool { return r.Status >= http.StatusBadRequest }

// Err returns the ReplayError of a stored refusal, nil for a command that was carried out.
func (r Response) Err() error {
	if r.refused() {
		return &ReplayError{Response: r}
	}
	return nil
}

// UsesKey reports whether a command with this response has used up its key. One that was
// refused before it executed has not: no credential, no right, or a form that can't be read;
// the same key may come with another request. Nor has one that ended in a 5xx.
func (r Response) UsesKey() bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusTooManyRequests:
		return false
	}
	return r.Status < http.StatusInternalServerError
}

// keep is how long the response is kept, given how long one that was carried out is.
func (r Response) keep(carriedOut time.Duration) time.Duration {
	if r.refused() {
		return min(carriedOut, KeepRefused)
	}
	return carriedOut
}

// Encode returns the response's headers as JSON and its body as a store keeps them: nil for one
// over MaxBody.
func (r Response) Encode() (headers, body []byte, err error) {
	headers = []byte("{}")
	if r.Headers != nil {
		if headers, err = json.Marshal(r.Headers); err != nil {
			return nil, nil, fmt.Errorf("encode a response's headers: %w", err)
		}
	}
	if len(r.Body) <= MaxBody {
		body = r.Body
	}
	return headers, body, nil
}

// DecodeResponse is the reverse of [Response.Encode].
func DecodeResponse(status int, headers, body []byte, subject string) (*Response, error) {
	r := &Response{Status: status, Body: body, Subject: subject}
	if err := json.Unmarshal(headers, &r.Headers); err != nil {
		return nil, fmt.Errorf("decode a response's headers: %w", err)
	}
	return r, nil
}

// ReplayError carries a stored refusal back to the caller.
type ReplayError struct{ Response Response }

// Error implements error.
func (e *ReplayError) Error() string { return "replayed refusal of key" }
