package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

const (
	usualIdle = 30 * time.Minute
	usualLife = 10 * time.Hour
	// signInLife bounds a sign-in at the OpenID provider.
	signInLife = 15 * time.Minute
)

// The keys of a session's values.
const (
	sessionSubject = "subject"
	sessionRoles   = "roles"
	sessionDoor    = "door"
	sessionSignIn  = "sign_in"
	sessionBack    = "back"
	sessionDone    = "done"
	sessionOpened  = "opened"
)

func (e *Entrance) newSessions() *scs.SessionManager {
	s := scs.New()
	s.Store, s.HashTokenInStore = e.Store, true
	s.IdleTimeout, s.Lifetime = orElse(e.Idle, usualIdle), orElse(e.Life, usualLife)
	c := cookie("paylatch_support", e.Plain)
	s.Cookie = scs.SessionCookie{Name: c.Name, Path: c.Path, HttpOnly: c.HttpOnly, Secure: c.Secure, SameSite: c.SameSite}
	s.ErrorFunc = e.withoutSession
	return s
}

// CellCookie keeps the cell that a person has chosen to look at. Without it, or with an unknown cell, all cells are shown.
// It grants nothing.
func CellCookie(plain bool) http.Cookie { return cookie("paylatch_cell", plain) }

// cookie has the attributes of all cookies of the console. Browsers accept a cookie of this prefix only over TLS and with Secure, so that
// an attacker on a plain connection to the host, or on a sibling host, can't set it. It is Lax, not Strict, because the OpenID provider
// redirects people from its own site.
func cookie(name string, plain bool) http.Cookie {
	if !plain {
		name = "__Secure-" + name
	}
	return http.Cookie{Name: name, Path: "/support", HttpOnly: true, Secure: !plain, SameSite: http.SameSiteLaxMode} //nolint:gosec // plain in dev alone
}

// sessionWriter is the response writer for scs. It writes the session when a page begins its response, and goes on with the
// page even if the write fails.
type sessionWriter struct {
	http.ResponseWriter
	// begun is true from the page's beginning, over from the end of its output.
	begun, over bool
}

func (w *sessionWriter) WriteHeader(status int) {
	if !w.over {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *sessionWriter) Write(text []byte) (int, error) {
	if w.over {
		return len(text), nil
	}
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // it is the writer of the page
}

// inSession reads a session before the pages, and writes it.
func (e *Entrance) inSession(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &sessionWriter{ResponseWriter: w}
		page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out.begun = true
			pages.ServeHTTP(w, r)
		})
		if r.Method == http.MethodGet && slices.Contains(e.Polled, r.URL.Path) {
			e.reading(page).ServeHTTP(out, r)
			return
		}
		e.sessions.LoadAndSave(page).ServeHTTP(out, r)
	})
}

// reading reads a session and does not write it, so that its idle time goes on.
func (e *Entrance) reading(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var token string
		if cookie, err := r.Cookie(e.sessions.Cookie.Name); err == nil {
			token = cookie.Value
		}
		ctx, err := e.sessions.Load(r.Context(), token)
		if err != nil {
			e.withoutSession(w, r, err)
			return
		}
		r = r.WithContext(ctx)
		if e.person(r).Subject == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// withoutSession responds in the place of a page when the session can't be read or
// written. The form's action is done by then.
func (e *Entrance) withoutSession(w http.ResponseWriter, r *http.Request, err error) {
	out, ok := w.(*sessionWriter)
	if ok && out.begun && r.Method == http.MethodPost {
		err = fmt.Errorf("%w: %w", ErrUnkept, err)
	}
	for _, leads := range []string{"Location", "Hx-Redirect"} {
		w.Header().Del(leads)
	}
	e.Fail(w, r, err)
	if ok {
		out.over = true
	}
}

func orElse(given, usual time.Duration) time.Duration {
	if given == 0 {
		return usual
	}
	return given
}

// begin makes the session that of a person, under a new id.
func (e *Entrance) begin(r *http.Request, actor authz.Actor) error {
	ctx := r.Context()
	back := e.sessions.GetString(ctx, sessionBack)
	if err := e.sessions.Clear(ctx); err != nil {
		return err //nolint:wrapcheck // the store's own
	}
	if err := e.sessions.RenewToken(ctx); err != nil {
		return err //nolint:wrapcheck // the store's own
	}
	roles := make([]string, len(actor.Roles))
	for i, role := range actor.Roles {
		roles[i] = string(role)
	}
	e.sessions.Put(ctx, sessionSubject, actor.Subject)
	e.sessions.Put(ctx, sessionDoor, actor.Door)
	e.sessions.Put(ctx, sessionRoles, strings.Join(roles, " "))
	e.sessions.Put(ctx, sessionBack, back)
	return nil
}

// person is the actor of the session; without one it has no subject.
func (e *Entrance) person(r *http.Request) authz.Actor {
	ctx := r.Context()
	actor := authz.Actor{Subject: e.sessions.GetString(ctx, sessionSubject), Door: e.sessions.GetString(ctx, sessionDoor)}
	for role := range strings.FieldsSeq(e.sessions.GetString(ctx, sessionRoles)) {
		actor.Roles = append(actor.Roles, payment.Role(role))
	}
	return actor
}

func (e *Entrance) keepPending(r *http.Request, p auth.PendingSignIn) {
	e.sessions.SetDeadline(r.Context(), e.Now().Add(signInLife))
	text, _ := json.Marshal(p) //nolint:errchkjson // three texts
	e.sessions.Put(r.Context(), sessionSignIn, string(text))
}

// popPending is the sign-in that this browser began, once.
func (e *Entrance) popPending(r *http.Request) auth.PendingSignIn {
	var p auth.PendingSignIn
	_ = json.Unmarshal([]byte(e.sessions.PopString(r.Context(), sessionSignIn)), &p)
	return p
}

// outcome is the outcome of a form.
type outcome struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// maxOutcomes is how many forms a session remembers.
const maxOutcomes = 20

func (e *Entrance) outcomes(r *http.Request) []outcome {
	var list []outcome
	_ = json.Unmarshal([]byte(e.sessions.GetString(r.Context(), sessionDone)), &list)
	return list
}

// outcomeOf is the outcome of a form that was done in this session; empty if there is none.
func (e *Entrance) outcomeOf(r *http.Request, key string) string {
	list := e.outcomes(r)
	if i := slices.IndexFunc(list, func(d outcome) bool { return d.Key == key }); i >= 0 && key != "" {
		return list[i].Text
	}
	return ""
}

func (e *Entrance) remember(r *http.Request, d outcome) {
	list := append(e.outcomes(r), d)
	text, _ := json.Marshal(list[max(0, len(list)-maxOutcomes):]) //nolint:errchkjson // texts
	e.sessions.Put(r.Context(), sessionDone, string(text))
}
