package providertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// recordVariable names a folder for the requests that the adapters send in their tests, and the responses of the fakes. Without
// it, nothing is recorded. See scripts/providers.
const recordVariable = "PAYLATCH_RECORD"

// Exchange is a line of a recording.
type Exchange struct {
	Test   string `json:"test"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Header has the request's headers. A credential is replaced.
	Header   map[string]string `json:"header"`
	Body     string            `json:"body,omitempty"`
	Response Response          `json:"response"`
	// Fake is set if the fake of the adapter gave the response, and not a handler of one test. Such a handler may answer
	// anything.
	Fake bool `json:"fake"`
}

// Response is the response of an exchange.
type Response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   string            `json:"body,omitempty"`
}

// Recorded returns a server's handler that also records its exchanges in a file with the name of the adapter, one line each. A
// http.HandlerFunc is a handler of one test; every other handler is a fake.
func Recorded(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	dir := os.Getenv(recordVariable)
	if dir == "" {
		return h
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, own := h.(http.HandlerFunc)
	file := filepath.Join(dir, filepath.Base(wd)+".jsonl")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := received(r)
		tee := &tee{ResponseWriter: w, status: http.StatusOK}
		h.ServeHTTP(tee, r)
		if tee.hijacked {
			return
		}
		err := appendLine(file, Exchange{
			Test: t.Name(), Method: sent.Method, Path: sent.Path, Query: sent.Query, Header: plainHeader(sent.Header), Body: string(sent.Body),
			Response: Response{tee.status, plainHeader(w.Header()), tee.body.String()}, Fake: !own,
		})
		if err != nil {
			t.Errorf("record: %v", err)
		}
	})
}

// recording orders the lines of a file.
var recording sync.Mutex //nolint:gochecknoglobals // all tests of an adapter write one file

func appendLine(file string, x Exchange) error {
	line, err := json.Marshal(x)
	if err != nil {
		return err //nolint:wrapcheck // it is for the test's log
	}
	recording.Lock()
	defer recording.Unlock()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // whoever runs the tests says where
	if err != nil {
		return err //nolint:wrapcheck // it is for the test's log
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// plainHeader has each header once. Of a credential only its scheme remains.
func plainHeader(h http.Header) map[string]string {
	all := make(map[string]string, len(h))
	for name, values := range h {
		value := strings.Join(values, ", ")
		switch name {
		case "Authorization":
			scheme, _, _ := strings.Cut(value, " ")
			value = scheme + " credential"
		case "X-Api-Key", "Cookie":
			value = "credential"
		}
		all[name] = value
	}
	return all
}

// tee keeps the response that it passes on.
type tee struct {
	http.ResponseWriter

	status   int
	body     bytes.Buffer
	hijacked bool
}

// WriteHeader implements http.ResponseWriter.
func (t *tee) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *tee) Write(part []byte) (int, error) {
	t.body.Write(part)
	return t.ResponseWriter.Write(part) //nolint:wrapcheck // the server's own
}

// Hijack implements http.Hijacker.
func (t *tee) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	t.hijacked = true
	return http.NewResponseController(t.ResponseWriter).Hijack() //nolint:wrapcheck // the server's own
}

// Flush implements http.Flusher.
func (t *tee) Flush() { _ = http.NewResponseController(t.ResponseWriter).Flush() }
