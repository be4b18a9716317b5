package echoidempotency

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/idempotency"
)

// problem is a document of RFC 9457.
type problem struct {
	Type         string `json:"type"`
	Title        string `json:"title"`
	Status       int    `json:"status"`
	Detail       string `json:"detail"`
	Code         string `json:"code"`
	Retryable    bool   `json:"retryable"`
	SafeNewKey   bool   `json:"safe_new_key"`
	RetryAfterMS int    `json:"retry_after_ms,omitempty"`
}

// problems returns the documents of the contract's errors.
func problems() map[error]problem {
	underWay := problem{
		Title: "Request in progress", Status: http.StatusConflict, Code: "request-in-progress",
		Detail: "Send the same request again, with the same key.", Retryable: true, RetryAfterMS: 1000,
	}
	return map[error]problem{
		idempotency.ErrKeyMissing: {
			Title: "Idempotency key missing", Status: http.StatusBadRequest, Code: "idempotency-key-missing",
			Detail: "Send a key of your own for this command in the header Idempotency-Key.", SafeNewKey: true,
		},
		idempotency.ErrKeyInvalid: {
			Title: "Idempotency key invalid", Status: http.StatusBadRequest, Code: "idempotency-key-invalid",
			Detail: "Send one key of 8 to 200 characters of A-Z a-z 0-9 - _ . : ~.", SafeNewKey: true,
		},
		idempotency.ErrKeyInQuery: {
			Title: "Idempotency key in the query string", Status: http.StatusBadRequest, Code: "idempotency-key-in-query",
			Detail: "Send the key in the header Idempotency-Key and nowhere else.", SafeNewKey: true,
		},
		idempotency.ErrKeyReused: {
			Title: "Idempotency key reused", Status: http.StatusConflict, Code: "idempotency-key-reused",
			Detail: "The key was used for another request. Send a new request with a new key.",
		},
		idempotency.ErrInProgress: underWay,
		idempotency.ErrFenced:     underWay,
	}
}

// Problem answers with a problem document (RFC 9457). A client decides by its member code. Problem
// returns an error that is not in the contract, for echo's error handler.
func Problem(c echo.Context, err error) error {
	for of, p := range problems() {
		if errors.Is(err, of) {
			return p.send(c)
		}
	}
	return err
}

func (p problem) send(c echo.Context) error {
	p.Type = "about:blank"
	if p.RetryAfterMS > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa((p.RetryAfterMS+999)/1000))
	}
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode a problem: %w", err)
	}
	if err := c.Blob(p.Status, "application/problem+json", body); err != nil {
		return fmt.Errorf("send a problem: %w", err)
	}
	return nil
}
