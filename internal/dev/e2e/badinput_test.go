package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

const (
	goodOrder = `{"amount":1999,"currency":"EUR"}`
	goodPay   = `{"payment_method":{"token":"tok_success"}}`
	key       = "Idempotency-Key: key-00000001"
)

// bad is a request and the problem that it gets.
type bad struct {
	method, path, body string
	status             int
	code               string
	headers            []string
}

// refused sends each request, as the merchant's backend for u1 where it has no token
// of its own, and checks its problem, and that nothing came of any of them.
func refused(t *testing.T, cases map[string]bad) {
	t.Helper()
	r := newRig(t)
	s := r.serve()
	c := s.customer()
	c.createOrder(t.Context(), "A-1", "key-of-A-1").is(t, http.StatusCreated)
	pages := map[string]bool{}
	for name, b := range cases {
		from := c.backend()
		if slices.ContainsFunc(b.headers, func(h string) bool { return strings.HasPrefix(h, "Authorization: ") }) {
			from = c
		}
		got := from.send(t.Context(), b.method, b.path, b.body, b.headers...)
		require.NoError(t, got.err, name)
		require.Equal(t, b.status, got.status, "%s: %s", name, got.text)
		p := got.problem(t, b.status, b.code)
		require.Equal(t, got.header.Get("X-Request-Id"), p.RequestID, name)
		if p.Code != "forbidden" { // it may name the members that the caller does not decide
			require.Equal(t, p.Code == "validation-failed", len(p.Errors) > 0, name)
		}
		require.Equal(t, p.Code == "unauthenticated", got.header.Get("WWW-Authenticate") != "", name)
		require.Equal(t, p.Code == "method-not-allowed", got.header.Get("Allow") != "", name)
		got.result(t, "")
		pages[p.Type] = true
	}
	for page := range pages {
		got := client{base: s.base}.send(t.Context(), http.MethodGet, page, "")
		got.is(t, http.StatusOK)
		require.Contains(t, got.header.Get("Content-Type"), "text/html")
	}
	require.Equal(t, []string{"A-1"}, column[string](t, r, `SELECT order_id FROM orders`))
	require.Empty(t, column[string](t, r, `SELECT order_id FROM payment_attempts`))
	require.Empty(t, column[string](t, r, `SELECT provider_event_id FROM provider_events`))
	require.Zero(t, r.gate.Count(charges))
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	const create, pay = "/v1/orders", "/v1/orders/A-1/pay"
	cases := map[string]bad{}
	add := func(status int, code, path string, bodies ...string) {
		for _, body := range bodies {
			cases[code+" "+path+" "+body[:min(len(body), 200)]] = bad{http.MethodPost, path, body, status, code, []string{key}}
		}
	}
	add(400, "malformed-request", create,
		`{"amount":`, `[]`, `null`, `1`, `"a"`, `{} {}`, goodOrder+`x`, goodOrder+`{}`, goodOrder+"\x00", "\ufeff"+goodOrder,
		`{"amount":1999,"amount":1999,"currency":"EUR"}`, `{"amount":1,"currency":"EUR","metadata":{"a":"1","a":"2"}}`,
		`{"amount":1,"currency":"EUR","user_id":"u2"}`, `{"amount":1,"currency":"EUR","status":"paid"}`, `{"Amount":1,"currency":"EUR"}`,
		"{\"amount\":1,\"currency\":\"EUR\",\"description\":\"\xff\xfe\"}", "{\"amount\":1,\"currency\":\"EUR\",\"description\":\"\xed\xa0\x80\"}",
		`{"amount":1,"currency":"EUR","description":"\udfff"}`, `{'amount':1}`, `{"amount":01,"currency":"EUR"}`, `{"amount":+1,"currency":"EUR"}`,
		`{"amount":NaN,"currency":"EUR"}`, `{"amount":1,"currency":"EUR",}`, `{"amount":1,/**/"currency":"EUR"}`,
		strings.Repeat(`{"metadata":`, 7_000)+`1`+strings.Repeat(`}`, 7_000), strings.Repeat(`[`, 90_000), `{"metadata":`+strings.Repeat(`[`, 90_000),
	)
	add(422, "validation-failed", create,
		`{"amount":1e400,"currency":"EUR"}`,
		`{}`, `{"amount":1999}`, `{"currency":"EUR"}`,
		`{"amount":1999.0,"currency":"EUR"}`, `{"amount":1.999e3,"currency":"EUR"}`, `{"amount":1E0,"currency":"EUR"}`, `{"amount":0.5,"currency":"EUR"}`,
		`{"amount":0,"currency":"EUR"}`, `{"amount":-1,"currency":"EUR"}`, `{"amount":-0,"currency":"EUR"}`, `{"amount":1000000000001,"currency":"EUR"}`,
		`{"amount":9223372036854775808,"currency":"EUR"}`, `{"amount":1e300,"currency":"EUR"}`, `{"amount":"1999","currency":"EUR"}`, `{"amount":null,"currency":"EUR"}`,
		`{"amount":[1],"currency":"EUR"}`, `{"amount":true,"currency":"EUR"}`,
		`{"amount":1,"currency":"eur"}`, `{"amount":1,"currency":"ZZZ"}`, `{"amount":1,"currency":"EURO"}`, `{"amount":1,"currency":""}`, `{"amount":1,"currency":978}`,
		`{"amount":1,"currency":"EUR","order_id":""}`, `{"amount":1,"currency":"EUR","order_id":"a b"}`, `{"amount":1,"currency":"EUR","order_id":"a/b"}`,
		`{"amount":1,"currency":"EUR","order_id":"ü"}`, `{"amount":1,"currency":"EUR","order_id":"`+strings.Repeat("a", 129)+`"}`,
		`{"amount":1,"currency":"EUR","metadata":{"a":1}}`, `{"amount":1,"currency":"EUR","metadata":[]}`, `{"amount":1,"currency":"EUR","description":"\u0000"}`,
	)
	add(422, "validation-failed", pay,
		`{}`, `{"payment_method":{}}`, `{"payment_method":null}`, `{"payment_method":{"token":""}}`, `{"payment_method":{"token":"a\u0000"}}`,
		`{"payment_method":{"token":"tok_success"},"capture":"later"}`, `{"payment_method":{"token":"tok_success"},"amount":1999.0}`,
		`{"payment_method":{"token":"tok_success"},"amount":1}`, `{"payment_method":{"token":"tok_success"},"currency":"USD"}`,
		`{"payment_method":{"token":"tok_success"},"account":"nobody"}`, `{"payment_method":{"token":"tok_success"},"account":"stripe-eu"}`,
		`{"payment_method":{"token":"tok_success"},"return_url":"javascript:alert(1)"}`,
	)
	add(400, "malformed-request", pay,
		`{"payment_method":{"token":"tok_success","cvc":"123"}}`, `{"payment_method":{"token":"tok_success"},"user_id":"u2"}`,
		`{"payment_method":{"token":"a","token":"b"}}`, `tok_success`,
	)
	add(413, "body-too-large", create, `{"description":"`+strings.Repeat("a", 2<<20)+`"}`, strings.Repeat(" ", 2<<20))
	cases["no body"] = bad{http.MethodPost, create, "", 400, "malformed-request", []string{key, "Content-Type: application/json"}}
	for _, media := range []string{
		"-", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json; charset=latin1",
		"application/json; charset=utf-16", "application/jsonx", "application/problem+json", ";", "application/json, text/plain",
	} {
		cases["type "+media] = bad{http.MethodPost, create, goodOrder, 415, "unsupported-media-type", []string{key, "Content-Type: " + media}}
	}
	cases["packed"] = bad{http.MethodPost, create, goodOrder, 415, "unsupported-media-type", []string{key, "Content-Encoding: gzip"}}
	refused(t, cases)
}

