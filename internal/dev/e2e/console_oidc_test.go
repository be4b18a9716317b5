package e2e_test

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	gojwt "github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"
)

// employee is a user of the OpenID provider, with any claims.
type employee map[string]any

func (e employee) ID() string { return "employee-7" }

func (e employee) Userinfo([]string) ([]byte, error) { return []byte("{}"), nil }

func (e employee) Claims(_ []string, base *mockoidc.IDTokenClaims) (gojwt.Claims, error) {
	claims := gojwt.MapClaims{
		"iss": base.Issuer, "aud": base.Audience, "sub": base.Subject, "exp": base.ExpiresAt, "iat": base.IssuedAt, "nonce": base.Nonce,
	}
	maps.Copy(claims, gojwt.MapClaims(e))
	return claims, nil
}

// organisation is a console whose people sign in at an OpenID provider. The provider is real in that it signs, keeps codes and
// checks PKCE.
type organisation struct {
	*mockoidc.MockOIDC
	*service
	rig   *rig
	front *front
}

func newOrganisation(t *testing.T) *organisation {
	t.Helper()
	return newOrganisationOn(t, newRig(t))
}

func newOrganisationOn(t *testing.T, r *rig, environ ...string) *organisation {
	t.Helper()
	provider, err := mockoidc.NewServer(nil)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, provider.Start(l, nil))
	t.Cleanup(func() { require.NoError(t, provider.Shutdown()) })
	front := newFront(t)
	s := r.serve(append(environ,
		"PAYLATCH_CONSOLE_OIDC_ISSUER="+provider.Issuer(), "PAYLATCH_CONSOLE_OIDC_CLIENT_ID="+provider.ClientID,
		"PAYLATCH_CONSOLE_OIDC_CLIENT_SECRET="+provider.ClientSecret, "PAYLATCH_CONSOLE_OIDC_REDIRECT_URL="+front.URL+"/support/sign-in/callback",
		"PAYLATCH_CONSOLE_OIDC_ROLES_CLAIM=realm_access.roles", "PAYLATCH_CONSOLE_OIDC_SCOPES=[openid]")...)
	front.to.Store(&s.base)
	return &organisation{provider, s, r, front}
}

// browser is a browser that trusts the front.
func (o *organisation) browser(t *testing.T) *person {
	t.Helper()
	p := newPerson(t, o.front.URL)
	p.http.Transport = trusting()
	return p
}

// begun is where the provider sends the browser back to after its sign-in.
func (o *organisation) begun(p *person, path string, change func(q url.Values)) *url.URL {
	p.t.Helper()
	toProvider := p.get("/support/sign-in/begin?to=" + url.QueryEscape(path))
	toProvider.is(p.t, http.StatusSeeOther)
	address, err := url.Parse(toProvider.header.Get("Location"))
	require.NoError(p.t, err)
	q := address.Query()
	require.Equal(p.t, "S256", q.Get("code_challenge_method"))
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		require.GreaterOrEqual(p.t, len(q.Get(name)), 20, name)
	}
	change(q)
	address.RawQuery = q.Encode()
	at, err := plain.Get(address.String())
	require.NoError(p.t, err)
	defer at.Body.Close()
	require.Equal(p.t, http.StatusFound, at.StatusCode)
	back, err := at.Location()
	require.NoError(p.t, err)
	return back
}

func roles(names ...any) employee { return employee{"realm_access": map[string]any{"roles": names}} }

func TestStaffSignsInAtTheirOrganisation(t *testing.T) {
	t.Parallel()
	o := newOrganisation(t)
	o.QueueUser(roles("support", "customer"))
	p := o.browser(t)
	back := o.begun(p, "/support/discrepancies", func(url.Values) {})
	in := p.get(back.RequestURI())
	in.is(t, http.StatusSeeOther)
	require.Equal(t, "/support/discrepancies", in.header.Get("Location"))
	require.Contains(t, in.header.Get("Set-Cookie"), "Secure")
	page := p.get("/support/discrepancies")
	page.is(t, http.StatusOK)
	require.Contains(t, page.page(), "employee-7")
	p.get("/support/audit").is(t, http.StatusForbidden)
	require.Equal(t, []string{"support"}, column[string](t, o.rig, `SELECT DISTINCT r FROM staff_audit, unnest(roles) r WHERE actor = 'employee-7'`))

	again := p.get(back.RequestURI())
	again.is(t, http.StatusUnauthorized)
	require.NotContains(t, o.stderr.String(), back.Query().Get("code"))
	require.NotContains(t, o.stderr.String(), o.ClientSecret)
	require.Contains(t, o.stderr.String(), `"sub":"employee-7"`, "whose requests they were")
}

func TestASessionEndsAtItsOwnTimeWhateverSignInIsBegunInIt(t *testing.T) {
	t.Parallel()
	o := newOrganisation(t)
	o.QueueUser(roles("support"))
	p := o.browser(t)
	in := p.get(o.begun(p, "/support", func(url.Values) {}).RequestURI())
	in.is(t, http.StatusSeeOther)
	end := func() time.Time { return one[time.Time](t, o.rig, `SELECT max(expiry) FROM sessions`) }
	before := end()
	again := p.get("/support/sign-in/begin?to=" + url.QueryEscape("/support/discrepancies"))
	again.is(t, http.StatusSeeOther)
	require.Equal(t, "/support/discrepancies", again.header.Get("Location"))
	require.Equal(t, in.header.Get("Set-Cookie"), again.header.Get("Set-Cookie"), "the session is the same one")
	require.False(t, end().Before(before), "nobody is signed out by a link")
	p.get("/support/discrepancies").is(t, http.StatusOK)
}

