package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

var (
	secret = []byte("0123456789abcdef0123456789abcdef")
	root   = []byte("fedcba9876543210fedcba9876543210")
	start  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

func clock() time.Time { return start }

// ring is the key that status tokens are made with here.
func ring() []auth.Key { return []auth.Key{{ID: "k1", Secret: root}} }

// withSecret is a ring of one key, without an id and with all roles.
func withSecret(secret []byte) []auth.HS256Key {
	return []auth.HS256Key{{Secret: secret, Roles: []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleSupport, payment.RoleAdmin}}}
}

// claims are good ones with some replaced; nil removes one.
func claims(changes jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{
		"iss": "https://id.example", "aud": "paylatch", "sub": "u1", "roles": []string{"customer"}, "exp": start.Add(time.Hour).Unix(),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func sign(tb testing.TB, method jwt.SigningMethod, kid string, key any, c jwt.MapClaims) string {
	tb.Helper()
	token := jwt.NewWithClaims(method, c)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	require.NoError(tb, err)
	return text
}

func hs256(tb testing.TB, changes jwt.MapClaims) string {
	tb.Helper()
	return sign(tb, jwt.SigningMethodHS256, "", secret, claims(changes))
}

func newAuth(tb testing.TB, o auth.Options) *auth.Authenticator {
	tb.Helper()
	o.Keys = ring()
	if o.JWKSURL != "" && o.Issuer == "" {
		o.Issuer, o.Audience = "https://id.example", "paylatch"
	}
	if o.Now == nil {
		o.Now = clock
	}
	a, err := auth.New(o)
	require.NoError(tb, err)
	return a
}

func TestAuthenticateHS256(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	actor, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"roles": []string{"admin", "guest", "support", "admin"}}), "")
	require.NoError(t, err)
	require.Equal(t, authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleAdmin, payment.RoleSupport}}, actor)
}

func TestRefusedClaims(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret), Issuer: "me", Audience: "paylatch"})
	good := jwt.MapClaims{"iss": "me", "aud": []string{"other", "paylatch"}}
	_, err := a.Authenticate(t.Context(), hs256(t, good), "")
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		change jwt.MapClaims
		is     error
		reason string
	}{
		"expired":           {jwt.MapClaims{"exp": start.Add(-time.Hour).Unix()}, auth.ErrUnauthenticated, "has expired"},
		"expires now":       {jwt.MapClaims{"exp": start.Unix()}, auth.ErrUnauthenticated, "has expired"},
		"no exp":            {jwt.MapClaims{"exp": nil}, auth.ErrUnauthenticated, "lacks exp"},
		"exp is a text":     {jwt.MapClaims{"exp": "tomorrow"}, auth.ErrUnauthenticated, "malformed"},
		"exp is beyond":     {jwt.MapClaims{"exp": 1e300}, auth.ErrUnauthenticated, ""},
		"nbf in the future": {jwt.MapClaims{"nbf": start.Add(6 * time.Second).Unix()}, auth.ErrUnauthenticated, "not valid yet"},
		"nbf is a text":     {jwt.MapClaims{"nbf": "tomorrow"}, auth.ErrUnauthenticated, "malformed"},
		"wrong iss":         {jwt.MapClaims{"iss": "you"}, auth.ErrUnauthenticated, "iss is not accepted"},
		"no iss":            {jwt.MapClaims{"iss": nil}, auth.ErrUnauthenticated, "lacks exp, iss or aud"},
		"wrong aud":         {jwt.MapClaims{"aud": "other"}, auth.ErrUnauthenticated, "aud is not accepted"},
		"no aud":            {jwt.MapClaims{"aud": nil}, auth.ErrUnauthenticated, "lacks exp, iss or aud"},
		"no sub":            {jwt.MapClaims{"sub": nil}, auth.ErrUnauthenticated, "sub must be"},
		"sub is a number":   {jwt.MapClaims{"sub": 7}, auth.ErrUnauthenticated, "sub must be"},
		"sub with a blank":  {jwt.MapClaims{"sub": "a b"}, auth.ErrUnauthenticated, "sub must be"},
		"sub too long":      {jwt.MapClaims{"sub": strings.Repeat("x", 256)}, auth.ErrUnauthenticated, "sub must be"},
		"no roles":          {jwt.MapClaims{"roles": nil}, auth.ErrUnauthenticated, "roles must be a list"},
		"roles is a text":   {jwt.MapClaims{"roles": "admin"}, auth.ErrUnauthenticated, "roles must be a list"},
		"roles of numbers":  {jwt.MapClaims{"roles": []any{"admin", 1}}, auth.ErrUnauthenticated, "roles must be a list"},
		"ROLES":             {jwt.MapClaims{"roles": nil, "ROLES": []string{"admin"}}, auth.ErrUnauthenticated, "roles must be a list"},
		"empty roles":       {jwt.MapClaims{"roles": []string{}}, payment.ErrForbidden, "no role that paylatch knows"},
		"unknown roles":     {jwt.MapClaims{"roles": []string{"root", "Admin"}}, payment.ErrForbidden, "no role that paylatch knows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := maps.Clone(good)
			maps.Copy(change, tc.change)
			actor, err := a.Authenticate(t.Context(), hs256(t, change), "")
			require.ErrorIs(t, err, tc.is)
			require.ErrorContains(t, err, tc.reason)
			require.Zero(t, actor)
		})
	}
}

