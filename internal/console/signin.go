package console

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/auth"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
	"github.com/paylatch/paylatch/internal/throttle"
)

const (
	signInPath = "/support/sign-in"
	firstPage  = "/support"
)

func (c *console) routeSignIn(mux *http.ServeMux) {
	mux.HandleFunc("GET "+signInPath, c.showSignIn)
	mux.HandleFunc("POST /support/sign-out", c.signOut)
	for pattern, do := range map[string]func(w http.ResponseWriter, r *http.Request) (authz.Actor, error){
		"GET " + signInPath + "/begin":    c.beginAtProvider,
		"GET " + signInPath + "/callback": c.callback,
		"POST " + signInPath:              c.signInByToken,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			actor, err := do(w, r)
			if err != nil {
				c.auditRefusal(r, actor, err)
				c.fail(w, r, nil, err)
			}
		})
	}
}

// auditRefusal audits a refused sign-in, with the actor as far as that was proven.
func (c *console) auditRefusal(r *http.Request, actor authz.Actor, err error) {
	for _, refused := range []error{auth.ErrUnauthenticated, payment.ErrForbidden, errProvider, errTooOften} {
		if errors.Is(err, refused) {
			c.Refused(support.Refusal{Action: support.SignedIn, Staff: staffOf(r, actor), Reason: cmp.Or(reason(err), err.Error())})
			return
		}
	}
}

// slowly refuses a peer that does something too often.
func (c *console) slowly(w http.ResponseWriter, r *http.Request, limit *throttle.KeyedLimiter) error {
	peer := r.RemoteAddr
	if a, err := netip.ParseAddr(peer); err == nil {
		peer = throttle.Peer(a)
	}
	return tooOften(w, limit.Reserve(peer, c.Now()))
}

func tooOften(w http.ResponseWriter, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	return errTooOften
}

// backTo is the page after the sign-in: one of the console, whatever was requested.
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
func (c *console) toSignIn(w http.ResponseWriter, r *http.Request) {
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

// signInView is what the page of the sign-in shows.
type signInView struct {
	To, Begin     string
	OpenID, Token bool
	SignedOut     bool
}

func (c *console) showSignIn(w http.ResponseWriter, r *http.Request) {
	to := backTo(r.URL.Query().Get("to"))
	if c.isIn(w, r, to) {
		return
	}
	render(w, r, http.StatusOK, signInPage(signInView{
		To: to, Begin: signInPath + "/begin?to=" + url.QueryEscape(to),
		OpenID: c.OpenID != nil, Token: c.Tokens != nil, SignedOut: r.URL.Query().Has("out"),
	}))
}

// isIn leads a person that is signed in already to a page of the console: the session
// ends at its own time, and no link can move that.
func (c *console) isIn(w http.ResponseWriter, r *http.Request, to string) bool {
	if c.person(r).Subject == "" {
		return false
	}
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // backTo has made it a page of the console
	return true
}

// beginAtProvider sends the browser to the OpenID provider.
func (c *console) beginAtProvider(w http.ResponseWriter, r *http.Request) (nobody authz.Actor, err error) {
	if c.OpenID == nil {
		return nobody, errNoSignIn
	}
	to := backTo(r.URL.Query().Get("to"))
	if c.isIn(w, r, to) {
		return nobody, nil
	}
	// To be sent to the provider is no sign-in yet, but a session is stored.
	if err := c.slowly(w, r, c.begins); err != nil {
		return nobody, err
	}
	address, pending, err := c.OpenID.Begin(r.Context())
	if err != nil {
		return nobody, err
	}
	// A sign-in that another person began is not continued.
	if err := c.sessions.RenewToken(r.Context()); err != nil {
		return nobody, err //nolint:wrapcheck // the store's own
	}
	c.keepPending(r, pending)
	c.sessions.Put(r.Context(), sessionBack, to)
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nobody, nil
}

// callback is where the OpenID provider sends the browser.
func (c *console) callback(w http.ResponseWriter, r *http.Request) (authz.Actor, error) {
	begun, q := c.sessions.Exists(r.Context(), sessionSignIn), r.URL.Query()
	if begun {
		if err := c.slowly(w, r, c.signIns); err != nil {
			return authz.Actor{}, err
		}
	}
	pending := c.popPending(r)
	switch {
	case c.OpenID == nil:
		return authz.Actor{}, errNoSignIn
	case q.Get("error") != "":
		return authz.Actor{}, errProvider
	}
	actor, err := c.OpenID.Finish(r.Context(), pending, q.Get("state"), q.Get("code"))
	if err != nil {
		return actor, err
	}
	return actor, c.enter(w, r, actor, "openid")
}

// signInByToken takes a token in place of the OpenID provider, where that is allowed.
func (c *console) signInByToken(w http.ResponseWriter, r *http.Request) (authz.Actor, error) {
	if c.Tokens == nil {
		return authz.Actor{}, errNoSignIn
	}
	if err := c.slowly(w, r, c.signIns); err != nil {
		return authz.Actor{}, err
	}
	actor, err := c.Tokens.Authenticate(r.Context(), strings.TrimSpace(r.PostFormValue("token")), "")
	if err != nil {
		return authz.Actor{}, err
	}
	c.sessions.Put(r.Context(), sessionBack, backTo(r.PostFormValue("to")))
	return actor, c.enter(w, r, actor, "token")
}

// enter begins the session of staff. By is the way in which they signed in.
func (c *console) enter(w http.ResponseWriter, r *http.Request, actor authz.Actor, by string) error {
	if err := actor.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return err
	}
	if err := c.AuditLog.SignIn(r.Context(), staffOf(r, actor), by); err != nil {
		return err
	}
	if err := c.begin(r, actor); err != nil {
		return err
	}
	http.Redirect(w, r, backTo(c.sessions.PopString(r.Context(), sessionBack)), http.StatusSeeOther)
	return nil
}

// signOut ends the session on the server; its cookie is worth nothing after.
func (c *console) signOut(w http.ResponseWriter, r *http.Request) {
	actor := c.person(r)
	if err := c.sessions.Destroy(r.Context()); err != nil {
		c.fail(w, r, nil, err)
		return
	}
	if actor.Subject != "" {
		c.SignedOut(staffOf(r, actor))
	}
	http.Redirect(w, r, signInPath+"?out", http.StatusSeeOther)
}
