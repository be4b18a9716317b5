package demo_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console/demo"
)

// secret is the merchant's own token, which no page may ever hold.
const secret = "the-merchants-own-token"

// call is a request to paylatch.
type call struct {
	method, path, key, behalf, authorization string
	header                                   http.Header
	body                                     string
}

// backend stands in for paylatch and the provider: it returns the test's responses and records the requests.
type backend struct {
	url    string
	mu     sync.Mutex
	calls  []call
	answer func(c call) (status int, header http.Header, body string)
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	c := call{
		r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("On-Behalf-Of"), r.Header.Get("Authorization"),
		r.Header, string(text),
	}
	b.mu.Lock()
	b.calls = append(b.calls, c)
	b.mu.Unlock()
	status, header, body := b.answer(c)
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (b *backend) to(method, end string) []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []call
	for _, c := range b.calls {
		if c.method == method && strings.HasSuffix(c.path, end) {
			found = append(found, c)
		}
	}
	return found
}

// env is a shop beside a backend.
type env struct {
	t       *testing.T
	backend *backend
	shop    *httptest.Server
}

func newEnv(t *testing.T, pay func(c call) (int, http.Header, string), attempts ...string) *env {
	t.Helper()
	b := &backend{answer: func(c call) (int, http.Header, string) {
		switch {
		case c.path == "/v1/ledger":
			return 200, nil, `[{"kind":"charge","reference":"at-1","amount":1999,"currency":"EUR"},{"kind":"charge","reference":"other","amount":5,"currency":"EUR"}]`
		case strings.HasSuffix(c.path, "/pay"), strings.HasPrefix(c.path, "/v1/payment-attempts/"), c.path == "/v1/orders",
			strings.HasSuffix(c.path, "/attempts"), c.path == "/v1/charges":
			return pay(c)
		}
		return 200, nil, `{"order_id":"A-1","status":"open","amount":1999,"currency":"EUR","attempts":[` + strings.Join(attempts, ",") + `]}`
	}}
	paylatch := httptest.NewServer(b)
	t.Cleanup(paylatch.Close)
	b.url = paylatch.URL
	shop := httptest.NewServer(demo.New(demo.Options{
		PublicURL: paylatch.URL, ProviderURL: paylatch.URL, Token: secret, Client: paylatch.Client(),
	}))
	t.Cleanup(shop.Close)
	return &env{t, b, shop}
}

type answer struct {
	*http.Response
	text string
}

func (r *env) send(method, path, kind, body string, headers ...string) answer {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, r.shop.URL+path, strings.NewReader(body))
	require.NoError(r.t, err)
	if kind != "" {
		q.Header.Set("Content-Type", kind)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		q.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(q)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	require.NotContains(r.t, string(text), secret)
	return answer{resp, string(text)}
}

const (
	attemptID = "01a1fdff-055f-75c2-8ab0-247557662223"
	formType  = "application/x-www-form-urlencoded"
	jsonType  = "application/json"
	aPress    = `{"payment_method":{"token":"tok_success"},"amount":1,"return_url":"https://evil.example"}`
)

func created(call) (int, http.Header, string) {
	return 201, http.Header{"Idempotency-Result": {"created"}, "Content-Type": {jsonType}, "Set-Cookie": {"a=b"}}, `{"status_token":"pst_1"}`
}

func TestPay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created)
	for range 2 {
		got := r.send("POST", "/demo/orders/A-1/pay", jsonType, aPress, "Idempotency-Key: press-0001")
		require.Equal(t, 201, got.StatusCode)
		require.JSONEq(t, `{"status_token":"pst_1"}`, got.text)
		require.Equal(t, "created", got.Header.Get("Idempotency-Result"))
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Empty(t, got.Header.Get("Set-Cookie"))
	}
	pays := r.backend.to("POST", "/v1/orders/A-1/pay")
	require.Len(t, pays, 2)
	require.Equal(t, pays[0].body, pays[1].body, "one press, one body")
	require.Equal(t, "press-0001", pays[0].key)
	require.Equal(t, "u-1", pays[0].behalf)
	require.Equal(t, "Bearer "+secret, pays[0].authorization)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(pays[0].body), &body))
	require.Equal(t, map[string]any{"token": "tok_success"}, body["payment_method"])
	require.NotContains(t, body, "amount", "the page decides nothing about money")
	require.NotContains(t, pays[0].body, "evil")
}