func TestNotBeforeHasALittleLeeway(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	_, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"nbf": start.Add(5 * time.Second).Unix()}), "")
	require.NoError(t, err)
}

func TestIssuerAndAudienceAreNotCheckedUnlessConfigured(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	_, err := a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"iss": "anybody", "aud": "anything"}), "")
	require.NoError(t, err)
}

func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	good := hs256(t, nil)
	parts := strings.Split(good, ".")
	part := base64.RawURLEncoding.EncodeToString
	extended := jwt.NewWithClaims(jwt.SigningMethodHS256, claims(nil))
	extended.Header["crit"] = []string{"b64"}
	critical, err := extended.SignedString(secret)
	require.NoError(t, err)
	for name, token := range map[string]string{
		"empty":          "",
		"one part":       "abc",
		"two parts":      "a.b",
		"four parts":     good + ".x",
		"long":           strings.Repeat("a", 9000),
		"long, but ours": hs256(t, jwt.MapClaims{"more": strings.Repeat("a", 8<<10)}),
		"no signature":   parts[0] + "." + parts[1] + ".",
		"other secret":   sign(t, jwt.SigningMethodHS256, "", []byte("another-secret-another-secret-an"), claims(nil)),
		"HS384":          sign(t, jwt.SigningMethodHS384, "", secret, claims(nil)),
		"none":           sign(t, jwt.SigningMethodNone, "", jwt.UnsafeAllowNoneSignatureType, claims(nil)),
		"None":           part([]byte(`{"alg":"None"}`)) + "." + parts[1] + ".",
		"no alg":         part([]byte(`{"typ":"JWT"}`)) + "." + parts[1] + "." + parts[2],
		"RS256, no set":  part([]byte(`{"alg":"RS256"}`)) + "." + parts[1] + "." + parts[2],
		"payload null":   part([]byte(`{"alg":"HS256"}`)) + "." + part([]byte(`null`)) + "." + parts[2],
		"payload list":   part([]byte(`{"alg":"HS256"}`)) + "." + part([]byte(`[]`)) + "." + parts[2],
		"critical":       critical,
		"trailing":       good + "=",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := a.Authenticate(t.Context(), token, "")
			require.ErrorIs(t, err, auth.ErrUnauthenticated)
			require.NotContains(t, err.Error(), string(secret))
		})
	}
}

// keyring has a private key for each algorithm of the JWKS.
type keyring struct {
	rsa *rsa.PrivateKey
	ec  *ecdsa.PrivateKey
	ed  ed25519.PrivateKey
}

func newKeyring(t *testing.T) keyring {
	t.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, d, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return keyring{r, e, d}
}

