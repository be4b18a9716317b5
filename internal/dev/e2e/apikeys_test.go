package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// apiKey is a key as its creation returns it, or a list.
type apiKey struct {
	ID         string   `json:"key_id"`
	Key        string   `json:"key"`
	Prefix     string   `json:"prefix"`
	Scopes     []string `json:"scopes"`
	CreatedBy  string   `json:"created_by"`
	LastUsedAt *string  `json:"last_used_at"`
}

// key creates an API key.
func (c client) key(t *testing.T, body string) (k apiKey) {
	t.Helper()
	a := c.send(t.Context(), http.MethodPost, "/v1/keys", body)
	a.is(t, http.StatusCreated)
	require.NoError(t, json.Unmarshal(a.text, &k))
	return k
}

func (c client) keys(t *testing.T) []apiKey {
	t.Helper()
	a := c.send(t.Context(), http.MethodGet, "/v1/keys", "")
	a.is(t, http.StatusOK)
	var page struct {
		Items []apiKey `json:"items"`
	}
	require.NoError(t, json.Unmarshal(a.text, &page))
	return page.Items
}

// TestAPIKeys pays by a key, at two processes on one database, and revokes the key at one of them.
func TestAPIKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	here, there := r.serve(), r.serve()
	admin := here.as(token("ada", "admin"))
	k := admin.key(t, `{"name":"Shop","roles":["service"]}`)
	require.Equal(t, "ada", k.CreatedBy)
	ofKey := func(s *service) client { return client{base: s.base, token: k.Key, user: "u1"} }
	for _, s := range []*service{here, there} {
		order := unique("A")
		ofKey(s).createOrder(t.Context(), order, unique("order")).is(t, http.StatusCreated)
		a := ofKey(s).pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
		require.Equal(t, "succeeded", a.Status)
		s.customer().read(t.Context(), a.ID).is(t, http.StatusOK)
	}
	lists := func(s *service) answer {
		return s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/orders?limit=1", "")
	}
	for _, s := range []*service{here, there} {
		require.Equal(t, http.StatusForbidden, s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/support/search?q=A-1", "").status)
		require.Equal(t, http.StatusForbidden, s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/keys", "").status)
	}
	ofKey(here).send(t.Context(), http.MethodPost, "/v1/orders", `{"amount":1999,"currency":"EUR"}`, "Idempotency-Key: "+unique("k"), "On-Behalf-Of: -").problem(t, 400, "on-behalf-of-missing")
	eventually(t, "the written use", func() bool { return admin.keys(t)[0].LastUsedAt != nil })
	require.Empty(t, admin.keys(t)[0].Key)

	var all sync.WaitGroup
	var refused atomic.Int64
	for range 200 {
		all.Go(func() {
			if lists := there.as(k.Key).send(context.WithoutCancel(t.Context()), http.MethodGet, "/v1/events?limit=1", ""); lists.status != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	require.Zero(t, refused.Load())

	admin.send(t.Context(), http.MethodDelete, "/v1/keys/"+k.ID, "").is(t, http.StatusOK)
	revoked := time.Now()
	for _, s := range []*service{here, there} {
		eventually(t, "the end of the key", func() bool {
			began := time.Now()
			status := lists(s).status
			// However slow the machine is: no request that begins a second later is accepted.
			require.False(t, status == http.StatusOK && began.Sub(revoked) > time.Second, "accepted %s after it was revoked", began.Sub(revoked))
			return status == http.StatusUnauthorized
		})
	}
	lists(here).problem(t, 401, "unauthenticated")
	admin.send(t.Context(), http.MethodDelete, "/v1/keys/"+k.ID, "").problem(t, 404, "not-found")
	require.Empty(t, admin.keys(t))
	for _, s := range []*service{here, there} {
		require.NotContains(t, s.stderr.String(), k.Key)
		require.Contains(t, s.stderr.String(), "key:"+k.ID, "the log has its name")
	}
	eventually(t, "the refusal", func() bool {
		return one[int](t, r, `SELECT count(*) FROM staff_audit WHERE action = 'token.refused' AND detail->>'refusal' LIKE 'the API key is unknown%'`) > 0
	})
	require.Empty(t, r.naming(t, k.Key), "no table has the key")
}

// TestAPIKeyExpires: a key ends by itself, and is still listed.
func TestAPIKeyExpires(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	admin := s.as(token("ada", "admin"))
	var k apiKey
	var end time.Time
	for life := 2 * time.Second; k.Key == ""; life *= 2 { // on a busy machine a short life may be over before the key is made
		require.Less(t, life, soon)
		end = time.Now().Add(life)
		made := admin.send(t.Context(), http.MethodPost, "/v1/keys", fmt.Sprintf(`{"name":"Shop","roles":["service"],"expires_at":%q}`, end.Format(time.RFC3339Nano)))
		if made.status != http.StatusCreated {
			require.Equal(t, "expires_at", made.problem(t, http.StatusUnprocessableEntity, "validation-failed").Errors[0].Field)
			continue
		}
		require.NoError(t, json.Unmarshal(made.text, &k))
	}
	var last answer
	eventually(t, "the end of the key", func() bool {
		last = s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/orders?limit=1", "")
		return last.status == http.StatusUnauthorized
	})
	require.False(t, time.Now().Before(end))
	require.Contains(t, string(last.text), "expired")
	require.Len(t, admin.keys(t), 1)
}

// TestAPIKeyIsItsCreator: where two persons must agree, an admin and the keys of the same admin are one person.
func TestAPIKeyIsItsCreator(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	c := s.customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	ada, bob := s.as(token("ada", "admin")), s.as(token("bob", "admin"))
	adas := s.as(ada.key(t, `{"name":"a","roles":["admin"]}`).Key)
	child := s.as(adas.key(t, `{"name":"b","roles":["admin"]}`).Key)
	bobs := s.as(bob.key(t, `{"name":"c","roles":["admin"]}`).Key)
	ask := func(by client) (id, requested string) {
		t.Helper()
		asked := by.send(t.Context(), http.MethodPost, "/v1/support/refund-requests", fmt.Sprintf(`{"payment_attempt_id":%q,"amount":100,"reason":"case 4711"}`, a.ID))
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, asked.status, "%s", asked.text)
		var request struct {
			ID string `json:"refund_request_id"`
			By string `json:"requested_by"`
		}
		require.NoError(t, json.Unmarshal(asked.text, &request))
		return request.ID, request.By
	}
	approve := func(by client, id string) answer {
		return by.send(t.Context(), http.MethodPost, "/v1/support/refund-requests/"+id+"/approve", "{}")
	}
	for _, pair := range [][2]client{{ada, adas}, {adas, ada}, {adas, child}, {child, ada}} {
		id, _ := ask(pair[0])
		approve(pair[1], id).problem(t, 409, "second-person-needed")
	}
	id, by := ask(child)
	require.True(t, strings.HasPrefix(by, "key:") && strings.HasSuffix(by, " made by ada"), by)
	approve(bobs, id).is(t, http.StatusOK)
	approved := one[string](t, r, `SELECT actor FROM staff_audit WHERE action = 'refund_request.approve' AND outcome = 'done'`)
	require.Regexp(t, `^key:[0-9a-f-]{36}$`, approved)
	require.Equal(t, 1, one[int](t, r, `SELECT count(*) FROM staff_audit WHERE action = 'api_key.create' AND detail->>'name' = 'c' AND 'key:' || target = $1`, approved))
}

// TestAPIKeyScopes: the scopes narrow a key, and no text in another place than the header Authorization is a key.
func TestAPIKeyScopes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	admin := s.as(token("ada", "admin"))
	k := admin.key(t, `{"name":"Warehouse","roles":["service"],"scopes":["orders:read"]}`)
	require.Equal(t, []string{"orders:read"}, k.Scopes)
	s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/orders?limit=1", "").is(t, http.StatusOK)
	refused := s.as(k.Key).send(t.Context(), http.MethodPost, "/v1/orders", `{"amount":1999,"currency":"EUR"}`, "Idempotency-Key: "+unique("k"), "On-Behalf-Of: u1")
	require.Contains(t, refused.problem(t, 403, "forbidden").Detail, "orders:write")
	for _, path := range []string{"/v1/orders?api_key=", "/v1/orders?access_token=", "/v1/orders?key="} {
		s.as("").send(t.Context(), http.MethodGet, path+k.Key, "", "Authorization: -").problem(t, 401, "unauthenticated")
	}
	s.as(k.Key[:len(k.Key)-1]).send(t.Context(), http.MethodGet, "/v1/orders", "", "X-Request-Id: "+k.Key).problem(t, 401, "unauthenticated")
	s.as(token("sam", "support")).send(t.Context(), http.MethodGet, "/v1/support/search?q="+k.Key, "", "X-Request-Id: "+k.Key)
	require.NotContains(t, s.stderr.String(), k.Key)
	require.Empty(t, r.naming(t, k.Key))
	for body, field := range map[string]string{
		`{"name":"x","roles":["customer"]}`:                          "roles",
		`{"name":"x","roles":["service"],"scopes":["everything"]}`:   "scopes",
		`{"name":"x","roles":["service"],"expires_at":"2001-01-01"}`: "expires_at",
	} {
		p := admin.send(t.Context(), http.MethodPost, "/v1/keys", body).problem(t, 422, "validation-failed")
		require.Equal(t, field, p.Errors[0].Field)
	}
}

// TestConsoleTakesNoAPIKey: the sign-in that takes tokens, as paylatch dev has it, takes no key: a session would outlive it.
func TestConsoleTakesNoAPIKey(t *testing.T) {
	t.Parallel()
	s := openConsole(t)
	k := client{base: s.base, token: token("ada", "admin")}.key(t, `{"name":"a","roles":["admin"]}`)
	refused := newPerson(t, s.base).post("/support/sign-in", "token", k.Key)
	refused.is(t, http.StatusForbidden)
	require.Contains(t, refused.page(), "API keys are for programs")
	newPerson(t, s.base).post("/support/sign-in", "token", token("ada", "admin")).is(t, http.StatusSeeOther)
}

// TestKeysOnly: a service without a way to check tokens accepts keys. The first one is made on the command line.
func TestKeysOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	text := fmt.Sprintf(strings.Replace(settings, "hs256_secret: %s", "keys_only: true, audience: %s", 1), r.dsn, dir, secret, r.gate.URL, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	p := start(t, dir, nil, "serve", "--config", file)
	s := &service{p, "http://" + p.says(t, "serving").Listen}
	printed, code := r.commandLine("key", "create", "--name", "first", "--role", "admin", "--json")
	require.Zero(t, code, printed)
	var k apiKey
	require.NoError(t, json.Unmarshal([]byte(printed), &k))
	k = s.as(k.Key).key(t, `{"name":"shop","roles":["service"]}`)
	s.as(k.Key).send(t.Context(), http.MethodGet, "/v1/orders?limit=1", "").is(t, http.StatusOK)
	s.as(token("ada", "admin")).send(t.Context(), http.MethodGet, "/v1/keys", "").problem(t, 401, "unauthenticated")
}
