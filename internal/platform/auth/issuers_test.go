package auth_test

import (
	"maps"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// TestIssuersHaveRoles: an issuer gives the roles that it is listed with and no others, by its own keys and for its own audience.
func TestIssuersHaveRoles(t *testing.T) {
	t.Parallel()
	shop, staff := newKeyring(t), newKeyring(t)
	const customers, people = "https://customers.example", "https://staff.example"
	a := newAuth(t, auth.Options{HS256: withSecret(secret), Issuers: []auth.Issuer{
		{Name: customers, Audience: "checkout", JWKSURL: newSource(t, key{"e", shop.ec.Public(), ""}).url, Roles: []payment.Role{payment.RoleCustomer}},
		{Name: people, Audience: "paylatch", JWKSURL: newSource(t, key{"e", staff.ec.Public(), ""}).url, Roles: []payment.Role{payment.RoleSupport, payment.RoleAdmin}},
	}})
	token := func(k keyring, iss, aud string, roles ...string) string {
		return sign(t, jwt.SigningMethodES256, "e", k.ec, claims(jwt.MapClaims{"iss": iss, "aud": aud, "roles": roles}))
	}
	for name, tc := range map[string]struct {
		token string
		want  []payment.Role
		err   error
	}{
		"its role":                     {token(shop, customers, "checkout", "customer"), []payment.Role{payment.RoleCustomer}, nil},
		"beside it one that is not":    {token(shop, customers, "checkout", "customer", "admin", "service"), []payment.Role{payment.RoleCustomer}, nil},
		"only one that is not":         {token(shop, customers, "checkout", "admin"), nil, payment.ErrForbidden},
		"staff":                        {token(staff, people, "paylatch", "admin"), []payment.Role{payment.RoleAdmin}, nil},
		"staff as the backend":         {token(staff, people, "paylatch", "service"), nil, payment.ErrForbidden},
		"the name of another":          {token(shop, people, "paylatch", "admin"), nil, auth.ErrUnauthenticated},
		"the audience of another":      {token(shop, customers, "paylatch", "customer"), nil, auth.ErrUnauthenticated},
		"no issuer":                    {token(shop, "", "checkout", "customer"), nil, auth.ErrUnauthenticated},
		"an issuer that is not listed": {token(shop, "https://other.example", "checkout", "customer"), nil, auth.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actor, err := a.Authenticate(t.Context(), tc.token, "")
			if tc.err != nil {
				require.ErrorIs(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, actor.Roles)
		})
	}
}

// Staff of an issuer with a subject claim has the same name as in the console. If there are several doors, the actor of the
// other doors has the door; actors of customers and services do not change.
func TestDoors(t *testing.T) {
	t.Parallel()
	keys := newKeyring(t)
	url := newSource(t, key{"e", keys.ec.Public(), ""}).url
	list := []config.Issuer{
		{Issuer: "https://people.example", Audience: "paylatch", JWKSURL: url, Roles: []string{"support", "admin"}, SubjectClaim: "email"},
		{Issuer: "https://tools.example", Audience: "paylatch", JWKSURL: url, Roles: []string{"support", "admin", "customer"}},
	}
	one := &config.Config{Auth: config.Auth{Issuers: list[1:]}}
	require.Empty(t, auth.Issuers(one)[0].Door, "the only door")
	require.Empty(t, auth.SharedDoor(one))
	cfg := &config.Config{Auth: config.Auth{Issuers: list, HS256Secret: config.Secret(secret)}, Console: config.Console{OIDC: config.OIDC{Issuer: "https://people.example"}}}
	a := newAuth(t, auth.Options{HS256: auth.TokenKeys(cfg), Issuers: auth.Issuers(cfg), Door: auth.SharedDoor(cfg)})
	token := func(iss string, more jwt.MapClaims) string {
		c := jwt.MapClaims{"iss": iss, "aud": "paylatch", "sub": "s1", "roles": []string{"admin"}}
		maps.Copy(c, more)
		return sign(t, jwt.SigningMethodES256, "e", keys.ec, claims(c))
	}
	for name, tc := range map[string]struct{ token, person string }{
		"named as in the console": {token("https://people.example", jwt.MapClaims{"email": "ada@shop.example", "email_verified": true}), "ada@shop.example"},
		"not verified":            {token("https://people.example", jwt.MapClaims{"email": "ada@shop.example"}), ""},
		"without the claim":       {token("https://people.example", nil), ""},
		"named otherwise":         {token("https://tools.example", nil), "s1 via https://tools.example"},
		"a customer":              {token("https://tools.example", jwt.MapClaims{"roles": []string{"customer"}}), "s1"},
		"a shared key":            {sign(t, jwt.SigningMethodHS256, "", secret, claims(jwt.MapClaims{"sub": "s1", "roles": []string{"support"}})), "s1 via HS256"},
		"a service":               {sign(t, jwt.SigningMethodHS256, "", secret, claims(jwt.MapClaims{"sub": "s1", "roles": []string{"service"}})), "s1"},
	} {
		actor, err := a.Authenticate(t.Context(), tc.token, "")
		if tc.person == "" {
			require.ErrorIs(t, err, auth.ErrUnauthenticated, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tc.person, actor.Person(), name)
	}
}

// TestStaffTokensEndSoon: in live a token of staff lasts a day at the most, whichever key signs it; others as long as they say.
func TestStaffTokensEndSoon(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	source := newSource(t, key{"e", k.ec.Public(), ""})
	live := config.Config{Environment: config.Live}
	a := newAuth(t, auth.Options{HS256: withSecret(secret), JWKSURL: source.url, StaffLife: auth.StaffLife(&live)})
	at := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for name, tc := range map[string]struct {
		role     string
		iat, exp any
		taken    bool
	}{
		"a day":                    {"admin", at(0), at(24 * time.Hour), true},
		"more":                     {"admin", at(0), at(24*time.Hour + time.Second), false},
		"more, support":            {"support", at(0), at(48 * time.Hour), false},
		"more, in its last hour":   {"support", at(-47 * time.Hour), at(time.Hour), false},
		"more, of an unknown age":  {"support", nil, at(48 * time.Hour), false},
		"issued in the future":     {"admin", at(30 * time.Hour), at(48 * time.Hour), false},
		"more, of a service":       {"service", at(0), at(8760 * time.Hour), true},
		"more, of a customer":      {"customer", at(0), at(48 * time.Hour), true},
		"a day, of an unknown age": {"support", nil, at(24 * time.Hour), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := jwt.MapClaims{"roles": []string{tc.role}, "iat": tc.iat, "exp": tc.exp, "iss": "https://id.example", "aud": "paylatch"}
			for _, token := range []string{hs256(t, changes), sign(t, jwt.SigningMethodES256, "e", k.ec, claims(changes))} {
				_, err := a.Authenticate(t.Context(), token, "")
				require.Equal(t, tc.taken, err == nil, "%v", err)
			}
		})
	}
	mint := auth.Minter{Keys: withSecret(secret), Now: clock, StaffLife: 24 * time.Hour}
	_, err := mint.Mint("sam", []payment.Role{payment.RoleSupport}, 25*time.Hour)
	require.ErrorContains(t, err, "24h")
	_, err = mint.Mint("shop", []payment.Role{payment.RoleService}, 8760*time.Hour)
	require.NoError(t, err)
	require.Zero(t, auth.StaffLife(&config.Config{Environment: config.Test}))
}