func TestAlgorithmConfusion(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	source := newSource(t, key{"r", k.rsa.Public(), ""}, key{"e", k.ec.Public(), ""}, key{"d", k.ed.Public(), ""}, key{"s", secret, ""})
	der, err := x509.MarshalPKIXPublicKey(k.rsa.Public())
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})

	for name, o := range map[string]auth.Options{
		"both": {HS256: withSecret(secret), JWKSURL: source.url},
		"jwks": {JWKSURL: source.url},
	} {
		a := newAuth(t, o)
		for kind, public := range map[string]any{"der": der, "pem": text, "modulus": k.rsa.N.Bytes()} {
			for _, kid := range []string{"", "r"} {
				_, err := a.Authenticate(t.Context(), sign(t, jwt.SigningMethodHS256, kid, public, claims(nil)), "")
				require.ErrorIs(t, err, auth.ErrUnauthenticated, "%s %s %q", name, kind, kid)
			}
		}
		_, err := a.Authenticate(t.Context(), sign(t, jwt.SigningMethodRS256, "e", k.rsa, claims(nil)), "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, "the kid of another key")
		_, err = a.Authenticate(t.Context(), sign(t, jwt.SigningMethodRS512, "r", k.rsa, claims(nil)), "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, "an algorithm that nobody asked for")
		_, err = a.Authenticate(t.Context(), sign(t, jwt.SigningMethodPS256, "r", k.rsa, claims(nil)), "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated, "an algorithm that nobody asked for")
	}

	onlyJWKS := newAuth(t, auth.Options{JWKSURL: source.url})
	_, err = onlyJWKS.Authenticate(t.Context(), sign(t, jwt.SigningMethodHS256, "s", secret, claims(nil)), "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated, "a symmetric key in the set is not a secret")
}

func TestOnBehalfOf(t *testing.T) {
	t.Parallel()
	a := newAuth(t, auth.Options{HS256: withSecret(secret)})
	service := hs256(t, jwt.MapClaims{"sub": "shop", "roles": []string{"service"}})

	actor, err := a.Authenticate(t.Context(), service, "customer|ü42")
	require.NoError(t, err)
	require.Equal(t, payment.UserID("customer|ü42"), actor.User())
	require.Equal(t, "shop", actor.Subject)

	for _, role := range []string{"customer", "support", "admin"} {
		_, err = a.Authenticate(t.Context(), hs256(t, jwt.MapClaims{"roles": []string{role}}), "u2")
		require.ErrorIs(t, err, payment.ErrForbidden, role)
		why, ok := errors.AsType[*authz.RoleError](err)
		require.True(t, ok)
		require.Equal(t, &authz.RoleError{Needed: []payment.Role{payment.RoleService}, Or: "leave out On-Behalf-Of"}, why, role)
	}
	_, err = a.Authenticate(t.Context(), a.StatusToken(payment.AttemptID{1}, start.Add(time.Hour)), "u2")
	require.ErrorIs(t, err, payment.ErrForbidden)

	for _, user := range []string{" ", "a b", "a\x00", "a\n", "\xff", "\u200b", strings.Repeat("x", 256)} {
		_, err = a.Authenticate(t.Context(), service, user)
		var wrong *payment.ValidationError
		require.ErrorAs(t, err, &wrong, "%q", user)
	}
	_, err = a.Authenticate(t.Context(), service, strings.Repeat("ü", 255))
	require.NoError(t, err)
}

func TestNewRefusesWhatCantWork(t *testing.T) {
	t.Parallel()
	for _, o := range []auth.Options{
		{Keys: ring()},
		{Keys: ring(), HS256: withSecret(secret[1:])},
		{Keys: ring(), JWKSURL: "https://id.example/keys"},
		{Keys: ring(), JWKSURL: "https://id.example/keys", Issuer: "https://id.example"},
		{Keys: ring(), JWKSURL: "https://id.example/keys", Audience: "paylatch"},
		{Keys: []auth.Key{{ID: "k1", Secret: root[1:]}}, HS256: withSecret(secret)},
		{HS256: withSecret(secret)},
	} {
		_, err := auth.New(o)
		require.Error(t, err)
	}
}

func TestMint(t *testing.T) {
	t.Parallel()
	m := auth.Minter{Keys: withSecret(secret), Issuer: "me", Audience: "paylatch", Now: clock}
	token, err := m.Mint("u1", []payment.Role{payment.RoleService, payment.RoleCustomer}, time.Minute)
	require.NoError(t, err)
	now := start
	a := newAuth(t, auth.Options{HS256: withSecret(secret), Issuer: "me", Audience: "paylatch", Now: func() time.Time { return now }})
	actor, err := a.Authenticate(t.Context(), token, "")
	require.NoError(t, err)
	require.Equal(t, authz.Actor{Subject: "u1", Roles: []payment.Role{payment.RoleService, payment.RoleCustomer}}, actor)
	now = start.Add(time.Minute)
	_, err = a.Authenticate(t.Context(), token, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)

	roles := []payment.Role{payment.RoleAdmin}
	for _, mint := range []func() (string, error){
		func() (string, error) { return auth.Minter{Keys: withSecret(secret[1:])}.Mint("u1", roles, time.Hour) },
		func() (string, error) { return m.Mint("", roles, time.Hour) },
		func() (string, error) { return m.Mint("u1", nil, time.Hour) },
		func() (string, error) { return m.Mint("u1", []payment.Role{"root"}, time.Hour) },
		func() (string, error) { return m.Mint("u1", roles, 0) },
	} {
		_, err := mint()
		require.Error(t, err)
	}
}
