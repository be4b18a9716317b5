package checkout

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/paylatch/paylatch/client/api"
)

// refusal is an error that the caller gets as a problem document.
type refusal struct{ api.Problem }

// Error implements error.
func (r *refusal) Error() string { return r.Detail }

func refused(status int, code, detail string, members ...string) error {
	p := api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
	if p.Retryable = status >= http.StatusInternalServerError; p.Retryable {
		p.RetryAfterMs = new(int64(1000))
	}
	if len(members) > 0 {
		p.Errors = &[]api.FieldError{}
		for _, m := range members {
			*p.Errors = append(*p.Errors, api.FieldError{Field: m, Message: detail})
		}
	}
	return &refusal{p}
}

var (
	errNoResponse = refused(http.StatusBadGateway, "no-response", "The payment service can't be reached. Send the same request again with the same key.")
	// errToken is why the page gets no response of paylatch.
	errToken = errors.New("checkout: paylatch refused the shop's token")
)

// refuse writes a refusal. It logs any other error, which the caller gets as 500, or 404 for ErrNoOrder.
func refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	known, ok := errors.AsType[*refusal](err)
	switch {
	case ok:
	case errors.Is(err, ErrNoOrder):
		known, _ = errors.AsType[*refusal](refused(http.StatusNotFound, "not-found", "There is no such order of yours."))
	default:
		log.ErrorContext(r.Context(), "a request has failed", "method", r.Method, "path", r.URL.Path, "error", err)
		known, _ = errors.AsType[*refusal](refused(http.StatusInternalServerError, "internal", "The shop failed. Send the same request again with the same key."))
	}
	text, err := json.Marshal(known.Problem)
	if err != nil {
		log.ErrorContext(r.Context(), "a problem can't be written", "error", err)
	}
	if known.RetryAfterMs != nil {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(known.Status)
	_, _ = w.Write(text)
}
