package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

const (
	signInPath = "/support/sign-in"
	firstPage  = "/support"
)

// Route serves the sign-in and the sign-out.
func (e *Entrance) Route(mux *http.ServeMux) {
	mux.HandleFunc("GET "+signInPath, e.showSignIn)
	mux.HandleFunc("POST /support/sign-out", e.signOut)
	for pattern, do := range map[string]func(w http.ResponseWriter, r *http.Request) (authz.Actor, error){
		"GET " + signInPath + "/begin":    e.beginAtProvider,
		"GET " + signInPath + "/callback": e.callback,
		"POST " + signInPath:              e.signInByToken,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			actor, err := do(w, r)
			if err != nil {
				e.auditRefusal(r, actor, err)
				e.Fail(w, r, err)
			}
		})
	}
}

// auditRefusal audits a refused sign-in, with the actor as far as that was proven.
func (e *Entrance) auditRefusal(r *http.Request, actor authz.Actor, err error) {
	for _, refused := range []error{auth.ErrUnauthenticated, payment.ErrForbidden, ErrKey, ErrProvider, ErrTooOften} {
		if errors.Is(err, refused) {
			e.Refused(support.Refusal{Action: support.SignedIn, Staff: staffOf(r, actor), Reason: cmp.Or(RefusalReason(err), err.Error())})
			return
		}
	}
}

// slowly refuses a peer that does something too often.
func (e *Entrance) slowly(w http.ResponseWriter, r *http.Request, limit *throttle.KeyedLimiter) error {
	peer := r.RemoteAddr
	if a, err := netip.ParseAddr(peer); err == nil {
		peer = throttle.Peer(a)
	}
	return TooOften(w, limit.Reserve(peer, e.Now()))
}

// backTo returns the page after the sign-in. It returns the first page for an address outside of the console.
func backTo(to string) string {
	u, err := url.Parse(to)
	inside := strings.HasPrefix(to, firstPage+"/") || to == firstPage || strings.HasPrefix(to, firstPage+"?")
	switch {
	case err != nil, !inside, strings.HasPrefix(to, signInPath), strings.Contains(to, `\`):
		return firstPage
	case path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"): // it leads out again
		return firstPage
	}
	return to
}

// toSignIn leads to the sign-in, and from there back to the same page.
func (e *Entrance) toSignIn(w http.ResponseWriter, r *http.Request) {
	address := signInPath
	if to := backTo(r.URL.RequestURI()); to != firstPage {
		address += "?to=" + url.QueryEscape(to)
	}
	if r.Header.Get("Hx-Request") != "" {
		// A script would put the sign-in into a part of the page.
		w.Header().Set("Hx-Redirect", address)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// signInView is the content of the sign-in page.
type signInView struct {
	To, Begin     string
	OpenID, Token bool
	SignedOut     bool
}

func (e *Entrance) showSignIn(w http.ResponseWriter, r *http.Request) {
	to := backTo(r.URL.Query().Get("to"))
	if e.isIn(w, r, to) {
		return
	}
	Render(w, r, http.StatusOK, signInPage(signInView{
		To: to, Begin: signInPath + "/begin?to=" + url.QueryEscape(to),
		OpenID: e.OpenID != nil, Token: e.Tokens != nil, SignedOut: r.URL.Query().Has("out"),
	}))
}

// isIn leads a person that is signed in already to a page of the console: the session
// ends at its own time, and no link can move that.
func (e *Entrance) isIn(w http.ResponseWriter, r *http.Request, to string) bool {
	if e.person(r).Subject == "" {
		return false
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // backTo has made it a page of the console
	return true
}

// beginAtProvider sends the browser to the OpenID provider.
func (e *Entrance) beginAtProvider(w http.ResponseWriter, r *http.Request) (nobody authz.Actor, err error) {
	if e.OpenID == nil {
		return nobody, ErrNoSignIn
	}
	to := backTo(r.URL.Query().Get("to"))
	if e.isIn(w, r, to) {
		return nobody, nil
	}
	// To be sent to the provider is no sign-in yet, but a session is stored.
	if err := e.slowly(w, r, e.begins); err != nil {
		return nobody, err
	}
	address, pending, err := e.OpenID.Begin(r.Context())
	if err != nil {
		return nobody, err
	}
	// A sign-in that another person began is not continued.
	if err := e.sessions.RenewToken(r.Context()); err != nil {
		return nobody, err //nolint:wrapcheck // the store's own
	}
	e.keepPending(r, pending)
	e.sessions.Put(r.Context(), sessionBack, to)
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nobody, nil
}

// callback is where the OpenID provider sends the browser.
func (e *Entrance) callback(w http.ResponseWriter, r *http.Request) (authz.Actor, error) {
	begun, q := e.sessions.Exists(r.Context(), sessionSignIn), r.URL.Query()
	if begun {
		if err := e.slowly(w, r, e.signIns); err != nil {
			return authz.Actor{}, err
		}
	}
	pending := e.popPending(r)
	switch {
	case e.OpenID == nil:
		return authz.Actor{}, ErrNoSignIn
	case q.Get("error") != "":
		return authz.Actor{}, ErrProvider
	}
	actor, err := e.OpenID.Finish(r.Context(), pending, q.Get("state"), q.Get("code"))
	if err != nil {
		return actor, err
	}
	return actor, e.enter(w, r, actor, "openid")
}

// signInByToken takes a token in place of the OpenID provider, where that is allowed.
func (e *Entrance) signInByToken(w http.ResponseWriter, r *http.Request) (authz.Actor, error) {
	if e.Tokens == nil {
		return authz.Actor{}, ErrNoSignIn
	}
	if err := e.slowly(w, r, e.signIns); err != nil {
		return authz.Actor{}, err
	}
	actor, err := e.Tokens.Authenticate(r.Context(), strings.TrimSpace(r.PostFormValue("token")), "")
	if err != nil {
		return authz.Actor{}, err
	}
	e.sessions.Put(r.Context(), sessionBack, backTo(r.PostFormValue("to")))
	return actor, e.enter(w, r, actor, "token")
}

// enter begins the session of staff. By is the way in which they signed in.
func (e *Entrance) enter(w http.ResponseWriter, r *http.Request, actor authz.Actor, by string) error {
	if actor.Key != nil {
		return ErrKey // the session would outlive the key
	}
	if err := actor.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return err
	}
	if err := e.AuditLog.SignIn(r.Context(), staffOf(r, actor), by); err != nil {
		return err
	}
	if err := e.begin(r, actor); err != nil {
		return err
	}
	http.Redirect(w, r, backTo(e.sessions.PopString(r.Context(), sessionBack)), http.StatusSeeOther)
	return nil
}

// signOut ends the session on the server; its cookie is worth nothing after.
func (e *Entrance) signOut(w http.ResponseWriter, r *http.Request) {
	actor := e.person(r)
	if err := e.sessions.Destroy(r.Context()); err != nil {
		e.Fail(w, r, err)
		return
	}
	if actor.Subject != "" {
		e.SignedOut(staffOf(r, actor))
	}
	http.Redirect(w, r, signInPath+"?out", http.StatusSeeOther)
}
