package console

import (
	"errors"
	"net/http"
	"slices"

	"github.com/paylatch/paylatch/internal/platform/redact"
)

// Guard refuses requests that no page accepts. It reads the session before the pages and writes it.
func (e *Entrance) Guard(pages http.Handler) http.Handler {
	return e.refuseTokens(e.sameOrigin(e.bounded(e.inSession(pages))))
}

// sameOrigin refuses a POST that another site made a browser send. The browser
// itself sends the origin of a request (Sec-Fetch-Site, or Origin), so no form
// needs a token that could leak or go stale; the cookie is SameSite=Lax beside it.
func (e *Entrance) sameOrigin(next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.Fail(w, r, ErrOtherSite)
	}))
	return guard.Handler(next)
}

// refuseTokens refuses a request with a token of the API, of any role.
func (e *Entrance) refuseTokens(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.Header.Get("Authorization") != "" {
			e.Fail(w, r, ErrToken)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// maxForm is the largest accepted form, in bytes.
const maxForm = 64 << 10

// bounded refuses a form that is too long, since a field would read as empty, and a form with a card number.
func (e *Entrance) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); errors.As(err, new(*http.MaxBytesError)) {
			e.Fail(w, r, err)
			return
		}
		if holdsCardNumber(r) {
			e.Fail(w, r, ErrCardNumber)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// holdsCardNumber reports whether something that was typed, or stands in the address,
// would be written into the audit log as a card number in clear.
func holdsCardNumber(r *http.Request) bool {
	for name, values := range r.Form {
		if name != "user_id" && name != "provider_payment_id" && slices.ContainsFunc(values, redact.CardNumberIn) {
			return true
		}
	}
	return redact.CardNumberIn(r.URL.Path)
}
