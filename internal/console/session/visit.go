package session

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/console/refusal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// Visit is one request of a person who is signed in.
type Visit struct {
	*Entrance
	W   http.ResponseWriter
	R   *http.Request
	Who support.Staff
}

// Staff serves sessions only: without one, every address leads to the sign-in.
func (e *Entrance) Staff(next func(v *Visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor := e.person(r)
		if actor.Subject == "" {
			e.toSignIn(w, r)
			return
		}
		e.Seen(r.Context(), actor.Subject)
		v := &Visit{e, w, r, staffOf(r, actor)}
		if err := next(v); err != nil {
			refusal.Fail(w, r, e.Log, v.Frame(""), err)
		}
	})
}

// staffOf is the person of a request, with its origin.
func staffOf(r *http.Request, actor authz.Actor) support.Staff {
	return support.Staff{Actor: actor, Address: r.RemoteAddr, RequestID: r.Header.Get("X-Request-Id")}
}

// Frame is what surrounds the page, with the outcome of the form that led to it.
func (v *Visit) Frame(title string) layout.Frame {
	return layout.Frame{
		Title: title, Who: v.Who.Subject, Admin: v.Who.Has(payment.RoleAdmin), Here: v.R.URL.Path,
		Outcome: v.outcomeOf(v.R, v.R.URL.Query().Get("done")),
	}
}

// Show responds with a page.
func (v *Visit) Show(c templ.Component) error {
	layout.Render(v.W, v.R, http.StatusOK, c)
	return nil
}

// Query is a value of the address, empty for none.
func (v *Visit) Query(name string) string { return v.R.URL.Query().Get(name) }

// IDOf reads the id in the address. A malformed one stands in the audit log as an id
// that does not exist does.
func IDOf[T any](v *Visit, action support.Action, kind string, parse func(string) (T, error)) (T, error) {
	text := v.R.PathValue("id")
	id, err := parse(text)
	if err != nil {
		err = v.AuditLog.Refuse(v.R.Context(), v.Who, action, kind, text, err)
	}
	return id, err
}

// Page is the part of a list in the query.
func (v *Visit) Page() (support.Page, error) { return support.ParsePage(v.Query("cursor"), "") }

// Further is the address of the next part of a list, empty at the end.
func (v *Visit) Further(next string) string {
	if next == "" {
		return ""
	}
	q := v.R.URL.Query()
	q.Set("cursor", next)
	q.Del("done")
	return v.R.URL.Path + "?" + q.Encode()
}
