package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	contract "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/payment"
)

// now is the clock of all tests.
var now = time.Date(2026, 3, 1, 9, 30, 0, 120_000_000, time.UTC)

// bench is an API with fakes behind it, and a client that holds every answer
// against the contract.
type bench struct {
	t        *testing.T
	payments *payments
	log      *journal
	server   *httptest.Server
	router   routers.Router
	// invented marks results of the fakes that no real use case returns; the contract has no such responses.
	invented bool
}

func newBench(t *testing.T, change ...func(*api.Options)) *bench {
	t.Helper()
	return serve(t, api.NewHTTPServer("", nil, zerolog.Nop()), change...)
}

// serve is newBench with a server of the test's own.
func serve(t *testing.T, config *http.Server, change ...func(*api.Options)) *bench {
	t.Helper()
	b := &bench{t: t, payments: &payments{order: payment.Order{CreatedBy: payment.RoleService}}, log: &journal{}}
	var err error
	b.router, err = router()
	require.NoError(t, err)
	o := api.Options{
		Payments: b.payments, Reads: b.payments, Deliveries: b.payments, Auth: tokens{}, Log: zerolog.New(b.log), Version: "test",
		Now: func() time.Time { return now },
	}
	for _, f := range change {
		f(&o)
	}
	b.server = httptest.NewUnstartedServer(nil)
	config.Handler = api.New(o)
	b.server.Config = config
	b.server.Start()
	t.Cleanup(b.server.Close)
	return b
}

// router has the contract; reading the contract takes a while.
var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(contract.Document)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	doc.Servers = nil // with servers, the router finds a path only beside a query
	for _, name := range []string{"SupportEvent", "SupportEventPage"} {
		// a schema without a type allows any type and null, which the validator does not support
		doc.Components.Schemas[name].Value.Properties["payload"].Value.Type = &openapi3.Types{"null", "object", "array", "string", "number", "boolean"}
	}
	return legacy.NewRouter(doc)
})

// journal is a log that many may write to.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

type answer struct {
	*http.Response
	text []byte
}

// send sends a request of lines like "Name: value" and checks the answer.
func (b *bench) send(method, path, body string, headers ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.server.URL+path, strings.NewReader(body))
	require.NoError(b.t, err)
	r.Header.Set("Authorization", "Bearer u1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	seen := map[string]bool{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if !seen[name] {
			r.Header.Del(name)
		}
		seen[name] = true
		if value != "-" {
			r.Header.Add(name, value)
		}
	}
	return b.do(r)
}

// command is send with a key, by the shop's backend for u1.
func (b *bench) command(path, body string, headers ...string) answer {
	b.t.Helper()
	for _, missing := range []string{"Idempotency-Key: key-00000001", "Authorization: Bearer service-1", "On-Behalf-Of: u1"} {
		name, _, _ := strings.Cut(missing, " ")
		if !slices.ContainsFunc(headers, func(h string) bool { return strings.HasPrefix(h, name) }) {
			headers = append(headers, missing)
		}
	}
	return b.send(http.MethodPost, path, body, headers...)
}

func (b *bench) do(r *http.Request) answer {
	b.t.Helper()
	// The default transport would ask for and unpack gzip on its own.
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	a := answer{resp, text}
	b.holds(r, a)
	return a
}

// holds checks the common headers of a response, and that the contract has the response.
func (b *bench) holds(r *http.Request, a answer) {
	b.t.Helper()
	require.NotEmpty(b.t, a.Header.Get("X-Request-Id"))
	require.Equal(b.t, "nosniff", a.Header.Get("X-Content-Type-Options"))
	if r.Method == http.MethodHead {
		require.Empty(b.t, a.text)
		return
	}
	if strings.HasPrefix(a.Header.Get("Content-Type"), "application/problem+json") {
		p := a.problem(b.t)
		require.Equal(b.t, a.StatusCode, p.Status)
		require.Equal(b.t, "/problems/"+p.Code, p.Type)
		require.Equal(b.t, a.Header.Get("X-Request-Id"), p.RequestID)
		require.Equal(b.t, a.Header.Get("Retry-After") == "", p.RetryAfterMS == 0)
		require.NotEmpty(b.t, p.Title)
		require.NotEmpty(b.t, p.Detail)
	} else {
		require.Less(b.t, a.StatusCode, 400, "%s", a.text)
	}
	route, params, err := b.router.FindRoute(r)
	if err != nil || b.invented {
		return
	}
	form := a.Header.Get("Content-Type")
	isJSON := strings.HasSuffix(form, "/json") || strings.HasSuffix(form, "+json")
	require.NoError(b.t, openapi3filter.ValidateResponse(b.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 a.StatusCode, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.text)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: !isJSON},
	}))
	if a.Header.Get("Content-Type") == "application/problem+json" {
		described := route.Operation.Responses.Status(a.StatusCode).Value.Description
		require.Contains(b.t, *described, "`"+a.problem(b.t).Code+"`", "%s %s", r.Method, r.URL)
	}
}

type problem struct {
	Type         string           `json:"type"`
	Title        string           `json:"title"`
	Detail       string           `json:"detail"`
	Code         string           `json:"code"`
	Status       int              `json:"status"`
	RequestID    string           `json:"request_id"`
	Retryable    bool             `json:"retryable"`
	SafeNewKey   *bool            `json:"safe_new_key"`
	RetryAfterMS int64            `json:"retry_after_ms"`
	Errors       []gen.FieldError `json:"errors"`
	Attempt      map[string]any   `json:"attempt"`
}

func (a answer) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	require.NoError(t, json.Unmarshal(a.text, &p), "%s", a.text)
	return p
}

// is requires a problem of a code.
func (a answer) is(t *testing.T, status int, code string) problem {
	t.Helper()
	require.Equal(t, status, a.StatusCode, "%s", a.text)
	require.Equal(t, "application/problem+json", a.Header.Get("Content-Type"))
	p := a.problem(t)
	require.Equal(t, code, p.Code)
	require.NotNil(t, p.SafeNewKey, "%s", a.text)
	return p
}

func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal(a.text, &o), "%s", a.text)
	return o
}