func TestPayRefused(t *testing.T) {
	t.Parallel()
	r := newEnv(t, func(call) (int, http.Header, string) {
		return 409, http.Header{"Content-Type": {"application/problem+json"}, "Retry-After": {"3"}}, `{"code":"payment-in-progress"}`
	})
	got := r.send("POST", "/demo/orders/A-1/pay", jsonType, aPress, "Idempotency-Key: press-0001")
	require.Equal(t, 409, got.StatusCode)
	require.JSONEq(t, `{"code":"payment-in-progress"}`, got.text)
	require.Equal(t, "3", got.Header.Get("Retry-After"))
}

func TestPayWithoutResponse(t *testing.T) {
	t.Parallel()
	r := newEnv(t, func(call) (int, http.Header, string) { return 0, nil, "" })
	got := r.send("POST", "/demo/orders/A-1/pay", jsonType, aPress, "Idempotency-Key: press-0001")
	require.Equal(t, http.StatusBadGateway, got.StatusCode)
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Equal(t, 400, r.send("POST", "/demo/orders/A-1/pay", jsonType, `{`).StatusCode)
}

func TestPayFromAnotherSite(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created)
	got := r.send("POST", "/demo/orders/A-1/pay", formType, "client_request_id=x&token=tok_success", "Sec-Fetch-Site: cross-site", "Origin: https://evil.example")
	require.Equal(t, http.StatusForbidden, got.StatusCode)
	require.Empty(t, r.backend.to("POST", "/pay"))
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := newEnv(t, func(call) (int, http.Header, string) {
		return 304, http.Header{"Etag": {`"3"`}, "Retry-After": {"1"}}, ""
	})
	got := r.send("GET", "/demo/orders/A-1/status?payment_attempt_id="+attemptID, "", "", `If-None-Match: "3"`, "Prefer: wait=20")
	require.Equal(t, 304, got.StatusCode)
	require.Equal(t, `"3"`, got.Header.Get("ETag"))
	asked := r.backend.to("GET", "/v1/payment-attempts/"+attemptID)
	require.Len(t, asked, 1)
	require.Equal(t, "wait=20", asked[0].header.Get("Prefer"))
	require.Equal(t, `"3"`, asked[0].header.Get("If-None-Match"))
	require.Equal(t, http.StatusNotFound, r.send("GET", "/demo/orders/A-1/status?payment_attempt_id=..", "", "").StatusCode)
}

// The form's hidden id is one for each attempt that the order may have.
func TestPayByForm(t *testing.T) {
	t.Parallel()
	hidden := regexp.MustCompile(`name="client_request_id" value="([^"]+)"`)
	fresh := newEnv(t, created)
	ids := map[string]bool{}
	for range 3 {
		ids[hidden.FindStringSubmatch(fresh.send("GET", "/demo/orders/A-1", "", "").text)[1]] = true
	}
	failed := newEnv(t, created, `{"payment_attempt_id":"at-1","status":"failed","stage":"final","can_start_new_attempt":true,"failure":{"message":"Declined."}}`)
	page := failed.send("GET", "/demo/orders/A-1", "", "").text
	require.Contains(t, page, "Declined.")
	require.Contains(t, page, "charge: 19.99 EUR")
	require.NotContains(t, page, "0.05", "another order's money")
	ids[hidden.FindStringSubmatch(page)[1]] = true
	require.Equal(t, map[string]bool{"form:A-1:1": true, "form:A-1:2": true}, ids)

	form := url.Values{"client_request_id": {"form:A-1:1"}, "token": {"tok_success"}}.Encode()
	got := fresh.send("POST", "/demo/orders/A-1/pay", formType, form)
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	require.Equal(t, "/demo/orders/A-1", got.Header.Get("Location"))
	require.Equal(t, "form:A-1:1", fresh.backend.to("POST", "/pay")[0].key)
}

