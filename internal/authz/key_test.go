package authz_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestNewKeyText(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		text, prefix, hash := authz.NewKeyText()
		require.Regexp(t, `^plk_[A-Za-z0-9_-]{48}$`, text)
		require.Equal(t, text[:10], prefix)
		require.False(t, seen[text])
		seen[text] = true
		got, ok := authz.HashKey(text)
		require.True(t, ok)
		require.Equal(t, hash, got)
	}
}

// One wrong character, a missing or an additional one: none of these texts is a key, so none of them needs a lookup.
func TestHashKey(t *testing.T) {
	t.Parallel()
	text, _, _ := authz.NewKeyText()
	wrong := []string{"", "plk_", "plk_x", strings.ToUpper(text), text + "A", text + "AAAA", text + "=", text + "\n", " " + text, "pst_" + text[4:], text[4:]}
	for i := len(authz.KeyPrefix); i < len(text); i++ {
		other := "A"
		if text[i] == 'A' {
			other = "B"
		}
		wrong = append(wrong, text[:i]+other+text[i+1:], text[:i], text[:i]+text[i+1:], text[:i]+"\n"+text[i:])
	}
	for _, text := range wrong {
		_, ok := authz.HashKey(text)
		require.False(t, ok, "%q", text)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	narrow := authz.Key{Scopes: []authz.Scope{"orders:read", "refunds:write"}}.Actor()
	for scope, want := range map[authz.Scope]bool{
		"orders:read": true, "orders:write": false, "refunds:write": true, "refunds:read": true, "attempts:read": false, "order:read": false, "": false,
	} {
		require.Equal(t, want, narrow.MayCall(scope), scope)
		require.True(t, authz.Key{}.Actor().MayCall(scope), "a key without scopes")
		require.True(t, authz.Actor{}.MayCall(scope), "a token")
	}
}

// A key is the person who made it, also by another key, at the same or another door.
func TestKeysAreTheirCreators(t *testing.T) {
	t.Parallel()
	alice, bob := authz.Actor{Subject: "alice"}, authz.Actor{Subject: "bob"}
	door := func(a authz.Actor, door string) authz.Actor {
		a.Door = door
		return a
	}
	key := func(by authz.Actor) authz.Actor {
		return authz.Key{ID: uuid.New(), Roles: []payment.Role{payment.RoleAdmin}, CreatedBy: by.Person()}.Actor()
	}
	first := key(alice)
	require.Equal(t, first.Subject+" made by alice", first.Person())
	require.Equal(t, "key:", key(first).Subject[:4])
	for _, c := range []struct {
		a, b authz.Actor
		same bool
	}{
		{first, alice, true},
		{alice, first, true},
		{key(first), alice, true},
		{key(key(first)), first, true},
		{first, key(alice), true},
		{first, bob, false},
		{first, key(bob), false},
		{key(first), key(bob), false},
		{key(door(alice, "one")), door(alice, "one"), true},
		{key(door(alice, "one")), door(bob, "one"), false},
		{key(door(alice, "one")), door(bob, "two"), true}, // bob may be alice's name at another door
	} {
		require.Equal(t, c.same, authz.SamePerson(c.a.Person(), c.b.Person()), "%s and %s", c.a.Person(), c.b.Person())
	}
}

func TestKeyExpired(t *testing.T) {
	t.Parallel()
	now := time.Now()
	require.False(t, authz.Key{}.Expired(now))
	require.True(t, authz.Key{ExpiresAt: &now}.Expired(now))
	require.False(t, authz.Key{ExpiresAt: &now}.Expired(now.Add(-time.Nanosecond)))
}

func TestNoUserIsAKey(t *testing.T) {
	t.Parallel()
	_, err := authz.ParseUserID(authz.Key{}.Actor().Subject)
	require.ErrorContains(t, err, "reserved")
}
