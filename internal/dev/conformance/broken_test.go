package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/conformance"
)

// TestEachCheckFails has a provider for each check that is broken in just that way.
func TestEachCheckFails(t *testing.T) {
	t.Parallel()
	broken := providers()
	var names []string
	for name := range results(t, setting{wait: enough}) {
		names = append(names, name)
	}
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(broken)), "each check, and no other")
	for name, s := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.wait = wait
			r := results(t, s)[name]
			require.Equal(t, conformance.Failed, r.Outcome, "%+v", r)
			require.NotEmpty(t, r.Expected)
			require.NotEmpty(t, r.Got)
			require.NotEmpty(t, r.Remedy)
			t.Logf("expected: %s; got: %s", r.Expected, r.Got)
		})
	}
}

// providers are the broken ones, by the check that fails.
func providers() map[string]setting {
	return map[string]setting{
		"wrong credential": {front: asking(func(r *http.Request, _ members) { r.Header.Set("Authorization", "Bearer "+apiKey) })},
		"garbled body": {front: before(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
			if r.Method == http.MethodPost && !json.Valid(body) {
				w.WriteHeader(http.StatusCreated)
				return
			}
			next.ServeHTTP(w, r)
		})},
		"large body": {front: asking(func(_ *http.Request, m members) { delete(m, "padding") })},
		"no idempotency key": {front: asking(func(r *http.Request, _ members) {
			if r.Header.Get("Idempotency-Key") == "" {
				r.Header.Set("Idempotency-Key", uuid.NewString())
			}
		})},
		"invalid amount": {front: asking(func(_ *http.Request, m members) {
			if m["amount"] == 0.0 {
				m["amount"] = 1
			}
		})},
		"charge":                 {front: answering(charging, func(m members) { m["amount"] = 1998 })},
		"decline":                {front: answering(charging, func(m members) { m["failure_code"] = nil })},
		"redirect":               {front: answering(charging, func(m members) { m["next_action"] = nil })},
		"same key":               {front: asking(func(r *http.Request, _ members) { anew(r) })},
		"same key at once":       {front: forgetful},
		"same key, another body": {front: repeating},
		"lookup by id":           {front: answering(looking, func(m members) { m["status"] = "pending" })},
		"lookup by reference":    {front: answering(finding, func(m members) { m["items"] = []any{} })},
		"unknown id": {front: before(func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			if strings.Contains(r.URL.Path, "/none-") {
				http.NotFound(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})},
		"unknown reference": {front: answering(finding, func(m members) { delete(m, "items") })},
		"manual capture":    {front: asking(func(_ *http.Request, m members) { automatic(m) })},
		"capture": {front: asking(func(r *http.Request, _ members) {
			if strings.HasSuffix(r.URL.Path, "/capture") {
				anew(r)
			}
		})},
		"partial capture":     {front: capturing(func(float64) int { return 1999 })},
		"capture of too much": {front: capturing(func(amount float64) int { return min(int(amount), 1999) })},
		"cancel": {front: before(func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			if id, found := strings.CutSuffix(r.URL.Path, "/cancel"); found {
				w.WriteHeader(http.StatusOK)
				_, _ = io.WriteString(w, `{"id":"`+id[strings.LastIndex(id, "/")+1:]+`","status":"canceled"}`)
				return
			}
			next.ServeHTTP(w, r)
		})},
		"cancel of a paid charge": {front: answering(canceling, withoutStatus)},
		"refund":                  {front: answering(looking, func(m members) { m["refunds"] = []any{} })},
		"refund, same key": {front: asking(func(r *http.Request, _ members) {
			if refunding(r, nil) {
				anew(r)
			}
		})},
		"refund of too much":   {front: answering(func(r *http.Request) bool { return refunding(r, nil) }, withoutStatus)},
		"webhook of a charge":  {secret: "whsec_YW5vdGhlci1zZWNyZXQtb2YtdGhlLXNhbmRib3gtMTI="},
		"webhook of a decline": {sender: swallowing("charge.failed")},
		"webhook of a refund":  {sender: swallowing("refund.succeeded")},
		"webhook again":        {sender: once},
		"webhooks signed":      {sender: twice},
		"capabilities":         {front: takingAnyway},
	}
}

// members are the members of a JSON object.
type members map[string]any

// front stands before a provider.
type front = func(*testing.T, http.Handler) http.Handler