func TestPayByFormRefused(t *testing.T) {
	t.Parallel()
	form := url.Values{"client_request_id": {"form:A-1:1"}, "token": {"tok_redirect"}}.Encode()
	for name, c := range map[string]struct {
		answers, status int
		says            string
	}{
		"in progress":  {409, 303, ""},
		"busy":         {503, 503, "Press Pay again. You are not charged twice."},
		"out of quota": {429, 503, "Press Pay again. You are not charged twice."},
		"silent":       {0, 503, "Press Pay again. You are not charged twice."},
		"wrong":        {422, 422, "could not be started"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, func(call) (int, http.Header, string) { return c.answers, nil, `{"code":"x"}` })
			got := r.send("POST", "/demo/orders/A-1/pay", formType, form)
			require.Equal(t, c.status, got.StatusCode)
			require.Contains(t, got.text, c.says)
			if c.status != 303 {
				require.Contains(t, got.text, `value="form:A-1:1"`, "the next press is the same")
				require.Regexp(t, `<option value="tok_redirect" selected`, got.text)
			}
		})
	}
}

// The script continues the attempt under way, and ignores an old failure in its own storage if the order is paid.
func TestCheckoutLiveAttempt(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{"pending": "at-1", "succeeded": "at-1", "failed": ""} {
		r := newEnv(t, created, `{"payment_attempt_id":"at-1","status":"`+status+`","stage":"requested"}`)
		require.Contains(t, r.send("GET", "/demo/orders/A-1", "", "").text, `data-live="`+want+`"`, status)
	}
	require.Contains(t, newEnv(t, created).send("GET", "/demo/orders/A-1", "", "").text, `data-live=""`)
}

func TestCheckoutWithoutScript(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created, `{"payment_attempt_id":"at-1","status":"pending","stage":"requested"}`)
	refresh := regexp.MustCompile(`<noscript><meta http-equiv="refresh" content="(\d+);url=\?look=(\d+)">`)
	first := refresh.FindStringSubmatch(r.send("GET", "/demo/orders/A-1", "", "").text)
	require.Equal(t, []string{"2", "1"}, first[1:])
	later := refresh.FindStringSubmatch(r.send("GET", "/demo/orders/A-1?look=15", "", "").text)
	require.Equal(t, []string{"32", "16"}, later[1:])
	for _, query := range []string{"?look=16", "?look=999"} {
		page := r.send("GET", "/demo/orders/A-1"+query, "", "").text
		require.NotContains(t, page, "refresh")
		require.Contains(t, page, "Check again")
	}
	require.NotNil(t, refresh.FindStringSubmatch(r.send("GET", "/demo/orders/A-1?look=-5", "", "").text))
}

func TestCreateOrder(t *testing.T) {
	t.Parallel()
	r := newEnv(t, created)
	page := r.send("GET", "/demo", "", "").text
	id := regexp.MustCompile(`name="order_request_id" value="([^"]+)"`).FindStringSubmatch(page)[1]
	for range 2 {
		got := r.send("POST", "/demo/orders", formType, "order_request_id="+id)
		require.Equal(t, http.StatusSeeOther, got.StatusCode)
		require.Equal(t, "/demo/orders/demo-"+id, got.Header.Get("Location"))
	}
	made := r.backend.to("POST", "/v1/orders")
	require.Len(t, made, 2)
	require.Equal(t, made[0].key, made[1].key)
	require.Equal(t, made[0].body, made[1].body)
}

func TestCheckoutLateSuccess(t *testing.T) {
	t.Parallel()
	const late = `{"payment_attempt_id":"at-1","status":"failed","stage":"final","amount_captured":1999,"failure":{"message":"The card was declined."}}`
	for name, attempts := range map[string][]string{
		"alone":              {late},
		"before another try": {late, `{"payment_attempt_id":"at-2","status":"failed","stage":"final"}`},
	} {
		page := newEnv(t, created, attempts...).send("GET", "/demo/orders/A-1", "", "").text
		require.Regexp(t, `<p id="status"[^>]*>Your payment arrived after all; the shop is looking at it\.</p>`, page, name)
		require.Contains(t, page, `data-phase="arrived"`, name)
		require.NotContains(t, page, " again</button>", name)
	}
}
