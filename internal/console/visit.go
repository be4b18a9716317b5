package console

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/console/page"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// visit is one request in a session.
type visit struct {
	*console
	w   http.ResponseWriter
	r   *http.Request
	who support.Staff
}

// handler shows a page, or returns why it can't.
type handler func(v *visit) error

// staff serves sessions only: without one, every address leads to the sign-in.
func (c *console) staff(next handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor := c.person(r)
		if actor.Subject == "" {
			c.toSignIn(w, r)
			return
		}
		c.Seen(r.Context(), actor.Subject)
		v := &visit{c, w, r, staffOf(r, actor)}
		if err := next(v); err != nil {
			c.fail(w, r, v, err)
		}
	})
}

// staffOf is the person of a request, with its origin.
func staffOf(r *http.Request, actor authz.Actor) support.Staff {
	return support.Staff{Actor: actor, Address: r.RemoteAddr, RequestID: r.Header.Get("X-Request-Id")}
}

// frame is what surrounds every page.
type frame struct {
	Title string
	// Who is the signed-in subject; empty without a session.
	Who   string
	Admin bool
	// Query stands in the search box at the top; Here is the page's own entry in the
	// menu, empty for none.
	Query, Here string
	// Outcome is the outcome of the form that led to this page.
	Outcome string
	// Stale are warnings of stale accounts.
	Stale []string
}

// warned is a frame that warns of stale accounts: their payments may be out of date.
func (v *visit) warned(title string) (frame, error) {
	f := v.frame(title)
	accounts, err := v.Payments.Stale(v.r.Context())
	for _, q := range accounts {
		f.Stale = append(f.Stale, stale(q, v.Now()))
	}
	return f, err
}

func (v *visit) frame(title string) frame {
	return frame{
		Title: title, Who: v.who.Subject, Admin: v.who.Has(payment.RoleAdmin), Here: v.r.URL.Path,
		Outcome: v.outcomeOf(v.r, v.r.URL.Query().Get("done")),
	}
}

func (v *visit) show(c templ.Component) error {
	render(v.w, v.r, http.StatusOK, c)
	return nil
}

func render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Cache-Control", "no-store")
	page.Render(w, r, status, c)
}

func (v *visit) query(name string) string { return v.r.URL.Query().Get(name) }

// idOf reads the id in the address. A malformed one stands in the audit log as an id
// that does not exist does.
func idOf[T any](v *visit, action support.Action, kind string, parse func(string) (T, error)) (T, error) {
	text := v.r.PathValue("id")
	id, err := parse(text)
	if err != nil {
		err = v.AuditLog.Refuse(v.r.Context(), v.who, action, kind, text, err)
	}
	return id, err
}

// page is the part of a list in the query.
func (v *visit) page() (support.Page, error) { return support.ParsePage(v.query("cursor"), "") }

// further is the address of the next part of a list, empty at the end.
func (v *visit) further(next string) string {
	if next == "" {
		return ""
	}
	q := v.r.URL.Query()
	q.Set("cursor", next)
	q.Del("done")
	return v.r.URL.Path + "?" + q.Encode()
}

func (v *visit) showNothing() error { return errNoPage }

// form is what every form of an action has.
type form struct {
	// Path is where it is sent, Back where it leads without being sent.
	Path, Back string
	// Key is new for each form that is shown: sent twice, it is done once.
	Key, Reason string
	// Error is why it was not done.
	Error string
}

func (v *visit) form(back string) form {
	return form{Path: v.r.URL.Path, Back: back, Key: uuid.NewString()}
}

// sent is the form as it came back.
func (v *visit) sent(back string) form {
	f := v.form(back)
	if key := v.r.PostFormValue("key"); uuid.Validate(key) == nil {
		f.Key = key
	}
	f.Reason = v.r.PostFormValue("reason")
	return f
}

// once does a form's action and shows its outcome on the page to. The same form again
// leads there without doing it again. A refusal that can be corrected is shown beside the
// form, which may be sent again.
func (v *visit) once(f form, to string, again func(f form) templ.Component, do func() (string, error)) error {
	if v.outcomeOf(v.r, f.Key) == "" {
		text, err := do()
		if status, text := refusal(err); text != "" && status < http.StatusInternalServerError && status != http.StatusForbidden && status != http.StatusNotFound {
			f.Error = text
			render(v.w, v.r, status, again(f))
			return nil
		}
		if err != nil {
			return err
		}
		v.remember(v.r, outcome{f.Key, text})
	}
	http.Redirect(v.w, v.r, withDone(to, f.Key), http.StatusSeeOther)
	return nil
}

func withDone(to, key string) string {
	u, _ := url.Parse(to)
	q := u.Query()
	q.Set("done", key)
	u.RawQuery = q.Encode()
	return u.String()
}