// before has the body of each request at hand.
func before(do func(http.ResponseWriter, *http.Request, []byte, http.Handler)) front {
	return func(t *testing.T, next http.Handler) http.Handler {
		t.Helper()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			do(w, r, body, next)
		})
	}
}

// asking changes requests.
func asking(change func(*http.Request, members)) front {
	return before(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		var m members
		_ = json.Unmarshal(body, &m)
		change(r, m)
		if len(m) > 0 {
			body, _ = json.Marshal(m)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

// answering changes the answers to some requests.
func answering(which func(*http.Request) bool, change func(members)) front {
	return before(func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
		if !which(r) {
			next.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		var m members
		_ = json.Unmarshal(rec.Body.Bytes(), &m)
		change(m)
		w.WriteHeader(rec.Code)
		_ = json.NewEncoder(w).Encode(m)
	})
}

func charging(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/v1/charges"
}

func looking(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/charges/")
}

func finding(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Path == "/v1/charges" }

func canceling(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/cancel") }

func refunding(r *http.Request, _ members) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/refunds")
}

func manual(_ *http.Request, m members) bool { return m["capture"] == "manual" }

func automatic(m members) {
	if m["capture"] == "manual" {
		m["capture"] = "automatic"
	}
}

func anew(r *http.Request) {
	if r.Header.Get("Idempotency-Key") != "" {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}
}

func withoutStatus(m members) {
	if e, ok := m["error"].(map[string]any); ok {
		delete(e, "charge_status")
	}
}

func capturing(as func(float64) int) front {
	return asking(func(r *http.Request, m members) {
		if amount, ok := m["amount"].(float64); ok && strings.HasSuffix(r.URL.Path, "/capture") {
			m["amount"] = as(amount)
		}
	})
}

func unsupported(w http.ResponseWriter) {
	w.WriteHeader(http.StatusUnprocessableEntity)
	_, _ = io.WriteString(w, `{"error":{"code":"not_supported"}}`)
}

// refusing refuses some requests as not_supported.
func refusing(which ...func(*http.Request, members) bool) front {
	return before(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		var m members
		_ = json.Unmarshal(body, &m)
		for _, one := range which {
			if one(r, m) {
				unsupported(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// takingAnyway takes the money of a charge that it refuses as not_supported.
func takingAnyway(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	return before(func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
		var m members
		if _ = json.Unmarshal(body, &m); !manual(r, m) {
			next.ServeHTTP(w, r)
			return
		}
		automatic(m)
		body, _ = json.Marshal(m)
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(httptest.NewRecorder(), r)
		unsupported(w)
	})(t, next)
}

// forgetful looks whether a key is there before it charges, and keeps it afterwards: calls at once are charged each.
func forgetful(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	var mu sync.Mutex
	open := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		open[key]++
		several := open[key] > 1
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			open[key]--
		}()
		if several {
			anew(r)
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for ticks := 0; ticks < 50 && !several; ticks++ { // long enough for a second call to come: a busy machine ticks less often
			<-tick.C
			mu.Lock()
			several = open[key] > 1
			mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// repeating answers a key with its first response, whatever the request.
func repeating(t *testing.T, next http.Handler) http.Handler {
	t.Helper()
	var mu sync.Mutex
	kept := map[string]*httptest.ResponseRecorder{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Idempotency-Key")
		rec := kept[key]
		if rec == nil {
			rec = httptest.NewRecorder()
			next.ServeHTTP(rec, r)
		}
		if key != "" {
			kept[key] = rec
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

// trip is a round tripper by a function.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// swallowing has events of a type counted as received.
func swallowing(kind string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return trip(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			if bytes.Contains(body, []byte(kind)) {
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			return next.RoundTrip(r)
		})
	}
}

// once takes every answer for received.
func once(next http.RoundTripper) http.RoundTripper {
	return trip(func(r *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(r)
		if err == nil {
			res.StatusCode = http.StatusOK
		}
		return res, err
	})
}

// twice sends each webhook without its signature as well.
func twice(next http.RoundTripper) http.RoundTripper {
	return trip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		bare := r.Clone(r.Context())
		bare.Header.Del("Webhook-Signature")
		bare.Body = io.NopCloser(bytes.NewReader(body))
		if res, err := next.RoundTrip(bare); err == nil {
			_ = res.Body.Close()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return next.RoundTrip(r)
	})
}
