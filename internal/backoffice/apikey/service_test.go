package apikey_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/apikey"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
)

var ada = support.Staff{Actor: authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleAdmin}}, Address: "192.0.2.7", RequestID: "req-1"}

func newService(t *testing.T) (*apikey.Service, *postgres.Store, *pgx.Conn) {
	t.Helper()
	dsn := testdb.New(t)
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return apikey.New(store.APIKeys(), []authz.Scope{"keys:read", "keys:write", "orders:read", "orders:write"}, time.Now), store, testdb.Connect(t, dsn)
}

func page(t *testing.T, cursor, limit string) support.Page {
	t.Helper()
	p, err := support.ParsePage(cursor, limit)
	require.NoError(t, err)
	return p
}

// of is a caller by a key.
func of(k authz.Key) support.Staff { return support.Staff{Actor: k.Actor(), Address: "192.0.2.8"} }

func TestService(t *testing.T) {
	t.Parallel()
	s, store, db := newService(t)
	end := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	made, text, err := s.Create(t.Context(), ada, apikey.Create{
		Name: "Wärehouse", Roles: []payment.Role{"support", "service", "support"}, Scopes: []authz.Scope{"orders:write", "keys:read"}, ExpiresAt: &end,
	})
	require.NoError(t, err)
	hash, formed := authz.HashKey(text)
	require.True(t, formed)
	found, err := store.APIKeys().KeyByHash(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, made.ID, found.ID)
	require.Equal(t, []payment.Role{"service", "support"}, found.Roles)
	require.Equal(t, []authz.Scope{"keys:read", "orders:write"}, found.Scopes)
	require.Equal(t, "ada", found.CreatedBy)
	require.True(t, end.Equal(*found.ExpiresAt))
	require.Nil(t, found.LastUsedAt)
	require.True(t, strings.HasPrefix(text, found.Prefix))

	for range 3 {
		require.NoError(t, store.APIKeys().KeyUsed(t.Context(), made.ID))
	}
	_, err = db.Exec(t.Context(), "UPDATE api_keys SET last_used_at = last_used_at - interval '59 seconds'")
	require.NoError(t, err)
	var used, again time.Time
	read := func(into *time.Time) {
		require.NoError(t, db.QueryRow(t.Context(), "SELECT last_used_at FROM api_keys").Scan(into))
	}
	read(&used)
	_, err = db.Exec(t.Context(), "UPDATE api_keys SET last_used_at = now() - interval '1 minute'")
	require.NoError(t, err)
	require.NoError(t, store.APIKeys().KeyUsed(t.Context(), made.ID))
	read(&again)
	require.True(t, again.After(used))

	idle, err := store.APIKeys().Idle(t.Context())
	require.NoError(t, err)
	require.Empty(t, idle)
	_, err = db.Exec(t.Context(), "UPDATE api_keys SET last_used_at = now() - interval '91 days'")
	require.NoError(t, err)
	idle, err = store.APIKeys().Idle(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"Wärehouse"}, idle)

	second, _, err := s.Create(t.Context(), ada, apikey.Create{Name: "second", Roles: []payment.Role{payment.RoleAdmin}})
	require.NoError(t, err)
	list, next, err := s.Keys(t.Context(), ada, page(t, "", "1"))
	require.NoError(t, err)
	require.Equal(t, second.ID, list[0].ID)
	list, next, err = s.Keys(t.Context(), ada, page(t, next, "1"))
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, made.ID, list[0].ID)

	revoked, err := s.Revoke(t.Context(), of(second), made.ID)
	require.NoError(t, err)
	require.Equal(t, "Wärehouse", revoked.Name)
	_, err = store.APIKeys().KeyByHash(t.Context(), hash)
	require.ErrorIs(t, err, authz.ErrKeyNotFound)
	require.NoError(t, store.APIKeys().KeyUsed(t.Context(), made.ID))
	_, err = s.Revoke(t.Context(), ada, made.ID)
	require.ErrorIs(t, err, authz.ErrKeyNotFound)

	rows, err := db.Query(t.Context(), `SELECT actor || ' ' || action || ' ' || outcome || ' ' || target || ' ' || coalesce(detail->>'name', '') || ' ' || address
		FROM staff_audit ORDER BY position`)
	require.NoError(t, err)
	audited, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{
		"ada api_key.create done " + made.ID.String() + " Wärehouse 192.0.2.7",
		"ada api_key.create done " + second.ID.String() + " second 192.0.2.7",
		"ada api_keys.view done   192.0.2.7", "ada api_keys.view done   192.0.2.7",
		"key:" + second.ID.String() + " api_key.revoke done " + made.ID.String() + " Wärehouse 192.0.2.8",
		"ada api_key.revoke refused " + made.ID.String() + "  192.0.2.7",
	}, audited)
	var stored int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT api_keys::text AS row FROM api_keys UNION ALL SELECT staff_audit::text FROM staff_audit) r
		WHERE row LIKE '%' || $1 || '%'`, text[10:]).Scan(&stored))
	require.Zero(t, stored, "the key is stored nowhere")
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	s, _, db := newService(t)
	past, soon, late := time.Now().Add(-time.Second), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	narrow := of(authz.Key{ID: uuid.New(), Roles: []payment.Role{payment.RoleAdmin}, Scopes: []authz.Scope{"keys:write", "orders:read"}, CreatedBy: "ada", ExpiresAt: &soon})
	good := apikey.Create{Name: "x", Roles: []payment.Role{payment.RoleService}}
	with := func(change func(c *apikey.Create)) apikey.Create {
		c := good
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		who   support.Staff
		cmd   apikey.Create
		field string
		says  string
	}{
		"no name":          {ada, with(func(c *apikey.Create) { c.Name = " " }), "name", "1 to 100"},
		"a long name":      {ada, with(func(c *apikey.Create) { c.Name = strings.Repeat("é", 101) }), "name", "1 to 100"},
		"a hidden name":    {ada, with(func(c *apikey.Create) { c.Name = "a\u202eb" }), "name", "visible"},
		"no role":          {ada, with(func(c *apikey.Create) { c.Roles = nil }), "roles", "service, support and admin"},
		"an unknown role":  {ada, with(func(c *apikey.Create) { c.Roles = []payment.Role{"service", "root"} }), "roles", "service, support and admin"},
		"a customer":       {ada, with(func(c *apikey.Create) { c.Roles = []payment.Role{"service", "customer"} }), "roles", "On-Behalf-Of"},
		"an unknown scope": {ada, with(func(c *apikey.Create) { c.Scopes = []authz.Scope{"orders:read", "orders"} }), "scopes", `"orders" is not in the list`},
		"the past":         {ada, with(func(c *apikey.Create) { c.ExpiresAt = &past }), "expires_at", "future"},
		"all scopes":       {narrow, with(func(c *apikey.Create) { c.ExpiresAt = &soon }), "scopes", "keys:write, orders:read"},
		"a wider scope": {narrow, with(func(c *apikey.Create) {
			c.ExpiresAt, c.Scopes = &soon, []authz.Scope{"orders:write"}
		}), "scopes", "keys:write, orders:read"},
		"no end":      {narrow, with(func(c *apikey.Create) { c.Scopes = []authz.Scope{"orders:read"} }), "expires_at", "not be later"},
		"a later end": {narrow, with(func(c *apikey.Create) { c.Scopes, c.ExpiresAt = []authz.Scope{"orders:read"}, &late }), "expires_at", "not be later"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, text, err := s.Create(t.Context(), c.who, c.cmd)
			var invalid *payment.ValidationError
			require.ErrorAs(t, err, &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, c.field, invalid.Fields[0].Field)
			require.Contains(t, invalid.Fields[0].Message, c.says)
			require.Empty(t, text)
		})
	}
	made, _, err := s.Create(t.Context(), narrow, apikey.Create{Name: "child", Roles: good.Roles, Scopes: []authz.Scope{"keys:read", "orders:read"}, ExpiresAt: &soon})
	require.NoError(t, err)
	require.Equal(t, narrow.Subject+" made by ada", made.CreatedBy)
	require.True(t, authz.SamePerson(made.Actor().Person(), "ada"))

	for _, role := range []payment.Role{payment.RoleCustomer, payment.RoleService, payment.RoleSupport} {
		other := support.Staff{Actor: authz.Actor{Subject: "eve", Roles: []payment.Role{role}}}
		_, _, err := s.Create(t.Context(), other, good)
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, _, err = s.Keys(t.Context(), other, page(t, "", ""))
		require.ErrorIs(t, err, payment.ErrForbidden)
		_, err = s.Revoke(t.Context(), other, made.ID)
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
	var keys int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM api_keys").Scan(&keys))
	require.Equal(t, 1, keys)
}