// A sign-in that was begun is not a session yet: it expires soon, and each has a cookie of its own. The session's time begins at
// the end of the sign-in.
func TestASignInThatWasBegunEndsSoon(t *testing.T) {
	t.Parallel()
	o := newOrganisation(t)
	o.QueueUser(roles("support"))
	left := func() float64 {
		return one[float64](t, o.rig, `SELECT extract(epoch FROM max(expiry) - now())::float8 FROM sessions`)
	}
	p := o.browser(t)
	cookies := map[string]bool{}
	began := time.Now()
	lasts := func(life time.Duration) {
		t.Helper()
		is := left()
		require.LessOrEqual(t, is, life.Seconds()+1)
		require.GreaterOrEqual(t, is, (life-time.Since(began)).Seconds()-1)
	}
	for range 2 {
		begun := p.get("/support/sign-in/begin")
		begun.is(t, http.StatusSeeOther)
		cookie, _, _ := strings.Cut(begun.header.Get("Set-Cookie"), ";")
		cookies[cookie] = true
	}
	require.Len(t, cookies, 2)
	lasts(15 * time.Minute)
	back := o.begun(p, "/support", func(url.Values) {})
	began = time.Now()
	in := p.get(back.RequestURI())
	in.is(t, http.StatusSeeOther)
	lasts(30 * time.Minute)
}

func TestSignInsThatProveNothing(t *testing.T) {
	t.Parallel()
	o := newOrganisation(t)
	unchanged := func(url.Values) {}
	for _, c := range []struct {
		name   string
		who    employee
		begin  func(q url.Values)
		back   func(q url.Values)
		status int
		says   string
	}{
		{"another nonce", roles("admin"), func(q url.Values) { q.Set("nonce", "another-nonce-of-some-length") }, unchanged, 401, "belongs to another sign-in"},
		{"another state", roles("admin"), unchanged, func(q url.Values) { q.Set("state", "another") }, 401, "this browser did not start"},
		{"no state", roles("admin"), unchanged, func(q url.Values) { q.Del("state") }, 401, "this browser did not start"},
		{"another verifier", roles("admin"), func(q url.Values) { q.Set("code_challenge", "RUmUk5gR2NCYV6qmVDSFFf7hRoCtfvp5m7rA2J7cgWs") }, unchanged, 401, "refuses the code"},
		{"another code", roles("admin"), unchanged, func(q url.Values) { q.Set("code", "guess") }, 401, "refuses the code"},
		{"expired", employee{"exp": time.Now().Add(-time.Hour).Unix(), "realm_access": map[string]any{"roles": []any{"admin"}}}, unchanged, unchanged, 401, "has expired"},
		{"another service's", employee{"aud": "another", "realm_access": map[string]any{"roles": []any{"admin"}}}, unchanged, unchanged, 401, "not proven to be for this service"},
		{"another issuer's", employee{"iss": "https://evil.example", "realm_access": map[string]any{"roles": []any{"admin"}}}, unchanged, unchanged, 401, "not proven to be for this service"},
		{"no role", employee{}, unchanged, unchanged, 403, "neither support nor admin"},
		{"a customer's role", roles("customer", "service", "Support"), unchanged, unchanged, 403, "neither support nor admin"},
		{"no name", employee{"sub": "", "realm_access": map[string]any{"roles": []any{"admin"}}}, unchanged, unchanged, 401, "must be 1 to 255"},
		{"refused there", roles("admin"), unchanged, func(q url.Values) { q.Set("error", "access_denied") }, 401, "was not completed"},
	} {
		// One after the other: the provider's queue of people is one.
		p := o.browser(t)
		o.QueueUser(c.who)
		back := o.begun(p, "/support", c.begin)
		q := back.Query()
		c.back(q)
		a := p.get(back.Path + "?" + q.Encode())
		require.Equal(t, c.status, a.status, "%s: %s", c.name, a.text)
		require.Contains(t, a.page(), c.says, c.name)
		p.get("/support").is(t, http.StatusSeeOther)
	}
	o.QueueUser(roles("admin"))
	begun := o.begun(o.browser(t), "/support", unchanged)
	a := o.browser(t).get(begun.RequestURI())
	require.Equal(t, http.StatusUnauthorized, a.status, "another browser's sign-in")

	o.QueueUser(roles("admin"))
	late := o.browser(t)
	late.blunt = true
	begun = o.begun(late, "/support", unchanged)
	require.NoError(t, o.Shutdown())
	gone := late.get(begun.RequestURI())
	gone.is(t, http.StatusServiceUnavailable)
	require.Contains(t, gone.page(), "The sign-in can't be checked at the moment")
	require.Zero(t, one[int](t, o.rig, `SELECT count(*) FROM staff_audit WHERE action <> 'sign_in' OR outcome <> 'refused'`))
}
