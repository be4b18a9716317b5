package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/console"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

type audit struct{ console.AuditLog }

func (audit) SignIn(context.Context, support.Staff, string) error { return nil }

type tokens struct{}

func (tokens) Authenticate(context.Context, string, string) (authz.Actor, error) {
	return authz.Actor{Subject: "sam", Roles: []payment.Role{payment.RoleSupport}}, nil
}

type provider struct{}

func (provider) Begin(context.Context) (string, auth.PendingSignIn, error) {
	return "https://id.example/", auth.PendingSignIn{State: "s"}, nil
}

func (provider) Finish(context.Context, auth.PendingSignIn, string, string) (authz.Actor, error) {
	return tokens{}.Authenticate(context.Background(), "", "")
}

// Each cookie of each step of the sign-in, also of the one that keeps the state of OpenID Connect, bears the prefix that browsers take over
// TLS alone, but in dev over plain HTTP.
func TestAllCookies(t *testing.T) {
	t.Parallel()
	store := enginetest.Store(t, testdb.New(t))
	for _, plain := range []bool{false, true} {
		e := console.NewEntrance(console.EntranceOptions{
			Store: store.Sessions(), AuditLog: audit{}, OpenID: provider{}, Tokens: tokens{}, Plain: plain, Log: zerolog.Nop(), Now: time.Now,
		})
		pages := http.NewServeMux()
		e.Route(pages)
		pages.Handle("GET /support", e.Staff(func(*console.Visit) error { return nil }))
		h := e.Guard(pages)
		jar := map[string]*http.Cookie{}
		set := 0
		for _, step := range []struct{ method, path string }{
			{http.MethodGet, "/support"},
			{http.MethodGet, "/support/sign-in"},
			{http.MethodGet, "/support/sign-in/begin"},
			{http.MethodGet, "/support/sign-in/callback?state=s&code=c"},
			{http.MethodGet, "/support"},
			{http.MethodPost, "/support/sign-out"},
			{http.MethodPost, "/support/sign-in"},
			{http.MethodPost, "/support/sign-out"},
		} {
			r := httptest.NewRequest(step.method, "https://pay.example"+step.path, strings.NewReader(url.Values{"token": {"t"}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			for _, c := range jar {
				r.AddCookie(c)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Less(t, w.Code, 400, step.path)
			for _, c := range w.Result().Cookies() {
				set++
				jar[c.Name] = c
				require.Equal(t, !plain, strings.HasPrefix(c.Name, "__Secure-"), "%s sets %s", step.path, c)
				require.Equal(t, !plain, c.Secure, "%s sets %s", step.path, c)
				require.True(t, c.HttpOnly, "%s sets %s", step.path, c)
				require.Equal(t, http.SameSiteLaxMode, c.SameSite, "%s sets %s", step.path, c)
				require.Equal(t, "/support", c.Path)
				require.Empty(t, c.Domain)
			}
		}
		require.GreaterOrEqual(t, set, 4, "at the begin, the callback, the token and the sign-outs")
	}
}
