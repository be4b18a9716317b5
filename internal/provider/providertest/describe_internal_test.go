package providertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const description = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{
"/payments":{"post":{
 "parameters":[{"name":"Idempotency-Key","in":"header","required":true,"schema":{"type":"string","maxLength":5}}],
 "requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["amount"],
  "additionalProperties":false,"properties":{"amount":{"type":"integer"}}}}}},
 "responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object",
  "additionalProperties":false,"properties":{"id":{"type":"string"},"errors":{"type":"array","items":{}}}}}}}}}},
"/payments/{id}":{"get":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
 "responses":{"200":{"description":"ok"},"404":{"description":"none"}}}}}}`

// A checker that finds no errors in wrong requests would prove nothing.
func TestDescribedFindsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "api.json")
	require.NoError(t, os.WriteFile(file, []byte(description), 0o600))
	for name, c := range map[string]struct {
		line, key, body string
		status          int
		answer          string
		want            string
	}{
		"fits":              {"POST /v1/payments", "k", `{"amount":1}`, 200, `{"id":"1"}`, ""},
		"fits as an error":  {"POST /v1/payments", "k", `{"amount":1}`, 400, `{"errors":[]}`, ""},
		"no body":           {"GET /v1/payments/1", "", "", 404, "", ""},
		"astray":            {"GET /v1/payments/..%2F1", "", "", 404, "", ""},
		"wrong address":     {"POST /payments", "k", `{"amount":1}`, 200, `{}`, "no such address"},
		"wrong type":        {"POST /v1/payments", "k", `{"amount":"1"}`, 200, `{}`, "the request does not fit"},
		"unknown member":    {"POST /v1/payments", "k", `{"amount":1,"x":1}`, 200, `{}`, "the request does not fit"},
		"missing member":    {"POST /v1/payments", "k", `{}`, 200, `{}`, "the request does not fit"},
		"key too long":      {"POST /v1/payments", "k01234", `{"amount":1}`, 200, `{}`, "the request does not fit"},
		"no key":            {"POST /v1/payments", "", `{"amount":1}`, 200, `{}`, "the request does not fit"},
		"wrong answer":      {"POST /v1/payments", "k", `{"amount":1}`, 200, `{"id":1}`, "the fake's answer"},
		"wrong error":       {"POST /v1/payments", "k", `{"amount":1}`, 400, `{"oops":1}`, "the fake's answer"},
		"undocumented code": {"POST /v1/payments", "k", `{"amount":1}`, 202, `{}`, "the fake's answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Described(t, file, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				heard, _ := io.ReadAll(r.Body)
				if string(heard) != c.body {
					c.answer = "not heard"
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			check, ok := h.(*checked)
			require.True(t, ok)
			var found string
			check.report = func(format string, args ...any) { found = fmt.Sprintf(format, args...) }
			method, path, _ := strings.Cut(c.line, " ")
			r := httptest.NewRequest(method, path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			if c.key != "" {
				r.Header.Set("Idempotency-Key", c.key)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.answer, w.Body.String())
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Contains(t, found, c.want)
		})
	}
}

func TestDescribedWithoutADescriptionIsTheFake(t *testing.T) {
	t.Parallel()
	h := Described(t, "none.json", "", http.NotFoundHandler())
	require.NotNil(t, h)
	_, ok := h.(*checked)
	require.False(t, ok)
}
