package providertest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Request is one that reached the provider's address.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
}

// line is what stands between an adapter and the fake.
type line struct {
	fake http.Handler
	// aside tells the requests that go through whatever happens to the others.
	aside func(Request) bool

	mu   sync.Mutex
	seen []Request
	// fault is what happens to requests; nil: they go through.
	fault func(w http.ResponseWriter, r *http.Request, fake http.Handler)
}

// ServeHTTP implements http.Handler.
func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := received(r)
	if l.aside != nil && l.aside(request) {
		l.fake.ServeHTTP(w, r)
		return
	}
	l.mu.Lock()
	l.seen = append(l.seen, request)
	fault := l.fault
	l.mu.Unlock()
	if fault == nil {
		l.fake.ServeHTTP(w, r)
		return
	}
	fault(w, r, l.fake)
}

// received is a request whose body can be read again.
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

// answers lets every request be answered so, without the fake hearing of it.
func (l *line) answers(status int, body string) {
	l.breaks(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// loses lets the fake do what it is asked for and drops its answer.
func (l *line) loses() {
	l.breaks(func(_ http.ResponseWriter, r *http.Request, fake http.Handler) {
		fake.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// failing marks a request whose answer is an error.
type failing struct{}

// Fails reports that a fake's answer to this request will not be seen, but an error
// of its server: one of a provider that keeps no such answer under an idempotency
// key keeps none.
func Fails(r *http.Request) bool { return r.Context().Value(failing{}) != nil }

// fails lets the fake carry commands out and answers them with an error of its
// server. What the fake would have said is returned by the function.
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

// redirects sends every answer of the fake as the page of a redirect.
func (l *line) redirects(status int, to string) {
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		heard := httptest.NewRecorder()
		fake.ServeHTTP(heard, r)
		w.Header().Set("Location", to)
		w.WriteHeader(status)
		_, _ = w.Write(heard.Body.Bytes())
	})
}

// falsifies changes words of the fake's answers.
func (l *line) falsifies(words interface{ Replace(string) string }) {
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		heard := httptest.NewRecorder()
		fake.ServeHTTP(heard, r)
		w.Header().Set("Content-Type", heard.Header().Get("Content-Type"))
		w.WriteHeader(heard.Code)
		_, _ = io.WriteString(w, words.Replace(heard.Body.String()))
	})
}
