package console

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// FailPage shows an error as a page, in a frame without a title; the frame is empty without a session. A fault of ours goes to the log.
func FailPage(w http.ResponseWriter, r *http.Request, log zerolog.Logger, f Frame, err error) {
	status, text := RefusalText(err)
	var why string
	switch {
	case text == "":
		text = "An error occurred in paylatch. The log has the cause, with the request id " + r.Header.Get("X-Request-Id") + "."
	case errors.Is(err, auth.ErrUnauthenticated), errors.Is(err, payment.ErrForbidden):
		why = RefusalReason(err)
	}
	if status >= http.StatusInternalServerError {
		log.Error().Err(err).Str("request_id", r.Header.Get("X-Request-Id")).Msg("console")
		w.Header().Set("Retry-After", "2")
	}
	f.Title = http.StatusText(status)
	Render(w, r, status, failPage(f, text, why))
}

// TooOften sets Retry-After and returns ErrTooOften. It returns nil if there is nothing to wait for.
func TooOften(w http.ResponseWriter, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return ErrTooOften
}