func TestBadKeys(t *testing.T) {
	t.Parallel()
	cases := map[string]bad{}
	for path, body := range map[string]string{"/v1/orders": goodOrder, "/v1/orders/A-1/pay": goodPay} {
		add := func(name, path, code string, headers ...string) {
			cases[path+" "+name] = bad{http.MethodPost, path, body, 400, code, headers}
		}
		add("none", path, "idempotency-key-missing")
		add("empty", path, "idempotency-key-missing", "Idempotency-Key: ")
		for _, value := range []string{
			"1234567", strings.Repeat("a", 201), "with space", "comma,comma", "slash/slash", `quote"quote`, `"12345678`, `12345678"`, `"1234567"`,
			`"with\"escape"`, `"12345678";a=1`, "(12345678)", "schlüssel-1", "emoji-\U0001f511-key", ":bytes=:=", "'12345678'", "%31%32%33%34%35%36%37%38",
		} {
			add(value, path, "idempotency-key-invalid", "Idempotency-Key: "+value)
		}
		add("twice", path, "idempotency-key-invalid", key, key)
		add("two", path, "idempotency-key-invalid", key, "Idempotency-Key: key-00000002")
		for _, query := range []string{"idempotency_key=key-00000001", "Idempotency-Key=key-00000001", "idempotency-key=x", "a=b&IDEMPOTENCY_KEY=x", "idempotency%5Fkey=x"} {
			add("only in the query", path+"?"+query, "idempotency-key-in-query")
			add("in the query, too", path+"?"+query, "idempotency-key-in-query", key)
		}
	}
	refused(t, cases)
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	good := token("u1", "customer")
	head, rest, _ := strings.Cut(good, ".")
	payload, _, _ := strings.Cut(rest, ".")
	cases := map[string]bad{}
	for name, text := range map[string]string{
		"empty": "", "garbage": "garbage", "dots": "a.b.c", "long": strings.Repeat("a", 20_000),
		"alg none": jwt("none", claims("u1", time.Hour, "customer"), ""), "alg None": jwt("None", claims("u1", time.Hour, "customer"), secret),
		"alg HS512": jwt("HS512", claims("u1", time.Hour, "customer"), secret), "alg RS256": jwt("RS256", claims("u1", time.Hour, "customer"), secret),
		"wrong secret": jwt("HS256", claims("u1", time.Hour, "customer"), "another secret of at least 32 bytes"),
		"unsigned":     head + "." + payload + ".", "cut": good[:len(good)-3],
		"other claims": head + "." + strings.Split(token("u2", "admin"), ".")[1] + good[strings.LastIndex(good, "."):],
		"expired":      jwt("HS256", claims("u1", -time.Second, "customer"), secret),
		"no exp":       jwt("HS256", `{"sub":"u1","roles":["customer"]}`, secret),
		"text exp":     jwt("HS256", `{"sub":"u1","roles":["customer"],"exp":"never"}`, secret),
		"not yet":      jwt("HS256", strings.Replace(claims("u1", time.Hour, "customer"), "{", `{"nbf":99999999999,`, 1), secret),
		"no sub":       jwt("HS256", claims("", time.Hour, "customer"), secret),
		"odd sub":      jwt("HS256", claims("u 1", time.Hour, "customer"), secret),
		"roles a text": jwt("HS256", strings.Replace(claims("u1", time.Hour, "customer"), `["customer"]`, `"customer"`, 1), secret),
		"false status": "pst_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	} {
		cases[name] = bad{http.MethodGet, "/v1/orders/A-1", "", 401, "unauthenticated", []string{"Authorization: Bearer " + text}}
		cases[name+", command"] = bad{http.MethodPost, "/v1/orders", goodOrder, 401, "unauthenticated", []string{key, "Authorization: Bearer " + text}}
	}
	for _, header := range []string{"-", "Basic dTE6cA==", good, "Bearer", "Token " + good, "Bearer " + good + " " + good} {
		cases["header "+header] = bad{http.MethodGet, "/v1/orders/A-1", "", 401, "unauthenticated", []string{"Authorization: " + header}}
	}
	cases["twice"] = bad{http.MethodGet, "/v1/orders/A-1", "", 401, "unauthenticated", []string{"Authorization: Bearer " + good, "Authorization: Bearer " + good}}
	cases["in the query"] = bad{http.MethodGet, "/v1/orders/A-1?access_token=" + good, "", 401, "unauthenticated", []string{"Authorization: -"}}
	refused(t, cases)
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	bearer := func(sub string, roles ...string) string { return "Authorization: Bearer " + token(sub, roles...) }
	noRole := "Authorization: Bearer " + jwt("HS256", `{"sub":"u1","roles":[],"exp":99999999999}`, secret)
	refused(t, map[string]bad{
		"no role":                 {http.MethodGet, "/v1/orders/A-1", "", 403, "forbidden", []string{noRole}},
		"no known role":           {http.MethodGet, "/v1/orders/A-1", "", 403, "forbidden", []string{bearer("u1", "root", "Customer")}},
		"another's order":         {http.MethodGet, "/v1/orders/A-1", "", 403, "forbidden", []string{bearer("u2", "customer")}},
		"another's attempts":      {http.MethodGet, "/v1/orders/A-1/attempts", "", 403, "forbidden", []string{bearer("u2", "customer")}},
		"another's pay":           {http.MethodPost, "/v1/orders/A-1/pay", goodPay, 403, "forbidden", []string{key, bearer("u2", "customer")}},
		"support creates":         {http.MethodPost, "/v1/orders", goodOrder, 403, "forbidden", []string{key, bearer("sam", "support")}},
		"support pays":            {http.MethodPost, "/v1/orders/A-1/pay", goodPay, 403, "forbidden", []string{key, bearer("sam", "support")}},
		"admin pays":              {http.MethodPost, "/v1/orders/A-1/pay", goodPay, 403, "forbidden", []string{key, bearer("ada", "admin")}},
		"customer for another":    {http.MethodPost, "/v1/orders", goodOrder, 403, "forbidden", []string{key, bearer("u1", "customer"), "On-Behalf-Of: u2"}},
		"customer for itself":     {http.MethodPost, "/v1/orders", goodOrder, 403, "forbidden", []string{key, bearer("u1", "customer"), "On-Behalf-Of: u1"}},
		"support for another":     {http.MethodGet, "/v1/orders/A-1", "", 403, "forbidden", []string{bearer("sam", "support"), "On-Behalf-Of: u1"}},
		"service for the wrong":   {http.MethodPost, "/v1/orders/A-1/pay", goodPay, 403, "forbidden", []string{key, bearer("shop", "service"), "On-Behalf-Of: u2"}},
		"service for nobody":      {http.MethodPost, "/v1/orders/A-1/pay", goodPay, 400, "on-behalf-of-missing", []string{key, bearer("shop", "service")}},
		"service, empty user":     {http.MethodPost, "/v1/orders", goodOrder, 400, "malformed-request", []string{key, bearer("shop", "service"), "On-Behalf-Of: "}},
		"service, two users":      {http.MethodPost, "/v1/orders", goodOrder, 400, "malformed-request", []string{key, bearer("shop", "service"), "On-Behalf-Of: u1", "On-Behalf-Of: u2"}},
		"service, no user's name": {http.MethodPost, "/v1/orders", goodOrder, 422, "validation-failed", []string{key, bearer("shop", "service"), "On-Behalf-Of: u 1"}},
	})
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	cases := map[string]bad{}
	for _, path := range []string{
		"/v1", "/v1/", "/v2/orders", "/v1/order", "/v1/orders/", "/v1/orders/A-1/", "/v1/orders/A-1/pays", "/favicon.ico", "/problems/none",
		"/v1/orders/none", "/v1/orders/none/attempts", "/v1/orders/" + strings.Repeat("a", 5000), "/v1/orders/%00", "/v1/orders/%ff", "/v1/orders/A%2F1", "/v1/orders/a%20b",
		"/v1/payment-attempts/none", "/v1/payment-attempts/" + uuid.NewString(), "/v1/payment-attempts/00000000-0000-0000-0000-000000000000", "/v1/payment-attempts/%00",
		"/v1/orders/../../etc/passwd", "/.env", "/debug/pprof/",
	} {
		cases["GET "+path] = bad{http.MethodGet, path, "", 404, "not-found", nil}
	}
	for _, call := range []string{
		"PUT /v1/orders", "DELETE /v1/orders", "PATCH /v1/orders", "POST /v1/orders/A-1", "DELETE /v1/orders/A-1", "GET /v1/orders/A-1/pay",
		"PUT /v1/orders/A-1/attempts", "POST /healthz", "DELETE /metrics", "PUT /webhooks/stripe-eu", "PURGE /v1/orders", "TRACE /v1/orders",
	} {
		method, path, _ := strings.Cut(call, " ")
		cases[call] = bad{method, path, "", 405, "method-not-allowed", nil}
	}
	cases["query"] = bad{http.MethodGet, "/v1/orders/A-1/attempts?a=%zz", "", 400, "malformed-request", nil}
	cases["a list's unknown parameter"] = bad{http.MethodGet, "/v1/orders?state=paid", "", 400, "malformed-request", nil}
	cases["a list's bad filter"] = bad{http.MethodGet, "/v1/orders?amount_min=1.5", "", 422, "validation-failed", nil}
	cases["empty filter"] = bad{http.MethodGet, "/v1/orders/A-1/attempts?client_request_id=", "", 422, "validation-failed", nil}
	refused(t, cases)
}
