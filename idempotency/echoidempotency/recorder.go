package echoidempotency

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/idempotency"
)

// recorder keeps the response that a handler writes.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b) //nolint:wrapcheck // never fails
}

// response returns the written response. Several values of a header become a list. Cookies belong
// to one caller's session and are left out. So are headers that describe the connection.
func (w *recorder) response() idempotency.Response {
	w.WriteHeader(http.StatusOK)
	r := idempotency.Response{Status: w.status, Headers: map[string]string{}, Body: w.body.Bytes()}
	for name, values := range w.header {
		switch http.CanonicalHeaderKey(name) {
		case "Set-Cookie", "Connection", "Content-Length", "Date", "Keep-Alive", "Transfer-Encoding", "Trailer":
		default:
			r.Headers[name] = strings.Join(values, ", ")
		}
	}
	return r
}
