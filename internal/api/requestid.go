package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

// WithRequestID sets the request's id and nosniff on responses outside of the API, as the API does on its own. The request has
// the id from then on.
func WithRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		identified(w.Header(), r)
		next.ServeHTTP(w, r)
	})
}

// BeginAccessRecord returns the record of a request and identifies it.
func BeginAccessRecord(response http.Header, r *http.Request, now time.Time) *AccessRecord {
	return &AccessRecord{RequestID: identified(response, r), Begun: now, Method: r.Method, Origin: origin(r.Header)}
}

// identified sets the request's id on it and on its response, and returns it.
func identified(response http.Header, r *http.Request) string {
	id := requestID(r.Header)
	r.Header.Set(echo.HeaderXRequestID, id)
	response.Set(echo.HeaderXRequestID, id)
	response.Set(echo.HeaderXContentTypeOptions, "nosniff")
	return id
}

const longestRequestID = 128

// requestID is the caller's, if it can stand in a log as it is.
func requestID(h http.Header) string {
	ids := h.Values(echo.HeaderXRequestID)
	if len(ids) == 1 && ids[0] != "" && len(ids[0]) <= longestRequestID && isVisible(ids[0]) && !redact.CardNumberIn(ids[0]) {
		return ids[0]
	}
	return uuid.Must(uuid.NewV7()).String()
}

// longestOrigin is that of a name in the DNS, with its scheme and port.
const longestOrigin = 272

// origin is the page that the browser names, if it can stand in a log as it is.
func origin(h http.Header) string {
	if o := h.Get(echo.HeaderOrigin); len(o) <= longestOrigin && isVisible(o) {
		return o
	}
	return ""
}

func isVisible(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
