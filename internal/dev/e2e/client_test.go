package e2e_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// plain opens a connection for each request: net/http would send some again by
// itself on one that was reused and broke.
var plain = &http.Client{
	Timeout:       soon,
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// answer is a response; err is set if there was no response.
type answer struct {
	status int
	header http.Header
	text   []byte
	err    error
	// repeated is set if the request was refused for now before, and sent again.
	repeated bool
}

// client is one caller of one service. It sends a request again after a 503 and after 409 request-in-progress, as the
// contract asks: a machine that runs many tests at once has no connection for everybody at any time, and a lookup may be
// under way when a command arrives. A blunt one does not.
type client struct {
	base, token string
	// user is the user in On-Behalf-Of; may be empty.
	user  string
	blunt bool
	// signing is the key of its backend's tokens; empty for the usual one.
	signing string
}

// tries is how often a request is sent that is refused for another reason than a busy machine.
const tries, pause = 100, 50 * time.Millisecond

// send sends a request with headers of the form "Name: value"; "Name: -" leaves
// one out. It may be called from any goroutine.
func (c client) send(ctx context.Context, method, path, body string, headers ...string) answer {
	return again(ctx, c.blunt, func() answer { return c.once(ctx, method, path, body, headers) })
}

// again repeats a request that the service could not take for now.
func again(ctx context.Context, blunt bool, send func() answer) answer {
	end := time.Now().Add(soon)
	for n := 0; ; n++ {
		a := send()
		a.repeated = n > 0
		code := a.peekProblem().Code
		busy := code == "storage-unavailable" || code == "overloaded" || code == "request-in-progress"
		left := n < tries || busy && time.Now().Before(end)
		if blunt || !busy && a.status != http.StatusServiceUnavailable || !left || ctx.Err() != nil {
			return a
		}
		breathe(ctx, pause)
	}
}

func (c client) once(ctx context.Context, method, path, body string, headers []string) answer {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if c.user != "" {
		r.Header.Set("On-Behalf-Of", c.user)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	replaced := map[string]bool{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if !replaced[name] {
			r.Header.Del(name)
		}
		replaced[name] = true
		if value != "-" {
			r.Header.Add(name, value)
		}
	}
	return exchange(r)
}

func exchange(r *http.Request) answer {
	resp, err := plain.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, text: text, err: err}
}

// backend is the merchant's, where the caller is a customer: it acts for that one.
func (c client) backend() client {
	_, claims, _ := strings.Cut(c.token, ".")
	claims, _, _ = strings.Cut(claims, ".")
	text, _ := base64.RawURLEncoding.DecodeString(claims)
	var of struct {
		Sub   string   `json:"sub"`
		Roles []string `json:"roles"`
	}
	if json.Unmarshal(text, &of) == nil && len(of.Roles) == 1 && of.Roles[0] == "customer" {
		c.token, c.user = tokenBy(cmp.Or(c.signing, secret), "shop", "service"), of.Sub
	}
	return c
}

// createOrder creates an order for a customer by the merchant's backend.
func (c client) createOrder(ctx context.Context, id, key string, headers ...string) answer {
	return c.backend().send(ctx, http.MethodPost, "/v1/orders", `{"order_id":"`+id+`","amount":1999,"currency":"EUR"}`,
		append([]string{"Idempotency-Key: " + key}, headers...)...)
}

func (c client) pay(ctx context.Context, order, key, token string, headers ...string) answer {
	return c.send(ctx, http.MethodPost, "/v1/orders/"+order+"/pay", `{"payment_method":{"token":"`+token+`"}}`,
		append([]string{"Idempotency-Key: " + key}, headers...)...)
}

func (c client) read(ctx context.Context, id string) answer {
	return c.send(ctx, http.MethodGet, "/v1/payment-attempts/"+id, "")
}

// order creates an order over 19.99 EUR under a new name.
func (c client) order(t *testing.T) string {
	t.Helper()
	id := unique("o")
	a := c.createOrder(t.Context(), id, unique("key"))
	a.is(t, http.StatusCreated)
	return id
}

func unique(what string) string { return what + "-" + uuid.NewString() }

// attempt is the contract's, as far as the tests read it.
type attempt struct {
	ID                string  `json:"payment_attempt_id"`
	OrderID           string  `json:"order_id"`
	ClientRequestID   *string `json:"client_request_id"`
	ProviderPaymentID *string `json:"provider_payment_id"`
	Status            string  `json:"status"`
	Stage             string  `json:"stage"`
	AmountCaptured    int64   `json:"amount_captured"`
	NextAction        *struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"next_action"`
	Failure *struct {
		Code string `json:"code"`
	} `json:"failure"`
	CanStartNew bool   `json:"can_start_new_attempt"`
	StatusToken string `json:"status_token"`
	Version     int    `json:"version"`
}

func (a answer) is(t *testing.T, status int) {
	t.Helper()
	require.NoError(t, a.err)
	require.Equal(t, status, a.status, "%s", a.text)
}

func (a answer) attempt(t *testing.T, status int) attempt {
	t.Helper()
	a.is(t, status)
	var out attempt
	require.NoError(t, json.Unmarshal(a.text, &out), "%s", a.text)
	return out
}

// peek reads an attempt that may not exist.
func (a answer) peek() attempt {
	var out attempt
	_ = json.Unmarshal(a.text, &out)
	return out
}

// problem is the document of an error.
type problem struct {
	Type         string `json:"type"`
	Title        string `json:"title"`
	Detail       string `json:"detail"`
	Code         string `json:"code"`
	Status       int    `json:"status"`
	RequestID    string `json:"request_id"`
	Retryable    *bool  `json:"retryable"`
	RetryAfterMS *int64 `json:"retry_after_ms"`
	Errors       []struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"errors"`
	Attempt *attempt `json:"attempt"`
}

// problem checks all requirements of the contract for problems.
func (a answer) problem(t *testing.T, status int, code string) problem {
	t.Helper()
	a.is(t, status)
	var p problem
	require.NoError(t, json.Unmarshal(a.text, &p), "%s", a.text)
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
	require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
	require.Equal(t, code, p.Code, "%s", a.text)
	require.Equal(t, "/problems/"+code, p.Type)
	require.Equal(t, status, p.Status)
	require.NotEmpty(t, p.Title)
	require.NotEmpty(t, p.Detail)
	require.NotEmpty(t, p.RequestID)
	require.NotNil(t, p.Retryable)
	if wait := a.header.Get("Retry-After"); wait != "" {
		require.NotNil(t, p.RetryAfterMS)
		require.Equal(t, wait, strconv.FormatInt((*p.RetryAfterMS+999)/1000, 10))
	} else {
		require.Nil(t, p.RetryAfterMS)
	}
	return p
}

// peekProblem reads a problem that may not exist.
func (a answer) peekProblem() problem {
	var p problem
	_ = json.Unmarshal(a.text, &p)
	return p
}
