package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.Keys = (*apikey.Service)(nil)

// keyDesk returns one key and records the calls.
type keyDesk struct {
	err     error
	who     support.Staff
	created apikey.Create
	revoked uuid.UUID
}

func someKey() authz.Key {
	return authz.Key{
		ID: uuid.UUID(eventID), Name: hostile, Roles: []payment.Role{payment.RoleService}, Scopes: []authz.Scope{"orders:read"}, Prefix: "plk_abcdef",
		CreatedBy: "admin", CreatedAt: now, LastUsedAt: &now,
	}
}

func (d *keyDesk) Create(_ context.Context, who support.Staff, cmd apikey.Create) (authz.Key, string, error) {
	d.who, d.created = who, cmd
	return someKey(), "plk_the-key", d.err
}

func (d *keyDesk) Keys(_ context.Context, who support.Staff, _ support.Page) ([]authz.Key, string, error) {
	d.who = who
	return []authz.Key{someKey()}, "next", d.err
}

func (d *keyDesk) Revoke(_ context.Context, who support.Staff, id uuid.UUID) (authz.Key, error) {
	d.who, d.revoked = who, id
	return someKey(), d.err
}

const (
	keysPath  = "/v1/keys"
	createKey = `{"name":"Warehouse","roles":["service"],"scopes":["orders:read"],"expires_at":"2027-03-01T09:30:00Z"}`
)

func newKeyDesk(t *testing.T) (*bench, *keyDesk) {
	t.Helper()
	d := &keyDesk{}
	return newBench(t, func(o *api.Options) { o.Support, o.Keys = &desk{}, d }), d
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	b, d := newKeyDesk(t)
	as := "Authorization: Bearer admin"
	made := b.send(http.MethodPost, keysPath, createKey, as)
	require.Equal(t, http.StatusCreated, made.StatusCode)
	want := map[string]any{
		"key_id": eventID.String(), "key": "plk_the-key", "name": hostile, "roles": []any{"service"}, "scopes": []any{"orders:read"}, "prefix": "plk_abcdef",
		"created_by": "admin", "created_at": "2026-03-01T09:30:00.120000Z", "expires_at": nil, "last_used_at": "2026-03-01T09:30:00.120000Z",
	}
	require.Equal(t, want, made.object(t))
	require.Equal(t, "no-store", made.Header.Get("Cache-Control"))
	require.Equal(t, "admin", d.who.Subject)
	require.Equal(t, "Warehouse", d.created.Name)
	require.Equal(t, []authz.Scope{"orders:read"}, d.created.Scopes)
	require.Equal(t, "2027-03-01 09:30:00 +0000 UTC", d.created.ExpiresAt.String())
	b.send(http.MethodPost, keysPath, `{"name":"x","roles":["service"],"expires_at":null}`, as)
	require.Nil(t, d.created.ExpiresAt)

	delete(want, "key")
	require.Equal(t, map[string]any{"items": []any{want}, "next_cursor": "next"}, b.send(http.MethodGet, keysPath, "", as).object(t))
	gone := b.send(http.MethodDelete, keysPath+"/"+eventID.String(), "", as)
	require.Equal(t, map[string]any{"key_id": eventID.String(), "deleted": true}, gone.object(t))
	require.Equal(t, uuid.UUID(eventID), d.revoked)

	for call, code := range map[string]string{
		"POST " + keysPath + ` {"name":"x","roles":["service"],"expires_at":"tomorrow"}`: "validation-failed",
		"POST " + keysPath + ` {"name":"x"}`:                                             "validation-failed",
		"POST " + keysPath + ` {"name":"x","roles":["service"],"key":"plk_mine"}`:        "malformed-request",
		"GET " + keysPath + "?limit=0 ":                                                  "validation-failed",
		"DELETE " + keysPath + "/none ":                                                  "not-found",
	} {
		line := strings.SplitN(call, " ", 3)
		require.Equal(t, code, b.send(line[0], line[1], line[2], as).problem(t).Code, call)
	}
	d.err = authz.ErrKeyNotFound
	b.send(http.MethodDelete, keysPath+"/"+eventID.String(), "", as).is(t, 404, "not-found")
	d.err = payment.ErrUnavailable
	b.send(http.MethodPost, keysPath, createKey, as).is(t, 503, "storage-unavailable")
	require.NotContains(t, b.log.String(), "plk_")
}

