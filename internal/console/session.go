package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	usualIdle = 30 * time.Minute
	usualLife = 10 * time.Hour
	// signInLife is how long a person may take at the OpenID provider.
	signInLife = 15 * time.Minute
)

// What a session holds.
const (
	sessionSubject = "subject"
	sessionRoles   = "roles"
	sessionSignIn  = "sign_in"
	sessionBack    = "back"
	sessionDone    = "done"
)

func (c *console) newSessions() *scs.SessionManager {
	s := scs.New()
	s.Store, s.HashTokenInStore = c.Sessions, true
	s.IdleTimeout, s.Lifetime = orElse(c.Idle, usualIdle), orElse(c.Life, usualLife)
	// Lax, not Strict: the OpenID provider sends people back from its own site.
	s.Cookie = scs.SessionCookie{
		Name: "paylatch_support", Path: "/support", HttpOnly: true, Secure: !c.Plain, SameSite: http.SameSiteLaxMode,
	}
	s.ErrorFunc = c.withoutSession
	return s
}

// sessionWriter is what scs writes to. It writes the session when a page begins its
// answer, and goes on with the page even if that could not be done.
type sessionWriter struct {
	http.ResponseWriter
	// begun says that the page has begun, over that all is said.
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
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // it is the writer, for whoever writes
}

// inSession reads a session before the pages, and writes it.
func (c *console) inSession(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &sessionWriter{ResponseWriter: w}
		page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out.begun = true
			pages.ServeHTTP(w, r)
		})
		c.sessions.LoadAndSave(page).ServeHTTP(out, r)
	})
}

// withoutSession answers in the place of a page whose session can't be read or
// written. What a form asked for was done by then.
func (c *console) withoutSession(w http.ResponseWriter, r *http.Request, err error) {
	out, ok := w.(*sessionWriter)
	if ok && out.begun && r.Method == http.MethodPost {
		err = fmt.Errorf("%w: %w", errUnkept, err)
	}
	for _, leads := range []string{"Location", "Hx-Redirect"} {
		w.Header().Del(leads)
	}
	c.fail(w, r, nil, err)
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
func (c *console) begin(r *http.Request, actor payment.Actor) error {
	ctx := r.Context()
	back := c.sessions.GetString(ctx, sessionBack)
	if err := c.sessions.Clear(ctx); err != nil {
		return err //nolint:wrapcheck // the store's own
	}
	if err := c.sessions.RenewToken(ctx); err != nil {
		return err //nolint:wrapcheck // the store's own
	}
	roles := make([]string, len(actor.Roles))
	for i, role := range actor.Roles {
		roles[i] = string(role)
	}
	c.sessions.Put(ctx, sessionSubject, actor.Subject)
	c.sessions.Put(ctx, sessionRoles, strings.Join(roles, " "))
	c.sessions.Put(ctx, sessionBack, back)
	return nil
}

// person is who is signed in; nobody has no subject.
func (c *console) person(r *http.Request) payment.Actor {
	ctx := r.Context()
	actor := payment.Actor{Subject: c.sessions.GetString(ctx, sessionSubject)}
	for role := range strings.FieldsSeq(c.sessions.GetString(ctx, sessionRoles)) {
		actor.Roles = append(actor.Roles, payment.Role(role))
	}
	return actor
}

func (c *console) keepPending(r *http.Request, p auth.PendingSignIn) {
	c.sessions.SetDeadline(r.Context(), c.Now().Add(signInLife))
	text, _ := json.Marshal(p) //nolint:errchkjson // three texts
	c.sessions.Put(r.Context(), sessionSignIn, string(text))
}

// popPending is the sign-in that this browser began, once.
func (c *console) popPending(r *http.Request) auth.PendingSignIn {
	var p auth.PendingSignIn
	_ = json.Unmarshal([]byte(c.sessions.PopString(r.Context(), sessionSignIn)), &p)
	return p
}

// deed is what came of a form.
type deed struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// maxDeeds is how many forms a session remembers.
const maxDeeds = 20

func (c *console) deeds(r *http.Request) []deed {
	var list []deed
	_ = json.Unmarshal([]byte(c.sessions.GetString(r.Context(), sessionDone)), &list)
	return list
}

// came returns what came of a form that was done in this session, empty for none.
func (c *console) came(r *http.Request, key string) string {
	list := c.deeds(r)
	if i := slices.IndexFunc(list, func(d deed) bool { return d.Key == key }); i >= 0 && key != "" {
		return list[i].Text
	}
	return ""
}

func (c *console) remember(r *http.Request, d deed) {
	list := append(c.deeds(r), d)
	text, _ := json.Marshal(list[max(0, len(list)-maxDeeds):]) //nolint:errchkjson // texts
	c.sessions.Put(r.Context(), sessionDone, string(text))
}
