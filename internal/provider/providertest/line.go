package providertest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Request is a request that reached the provider's address.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// line connects an adapter to the fake and injects faults.
type line struct {
	fake http.Handler
	// served is the fake, recorded.
	served http.Handler
	// aside reports the requests that faults do not touch.
	aside func(Request) bool

	mu   sync.Mutex
	seen []Request
	// fault handles requests in the place of the fake; nil: the fake handles them.
	fault func(w http.ResponseWriter, r *http.Request, fake http.Handler)
}

func newLine(t *testing.T, fake http.Handler, aside func(Request) bool) *line {
	t.Helper()
	return &line{fake: fake, served: Recorded(t, struct{ http.Handler }{fake}), aside: aside}
}

// ServeHTTP implements http.Handler.
func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := received(r)
	if l.aside != nil && l.aside(request) {
		l.served.ServeHTTP(w, r)
		return
	}
	l.mu.Lock()
	l.seen = append(l.seen, request)
	fault := l.fault
	l.mu.Unlock()
	if fault == nil {
		l.served.ServeHTTP(w, r)
		return
	}
	fault(w, r, l.served)
}

// received returns a request and leaves its body readable.
func received(r *http.Request) Request {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return Request{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Clone(), body}
}

func (l *line) breaks(fault func(http.ResponseWriter, *http.Request, http.Handler)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = fault
}

func (l *line) mends() { l.breaks(nil) }

func (l *line) requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// answers gives every request this answer, without calling the fake.
func (l *line) answers(status int, body string) {
	l.breaks(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// loses lets the fake carry out requests and drops its answers.
func (l *line) loses() {
	l.breaks(func(_ http.ResponseWriter, r *http.Request, fake http.Handler) {
		fake.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// failing is the context key of a request whose answer is replaced by an error.
type failing struct{}

// Fails reports whether the caller gets a server error in the place of the fake's answer to this request. The fake of a
// provider that stores no server error under an idempotency key must not store its answer then.
func Fails(r *http.Request) bool { return r.Context().Value(failing{}) != nil }

// fails lets the fake carry commands out and answers them with a server error. The returned function returns the fake's
// own answer.
func (l *line) fails(command func(Request) bool) func() string {
	said := make(chan string, 1)
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		if !command(received(r)) {
			fake.ServeHTTP(w, r)
			return
		}
		heard := httptest.NewRecorder()
		fake.ServeHTTP(heard, r.WithContext(context.WithValue(r.Context(), failing{}, true)))
		said <- heard.Body.String()
		w.WriteHeader(http.StatusBadGateway)
	})
	return func() string { return <-said }
}

// redirects sends every answer of the fake as the body of a redirect.
func (l *line) redirects(status int, to string) {
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		heard := httptest.NewRecorder()
		fake.ServeHTTP(heard, r)
		w.Header().Set("Location", to)
		w.WriteHeader(status)
		_, _ = w.Write(heard.Body.Bytes())
	})
}

// falsifies replaces words in the fake's answers.
func (l *line) falsifies(words interface{ Replace(string) string }) {
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		heard := httptest.NewRecorder()
		fake.ServeHTTP(heard, r)
		w.Header().Set("Content-Type", heard.Header().Get("Content-Type"))
		w.WriteHeader(heard.Code)
		_, _ = io.WriteString(w, words.Replace(heard.Body.String()))
	})
}