// Keys are for admins alone, by a token or a key.
func TestKeysAreForAdmins(t *testing.T) {
	t.Parallel()
	b, d := newKeyDesk(t)
	for _, call := range []string{"GET " + keysPath + " ", "POST " + keysPath + " " + createKey, "DELETE " + keysPath + "/" + eventID.String() + " "} {
		line := strings.SplitN(call, " ", 3)
		for _, who := range []string{"u1", "service-1", "support", "nobody", "status." + attemptID.String(), "key.service", "key.support", "key.admin.orders~write"} {
			b.send(line[0], line[1], line[2], "Authorization: Bearer "+who).is(t, 403, "forbidden")
			require.Empty(t, d.who, "%s %s", who, call)
		}
		b.send(line[0], line[1], line[2], "Authorization: -").is(t, 401, "unauthenticated")
		for _, who := range []string{"admin", "key.admin", "key.admin.keys~write"} {
			require.Less(t, b.send(line[0], line[1], line[2], "Authorization: Bearer "+who).StatusCode, 300, "%s %s", who, call)
			require.NotEmpty(t, d.who)
			d.who = support.Staff{}
		}
	}
}

// Every call of the contract that needs a token, with a key of each role: without scopes it gets the answer to a token of its role, and
// so it does with the scope of the call. With all other scopes it is refused, and the refusal has the scope.
func TestScopesOfEveryCall(t *testing.T) {
	t.Parallel()
	doc := document(t)
	b := takingBench(t, nil)
	scopes, tried := api.Scopes(), 0
	require.Subset(t, scopes, []authz.Scope{"orders:read", "attempts:write", "refunds:write", "events:read", "support:read", "keys:write"})
	for _, op := range doc.Operations() {
		if !doc.Secured(op) {
			continue
		}
		tried++
		needs, writes := authz.ScopeOf(op.Tags[0], op.Method == http.MethodGet), authz.ScopeOf(op.Tags[0], false)
		for _, role := range []string{"service", "support", "admin"} {
			token := role
			if role == "service" {
				token = "service-1"
			}
			want := b.call(doc, op, token)
			require.Equal(t, want.StatusCode, b.call(doc, op, "key."+role).StatusCode, "%s as %s", op.ID, role)
			for _, scope := range scopes {
				got := b.call(doc, op, "key."+role+"."+strings.ReplaceAll(string(scope), ":", "~"))
				if scope == needs || scope == writes {
					require.Equal(t, want.StatusCode, got.StatusCode, "%s as %s with %s: %s", op.ID, role, scope, got.text)
					continue
				}
				got.is(t, 403, "forbidden")
				require.Contains(t, got.problem(t).Detail, string(needs), "%s as %s with %s", op.ID, role, scope)
			}
		}
	}
	require.Greater(t, tried, 40)
}

// call sends the smallest request of a call.
func (b *bench) call(doc *contract.Document, op *contract.Operation, bearer string) answer {
	b.t.Helper()
	path := strings.NewReplacer("{order_id}", "A-1", "{payment_attempt_id}", attemptID.String(), "{endpoint}", "shop").Replace(op.Path)
	if before, after, found := strings.Cut(path, "{"); found {
		_, after, _ = strings.Cut(after, "}")
		path = before + eventID.String() + after
	}
	headers := []string{"Authorization: Bearer " + bearer, "Idempotency-Key: key-00000001"}
	if strings.Contains(bearer, "service") && slices.ContainsFunc(op.Parameters, func(p contract.Parameter) bool { return p.Name == "On-Behalf-Of" }) {
		headers = append(headers, "On-Behalf-Of: u1")
	}
	body := ""
	if op.JSON() != nil {
		text, err := json.Marshal(with(b.t, doc, op.JSON(), nil))
		require.NoError(b.t, err)
		body = string(text)
	}
	return b.send(op.Method, path, body, headers...)
}

// A key counts in the header Authorization alone.
func TestKeysElsewhere(t *testing.T) {
	t.Parallel()
	b, d := newKeyDesk(t)
	for _, call := range []string{
		"GET " + keysPath + "?access_token=key.admin ", "GET " + keysPath + "?api_key=key.admin ", "GET " + keysPath + "?key=key.admin ",
		"POST " + keysPath + "?key=key.admin " + createKey, "POST " + keysPath + ` {"name":"x","roles":["service"],"access_token":"key.admin"}`,
	} {
		line := strings.SplitN(call, " ", 3)
		for _, header := range []string{"X-Api-Key: key.admin", "Cookie: key=key.admin", "Authorization: Basic key.admin", "Authorization: key.admin"} {
			headers := []string{header}
			if !strings.HasPrefix(header, "Authorization") {
				headers = append(headers, "Authorization: -")
			}
			b.send(line[0], line[1], line[2], headers...).is(t, 401, "unauthenticated")
		}
	}
	require.Empty(t, d.who)
}
