package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestBadBodiesAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const create, pay = "/v1/orders", "/v1/orders/A-1/pay"
	for name, c := range map[string]struct {
		path, body string
		status     int
		code       string
		fields     string
	}{
		"empty":                {create, ``, 400, "malformed-request", ""},
		"not JSON":             {create, `{"amount":`, 400, "malformed-request", ""},
		"a list":               {create, `[]`, 400, "malformed-request", ""},
		"null":                 {create, `null`, 400, "malformed-request", ""},
		"a string":             {create, `"x"`, 400, "malformed-request", ""},
		"trailing data":        {create, goodOrder + `{}`, 400, "malformed-request", ""},
		"duplicate":            {create, `{"amount":1,"amount":1,"currency":"EUR"}`, 400, "malformed-request", ""},
		"duplicate deep":       {create, `{"amount":1,"currency":"EUR","metadata":{"a":"1","a":"1"}}`, 400, "malformed-request", ""},
		"unknown":              {create, `{"amount":1,"currency":"EUR","user_id":"u2"}`, 400, "malformed-request", ""},
		"unknown by case":      {create, `{"Amount":1,"amount":1,"currency":"EUR"}`, 400, "malformed-request", ""},
		"unknown deep":         {pay, `{"payment_method":{"token":"t","cvc":"123"}}`, 400, "malformed-request", ""},
		"invalid UTF-8":        {create, "{\"amount\":1,\"currency\":\"EUR\",\"description\":\"\xff\"}", 400, "malformed-request", ""},
		"half a surrogate":     {create, `{"amount":1,"currency":"EUR","description":"\ud800"}`, 400, "malformed-request", ""},
		"deep":                 {create, strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40), 400, "malformed-request", ""},
		"large":                {create, `{"description":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "body-too-large", ""},
		"nothing required":     {create, `{}`, 422, "validation-failed", "amount currency"},
		"everything wrong":     {create, `{"order_id":"","amount":"1","currency":"eur","description":1,"metadata":[]}`, 422, "validation-failed", "amount currency description metadata order_id"},
		"null members":         {create, `{"amount":null,"currency":null,"order_id":null}`, 422, "validation-failed", "amount currency order_id"},
		"amount with point":    {create, `{"amount":1999.0,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount with exponent": {create, `{"amount":1.999e3,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount 1E0":           {create, `{"amount":1E0,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount as text":       {create, `{"amount":"1999","currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount true":          {create, `{"amount":true,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount 0":             {create, `{"amount":0,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount -0":            {create, `{"amount":-0,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount negative":      {create, `{"amount":-1,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount too large":     {create, `{"amount":1000000000001,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"amount beyond int64":  {create, `{"amount":99999999999999999999,"currency":"EUR"}`, 422, "validation-failed", "amount"},
		"currency unknown":     {create, `{"amount":1,"currency":"ZZZ"}`, 422, "validation-failed", "currency"},
		"currency long":        {create, `{"amount":1,"currency":"EURO"}`, 422, "validation-failed", "currency"},
		"order_id long":        {create, `{"amount":1,"currency":"EUR","order_id":"` + strings.Repeat("a", 129) + `"}`, 422, "validation-failed", "order_id"},
		"order_id letters":     {create, `{"amount":1,"currency":"EUR","order_id":"a/b"}`, 422, "validation-failed", "order_id"},
		"order_id newline":     {create, `{"amount":1,"currency":"EUR","order_id":"a\n"}`, 422, "validation-failed", "order_id"},
		"description long":     {create, `{"amount":1,"currency":"EUR","description":"` + strings.Repeat("ü", 1001) + `"}`, 422, "validation-failed", "description"},
		"description with NUL": {create, `{"amount":1,"currency":"EUR","description":"a\u0000"}`, 422, "validation-failed", "description"},
		"metadata many":        {create, `{"amount":1,"currency":"EUR","metadata":` + notes(51) + `}`, 422, "validation-failed", "metadata"},
		"metadata number":      {create, `{"amount":1,"currency":"EUR","metadata":{"a":1}}`, 422, "validation-failed", "metadata.a"},
		"metadata long":        {create, `{"amount":1,"currency":"EUR","metadata":{"a":"` + strings.Repeat("a", 501) + `"}}`, 422, "validation-failed", "metadata.a"},
		"metadata key long":    {create, `{"amount":1,"currency":"EUR","metadata":{"` + strings.Repeat("a", 41) + `":"1"}}`, 422, "validation-failed", "metadata." + strings.Repeat("a", 41)},
		"metadata key empty":   {create, `{"amount":1,"currency":"EUR","metadata":{"":"1"}}`, 422, "validation-failed", "metadata."},
		"metadata key NUL":     {create, `{"amount":1,"currency":"EUR","metadata":{"\u0000":"1"}}`, 422, "validation-failed", `metadata."\x00"`},
		"no token":             {pay, `{"payment_method":{}}`, 422, "validation-failed", "payment_method.token"},
		"no method":            {pay, `{}`, 422, "validation-failed", "payment_method"},
		"method a string":      {pay, `{"payment_method":"tok"}`, 422, "validation-failed", "payment_method"},
		"token empty":          {pay, `{"payment_method":{"token":""}}`, 422, "validation-failed", "payment_method.token"},
		"token long":           {pay, `{"payment_method":{"token":"` + strings.Repeat("a", 16<<10+1) + `"}}`, 422, "validation-failed", "payment_method.token"},
		"capture":              {pay, `{"payment_method":{"token":"t"},"capture":"later"}`, 422, "validation-failed", "capture"},
		"return_url relative":  {pay, `{"payment_method":{"token":"t"},"return_url":"/thanks"}`, 422, "validation-failed", "return_url"},
		"return_url scheme":    {pay, `{"payment_method":{"token":"t"},"return_url":"javascript:alert(1)"}`, 422, "validation-failed", "return_url"},
		"return_url file":      {pay, `{"payment_method":{"token":"t"},"return_url":"file:///etc/passwd"}`, 422, "validation-failed", "return_url"},
		"return_url data":      {pay, `{"payment_method":{"token":"t"},"return_url":"DATA:text/html,x"}`, 422, "validation-failed", "return_url"},
		"return_url no host":   {pay, `{"payment_method":{"token":"t"},"return_url":"https://:80/"}`, 422, "validation-failed", "return_url"},
		"return_url long":      {pay, `{"payment_method":{"token":"t"},"return_url":"https://a.example/` + strings.Repeat("a", 2048) + `"}`, 422, "validation-failed", "return_url"},
		"account":              {pay, `{"payment_method":{"token":"t"},"account":"a b"}`, 422, "validation-failed", "account"},
		"pay amount":           {pay, `{"payment_method":{"token":"t"},"amount":1.0,"currency":1}`, 422, "validation-failed", "amount currency"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := *b
			b.t = t
			got := b.command(c.path, c.body)
			p := got.is(t, c.status, c.code)
			require.False(t, p.Retryable)
			require.Equal(t, "key-00000001", got.Header.Get("Idempotency-Key"))
			require.Empty(t, got.Header.Get("Idempotency-Result"))
			var fields []string
			for _, f := range p.Errors {
				fields = append(fields, f.Field)
			}
			require.Equal(t, c.fields, strings.Join(fields, " "))
		})
	}
	t.Cleanup(func() { require.Zero(t, b.payments.calls, "nothing bad reaches a use case") })
}

// A call that takes no body refuses members, too.
func TestCallsWithoutABody(t *testing.T) {
	t.Parallel()
	b, _ := endpointBench(t)
	b.payments.view = payment.View{Attempt: pending()}
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	checked := 0
	for _, op := range doc.Operations() {
		if op.Method != http.MethodPost || op.RequestBody != nil || !doc.Secured(op) {
			continue
		}
		checked++
		path := strings.NewReplacer("{payment_attempt_id}", attemptID.String(), "{endpoint}", "shop").Replace(op.Path)
		require.NotContains(t, path, "{")
		for body, want := range map[string]string{
			`{"x":1}`: "400 malformed-request", `{"x":1,"x":1}`: "400 malformed-request", `{}{}`: "400 malformed-request", `[]`: "400 malformed-request",
			`null`: "400 malformed-request", `{"` + visa + `":1}`: "422 card-number-refused", `{"x":"` + visa + `"}`: "422 card-number-refused",
			`{"x":"` + strings.Repeat("a", 1<<20) + `"}`: "413 body-too-large",
		} {
			status, code, _ := strings.Cut(want, " ")
			got := b.send(http.MethodPost, path, body, asService)
			require.Equal(t, status, strconv.Itoa(got.StatusCode), "%s %.40s", path, body)
			require.Equal(t, code, got.problem(t).Code)
			require.NotContains(t, string(got.text), visa)
		}
		b.send(http.MethodPost, path, `{}`, asService, "Content-Type: text/plain").is(t, 415, "unsupported-media-type")
		for _, body := range []string{``, `{}`, ` { } `} {
			require.Equal(t, http.StatusOK, b.send(http.MethodPost, path, body, asService).StatusCode, "%s %s", path, body)
		}
	}
	require.Equal(t, 2, checked)
}

func notes(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return "{" + strings.Join(list, ",") + "}"
}

func TestTheLargestValuesAreAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), "created"
	got := b.command("/v1/orders", `{"amount":1000000000000,"currency":"KWD","order_id":"`+strings.Repeat("a", 128)+`","description":"`+
		strings.Repeat("ü", 1000)+`","metadata":`+notes(50)+`}`)
	require.Equal(t, http.StatusCreated, got.StatusCode, "%s", got.text)
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.order, b.payments.result = order(), "created"
	for _, good := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""} {
		require.Equal(t, 201, b.command("/v1/orders", goodOrder, "Content-Type: "+good).StatusCode, good)
	}
	for _, bad := range []string{"-", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/jsonx", "application/merge-patch+json", ";"} {
		b.command("/v1/orders", goodOrder, "Content-Type: "+bad).is(t, 415, "unsupported-media-type")
	}
	b.command("/v1/orders", goodOrder, "Content-Type: application/json", "Content-Type: application/json").is(t, 415, "unsupported-media-type")
	b.command("/v1/orders", goodOrder, "Content-Encoding: gzip").is(t, 415, "unsupported-media-type")
}

func TestBadHeadersAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct {
		header string
		status int
		code   string
	}{
		"no token":     {"Authorization: -", 401, "unauthenticated"},
		"basic":        {"Authorization: Basic dTpw", 401, "unauthenticated"},
		"empty bearer": {"Authorization: Bearer ", 401, "unauthenticated"},
		"nobody":       {"Authorization: Bearer nobody", 403, "forbidden"},
		"empty user":   {"On-Behalf-Of: ", 400, "malformed-request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := *b
			b.t = t
			got := b.command("/v1/orders", goodOrder, c.header)
			got.is(t, c.status, c.code)
			require.Equal(t, c.status == 401, got.Header.Get("WWW-Authenticate") == "Bearer")
		})
	}
	b.send(http.MethodGet, "/v1/orders/A-1", "", "On-Behalf-Of: a", "On-Behalf-Of: b").is(t, 400, "malformed-request")
	b.send(http.MethodGet, "/v1/orders/A-1", "", "Authorization: Bearer a", "Authorization: Bearer b").is(t, 401, "unauthenticated")
	b.send(http.MethodGet, "/v1/orders/A-1?a=%zz", "").is(t, 400, "malformed-request")
}

func TestPathsAndMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.invented = true // there are metrics in the real program
	for _, path := range []string{"/v1", "/v1/", "/v1/orders/", "/v1/orders/A-1/", "/v2/orders", "/problems/none", "/metrics", "/webhooks", "/webhooks/"} {
		b.send(http.MethodGet, path, "").is(t, 404, "not-found")
	}
	for _, c := range [][3]string{
		{http.MethodPut, "/v1/orders", "GET, HEAD, POST"},
		{http.MethodDelete, "/v1/orders/A-1", "GET, HEAD, PATCH"},
		{http.MethodGet, "/v1/orders/A-1/pay", "POST"},
		{http.MethodPost, "/healthz", "GET, HEAD"},
		{http.MethodDelete, "/webhooks/sandbox", "GET, POST"},
		{"BREW", "/v1/orders", "GET, HEAD, POST"},
	} {
		got := b.send(c[0], c[1], "")
		got.is(t, 405, "method-not-allowed")
		require.Equal(t, "OPTIONS, "+c[2], got.Header.Get("Allow"))
	}
	got := b.send(http.MethodHead, "/v1/orders/A-1/pay", "")
	require.Equal(t, 405, got.StatusCode)
	require.Empty(t, got.text)
}
