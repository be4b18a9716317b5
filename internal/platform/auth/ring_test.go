package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

// rotation is a key's whole life: alone, behind its successor, gone.
func rotation() (before, during, after []auth.Key) {
	one, two := auth.Key{ID: "k1", Secret: root}, auth.Key{ID: "k2", Secret: secret}
	return []auth.Key{one}, []auth.Key{two, one}, []auth.Key{two}
}

func sealer(t *testing.T, ring []auth.Key) *auth.Sealer {
	t.Helper()
	s, err := auth.NewSealer(ring)
	require.NoError(t, err)
	return s
}

func TestSealRotation(t *testing.T) {
	t.Parallel()
	before, during, after := rotation()
	id := payment.AttemptID{1}
	old, err := sealer(t, before).SealText("tok_old", id[:])
	require.NoError(t, err)
	fresh, err := sealer(t, during).SealText("tok_new", id[:])
	require.NoError(t, err)
	require.Contains(t, string(old), "k1")
	require.Contains(t, string(fresh), "k2", "the first of the ring seals")

	for sealed, want := range map[string]string{string(old): "tok_old", string(fresh): "tok_new"} {
		token, err := sealer(t, during).OpenText([]byte(sealed), id[:])
		require.NoError(t, err)
		require.Equal(t, want, token)
	}
	_, err = sealer(t, after).OpenText(old, id[:])
	require.ErrorIs(t, err, auth.ErrSealed, "its key has left")
	token, err := sealer(t, after).OpenText(fresh, id[:])
	require.NoError(t, err)
	require.Equal(t, "tok_new", token)
	_, err = sealer(t, before).OpenText(fresh, id[:])
	require.ErrorIs(t, err, auth.ErrSealed, "a process that does not have the new key yet")
	_, err = auth.NewSealer([]auth.Key{{ID: strings.Repeat("k", 256), Secret: root}})
	require.Error(t, err)
	_, err = auth.NewSealer(nil)
	require.Error(t, err)
}

func TestStatusTokenRotation(t *testing.T) {
	t.Parallel()
	before, during, after := rotation()
	with := func(ring []auth.Key) *auth.Authenticator {
		a, err := auth.New(auth.Options{HS256: withSecret(secret), Keys: ring, Now: clock})
		require.NoError(t, err)
		return a
	}
	id := payment.AttemptID{7}
	old, fresh := with(before).StatusToken(id, start.Add(time.Hour)), with(during).StatusToken(id, start.Add(time.Hour))
	require.Equal(t, fresh, with(after).StatusToken(id, start.Add(time.Hour)), "the first of the ring signs")
	for _, token := range []string{old, fresh} {
		actor, err := with(during).Authenticate(t.Context(), token, "")
		require.NoError(t, err)
		require.Equal(t, authz.Actor{OnlyAttempt: &id}, actor)
	}
	_, err := with(after).Authenticate(t.Context(), old, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated, "its key has left")
}

func TestHS256Ring(t *testing.T) {
	t.Parallel()
	var (
		shop = []byte("of the shop's backend, which is trusted")
		desk = []byte("of the support desk's tool, in rotation")
		bare = []byte("without an id, as hs256_secret is......")
	)
	all := withSecret(nil)[0].Roles
	named := []auth.HS256Key{
		{ID: "shop", Secret: shop, Roles: []payment.Role{payment.RoleCustomer, payment.RoleService}},
		{ID: "desk", Secret: desk, Roles: []payment.Role{payment.RoleSupport}},
	}
	unnamed := append(named[:2:2], auth.HS256Key{Secret: bare, Roles: all})
	for name, tc := range map[string]struct {
		ring   []auth.HS256Key
		kid    string
		secret []byte
		roles  []string
		want   []payment.Role
		is     error
	}{
		"by its kid":                     {named, "shop", shop, []string{"service"}, []payment.Role{payment.RoleService}, nil},
		"the second by its kid":          {named, "desk", desk, []string{"support"}, []payment.Role{payment.RoleSupport}, nil},
		"without a kid":                  {named, "", shop, []string{"customer"}, []payment.Role{payment.RoleCustomer}, nil},
		"the second without a kid":       {named, "", desk, []string{"support"}, []payment.Role{payment.RoleSupport}, nil},
		"roles outside do not count":     {named, "shop", shop, []string{"admin", "service", "support"}, []payment.Role{payment.RoleService}, nil},
		"only roles outside":             {named, "shop", shop, []string{"admin", "support"}, nil, payment.ErrForbidden},
		"only roles outside, no kid":     {named, "", desk, []string{"service"}, nil, payment.ErrForbidden},
		"the kid of another":             {named, "desk", shop, []string{"service"}, nil, auth.ErrUnauthenticated},
		"an unknown kid":                 {named, "lost", shop, []string{"service"}, nil, auth.ErrUnauthenticated},
		"an unknown kid, empty secret":   {named, "lost", []byte{}, []string{"service"}, nil, auth.ErrUnauthenticated},
		"an unknown secret":              {named, "", bare, []string{"service"}, nil, auth.ErrUnauthenticated},
		"a kid beside a key without one": {unnamed, "whatever", bare, []string{"admin"}, []payment.Role{payment.RoleAdmin}, nil},
		"a kid is no other's":            {unnamed, "shop", bare, []string{"admin"}, nil, auth.ErrUnauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuth(t, auth.Options{HS256: tc.ring})
			token := sign(t, jwt.SigningMethodHS256, tc.kid, tc.secret, claims(jwt.MapClaims{"roles": tc.roles}))
			for range 2 { // the second time it is remembered
				actor, err := a.Authenticate(t.Context(), token, "")
				require.ErrorIs(t, err, tc.is)
				require.Equal(t, tc.want, actor.Roles)
			}
		})
	}
	_, err := newAuth(t, auth.Options{HS256: named}).Authenticate(t.Context(),
		sign(t, jwt.SigningMethodHS256, "desk", desk, claims(jwt.MapClaims{"roles": []string{"admin"}})), "")
	why, ok := errors.AsType[*authz.RoleError](err)
	require.True(t, ok)
	require.Equal(t, []payment.Role{payment.RoleSupport}, why.Needed)
}

// A token is made by the first key that may give all its roles, and names it.
func TestMintByRing(t *testing.T) {
	t.Parallel()
	m := auth.Minter{Now: clock, Keys: []auth.HS256Key{
		{ID: "shop", Secret: secret, Roles: []payment.Role{payment.RoleService}},
		{ID: "desk", Secret: root, Roles: []payment.Role{payment.RoleSupport, payment.RoleAdmin}},
	}}
	a := newAuth(t, auth.Options{HS256: m.Keys})
	for role, kid := range map[payment.Role]string{payment.RoleService: "shop", payment.RoleAdmin: "desk"} {
		token, err := m.Mint("u1", []payment.Role{role}, time.Minute)
		require.NoError(t, err)
		parsed, _, err := jwt.NewParser().ParseUnverified(token, jwt.MapClaims{})
		require.NoError(t, err)
		require.Equal(t, kid, parsed.Header["kid"])
		actor, err := a.Authenticate(t.Context(), token, "")
		require.NoError(t, err)
		require.Equal(t, []payment.Role{role}, actor.Roles)
	}
	for _, roles := range [][]payment.Role{{payment.RoleCustomer}, {payment.RoleService, payment.RoleAdmin}} {
		_, err := m.Mint("u1", roles, time.Minute)
		require.ErrorContains(t, err, "no configured key allows tokens with the roles")
		require.NotContains(t, err.Error(), string(secret))
	}
}
