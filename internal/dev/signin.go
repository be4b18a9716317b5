package dev

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// signInPath is beside the console's own, which has no such way in.
const signInPath = "/dev/sign-in"

const (
	// adminName is the administrator of this machine.
	adminName = "ada"
	// signInLife is how long the token of a sign-in lives, which is used at once.
	signInLife = time.Minute
)

// signInLink is an address that signs a browser in to the console as the administrator of this machine, once. Each start makes a
// new link.
type signInLink struct {
	code string

	mu   sync.Mutex
	used bool
}

func newSignInLink() *signInLink { return &signInLink{code: rand.Text()} }

func (l *signInLink) address(base string) string {
	return base + signInPath + "?code=" + l.code
}

// take reports whether the code is right and was not used yet. A wrong one uses nothing up.
func (l *signInLink) take(code string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	right := !l.used && subtle.ConstantTimeCompare([]byte(code), []byte(l.code)) == 1
	l.used = l.used || right
	return right
}

// handler signs in at the service as the sign-in form does, with a token of its own that no page ever has. Its response is the
// service's response, with the cookie and the redirect.
func (l *signInLink) handler(minter auth.Minter, service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		switch {
		case r.Method != http.MethodGet:
			http.Error(w, "Open the link in a browser.", http.StatusMethodNotAllowed)
			return
		case !l.take(r.URL.Query().Get("code")):
			http.Error(w, usedLink, http.StatusGone)
			return
		}
		in, err := signIn(r, minter)
		if err != nil {
			http.Error(w, "There is no token to sign in with.", http.StatusInternalServerError)
			return
		}
		service.ServeHTTP(w, in)
	})
}

const usedLink = "This link was used, or is of an earlier start. Start paylatch dev again for a new one, or paste into the page\n" +
	"/support/sign-in what this prints:\n\n  bin/paylatch token --sub " + adminName + " --role admin"

// signIn is the form of the sign-in, as the browser of the request would send it.
func signIn(r *http.Request, minter auth.Minter) (*http.Request, error) {
	token, err := minter.Mint(adminName, []payment.Role{payment.RoleAdmin}, signInLife)
	if err != nil {
		return nil, err
	}
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	in, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "/support/sign-in", form)
	if err != nil {
		return nil, fmt.Errorf("make the sign-in: %w", err)
	}
	in.Host, in.RemoteAddr, in.RequestURI = r.Host, r.RemoteAddr, in.URL.Path
	in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return in, nil
}
