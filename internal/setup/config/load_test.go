package config_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

const (
	encryptionKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	secret        = "0123456789abcdef0123456789abcdef"
	webhook       = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)

// write puts the YAML into a file of its own and returns its path.
func write(t *testing.T, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	return path
}

// validationErrors loads the YAML and returns its errors.
func validationErrors(t *testing.T, yaml string, environ ...string) config.ValidationErrors {
	t.Helper()
	_, err := config.Load(write(t, yaml), environ)
	var m config.ValidationErrors
	require.ErrorAs(t, err, &m)
	return m
}

const whole = `
listen: 127.0.0.1:8081
operations_listen: 127.0.0.1:9091
environment: test
database_url: postgres://u:p@db/paylatch
data_dir: /var/lib/paylatch
encryption_keys: [{id: k2, key: ` + encryptionKey + `}, {id: k1, key: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY}]
auth: {hs256_secret: "${SECRET}", hs256: [{id: shop, secret: of the shop in this test of the file, roles: [customer, service]}], jwks_url: https://id.example/keys, issuer: https://id.example, audience: paylatch}
default_account: sandbox
accounts:
  - {name: sandbox, kind: sandbox, base_url: http://127.0.0.1:9090, webhook_secrets: [` + webhook + `]}
  - {name: stripe-eu, kind: stripe, api_key: ${STRIPE_KEY}, webhook_secrets: [whsec_new, whsec_old], late_success: auto_refund, tolerance: 10m, offered: true}
  - {name: partner, kind: standard, webhook_secrets: [` + webhook + `], allowed_ips: [10.1.2.3/8, 192.0.2.1]}
  - {name: ru, kind: tbank, terminal_key: 0012, webhook_secrets: [1e3]}
idempotency: {wait: 6s, lease: 31s, quota: {new_keys: 601, per: 2m}}
provider_timeout: 11s
reconcile: {after: 12s, every: 7s}
log: {level: debug, format: console}
shutdown_timeout: 21s
trusted_proxies: [10.0.0.0/8, "::1"]
cors_origins: [https://shop.example, "http://localhost:3000"]
max_waiters: 500
tracing: {endpoint: "http://collector:4318", sample: 0.1, headers: "api-key=k,x=y%20z"}
orders: {created_by: [service, customer]}
`

func TestLoadReadsEverything(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, whole), []string{"SECRET=" + secret, "STRIPE_KEY=sk_test_1"})
	require.NoError(t, err)

	require.Equal(t, "127.0.0.1:8081", c.Listen)
	require.Equal(t, "postgres://u:p@db/paylatch", string(c.DatabaseURL))
	require.Equal(t, "/var/lib/paylatch", c.DataDir)
	require.Equal(t, "127.0.0.1:9091", c.OperationsListen)
	require.Equal(t, config.Test, c.Environment)
	require.Len(t, c.EncryptionKeys, 2)
	require.Equal(t, "k2", c.EncryptionKeys[0].ID)
	require.Equal(t, secret, string(c.EncryptionKeys[1].Bytes()))
	require.Equal(t, []config.HS256Key{
		{ID: "shop", Secret: "of the shop in this test of the file", Roles: []string{"customer", "service"}},
		{Secret: config.Secret(secret), Roles: []string{"customer", "service", "support", "admin"}},
	}, c.Auth.Ring())
	require.Equal(t, "https://id.example/keys", c.Auth.JWKSURL)
	require.Equal(t, config.Quota{NewKeys: 601, Per: 2 * time.Minute}, c.Idempotency.Quota)
	require.Equal(t, 31*time.Second, c.Idempotency.Lease)
	require.Equal(t, config.Reconcile{After: 12 * time.Second, Every: 7 * time.Second}, c.Reconcile)
	require.Equal(t, config.Log{Level: "debug", Format: "console"}, c.Log)
	require.Equal(t, "::1/128", c.TrustedProxies[1].String())
	require.Equal(t, []string{"https://shop.example", "http://localhost:3000"}, c.CORSOrigins)
	require.Equal(t, 500, c.MaxWaiters)
	require.Equal(t, config.Tracing{Endpoint: "http://collector:4318", Protocol: "http/protobuf", Sample: 0.1, Headers: "api-key=k,x=y%20z"}, c.Tracing)
	require.Equal(t, []string{"service", "customer"}, c.Orders.CreatedBy)

	require.Len(t, c.Accounts, 4)
	stripe, partner, ru := c.Accounts[1], c.Accounts[2], c.Accounts[3]
	require.Equal(t, "sk_test_1", string(stripe.Fields["api_key"]))
	require.Equal(t, []config.Secret{"whsec_new", "whsec_old"}, stripe.WebhookSecrets)
	require.Equal(t, 10*time.Minute, stripe.Tolerance)
	require.Equal(t, "auto_refund", stripe.LateSuccess)
	require.True(t, stripe.Offered)
	require.Equal(t, "manual", partner.LateSuccess)
	require.False(t, partner.Offered)
	require.Equal(t, "10.0.0.0/8", partner.AllowedIPs[0].String())
	require.Equal(t, "192.0.2.1/32", partner.AllowedIPs[1].String())
	require.Equal(t, "0012", string(ru.Fields["terminal_key"]), "an id keeps its zeros")
	require.Equal(t, []config.Secret{"1e3"}, ru.WebhookSecrets, "a secret that looks like a number stays a text")
}

func TestReadDefaults(t *testing.T) {
	t.Parallel()
	c, err := config.Read("", nil, nil)
	require.NoError(t, err)
	require.Equal(t, &config.Config{
		Listen: "127.0.0.1:8080", DataDir: ".paylatch", Orders: config.Orders{CreatedBy: []string{"service"}},
		Idempotency:     config.Idempotency{Wait: 5 * time.Second, Lease: 30 * time.Second, Quota: config.Quota{NewKeys: 600, Per: time.Minute}, ReusedStatus: 409},
		TimeZone:        "UTC",
		ProviderTimeout: 10 * time.Second,
		Reconcile:       config.Reconcile{After: 10 * time.Second, Every: 5 * time.Second},
		Console:         config.Console{OIDC: config.OIDC{Scopes: []string{"openid", "profile"}, RolesClaim: "roles", SubjectClaim: "sub"}},
		Retention:       config.Retention{EventBytes: 90 * 24 * time.Hour, Events: 30 * 24 * time.Hour, Audit: 400 * 24 * time.Hour, Log: 400 * 24 * time.Hour},
		SilentAfter:     30 * time.Minute,
		Log:             config.Log{Level: "info", Format: "json"},
		Tracing:         config.Tracing{Protocol: "http/protobuf", Sample: 1},
		ShutdownTimeout: 20 * time.Second, MaxWaiters: 20_000, Database: config.Database{Pooler: config.NoPooler, Durability: config.ServerDurability},
	}, c)
}

func TestEnvironmentWins(t *testing.T) {
	t.Parallel()
	path := write(t, needed+"listen: :1\ndata_dir: here\nauth: {hs256_secret: "+secret+", issuer: file}\nidempotency: {quota: {new_keys: 5}}\naccounts: [{name: a, kind: stripe, api_key: x}]")
	c, err := config.Load(path, []string{
		"PAYLATCH_LISTEN=:2", "PAYLATCH_AUTH_ISSUER=env", "PAYLATCH_IDEMPOTENCY_QUOTA_NEW_KEYS=7", "PAYLATCH_DATABASE_URL=postgres://db/x",
		"PAYLATCH_TRUSTED_PROXIES=[10.0.0.0/8]", "PAYLATCH_DATA_DIR=", "PAYLATCH_AUTH_HS256_SECRET=${NOT_REPLACED_IN_THE_ENVIRONMENT}",
		`PAYLATCH_ENCRYPTION_KEYS=[{"id":"k9","key":"` + encryptionKey + `"}]`,
		`PAYLATCH_AUTH_HS256=[{id: a, secret: from the environment as a list there, roles: [service]}]`,
		`PAYLATCH_ACCOUNTS=[{"name":"b","kind":"sandbox","base_url":"http://127.0.0.1:9","webhook_secrets":["` + webhook + `"]}]`,
	})
	require.NoError(t, err)
	require.Equal(t, ":2", c.Listen)
	require.Equal(t, "env", c.Auth.Issuer)
	require.Equal(t, "${NOT_REPLACED_IN_THE_ENVIRONMENT}", string(c.Auth.HS256Secret))
	require.Equal(t, 7, c.Idempotency.Quota.NewKeys)
	require.Equal(t, time.Minute, c.Idempotency.Quota.Per, "its neighbours keep their defaults")
	require.Equal(t, "postgres://db/x", string(c.DatabaseURL))
	require.Equal(t, "k9", c.EncryptionKeys[0].ID)
	require.Len(t, c.Auth.Ring(), 2)
	require.Equal(t, []string{"service"}, c.Auth.HS256[0].Roles)
	require.Equal(t, "here", c.DataDir, "an empty variable is an absent one")
	require.Len(t, c.TrustedProxies, 1)
	require.Len(t, c.Accounts, 1)
	require.Equal(t, "b", c.Accounts[0].Name)
	require.Equal(t, "b", c.DefaultAccount, "the only account that can charge")
}

// TestEncryptionKeyInEitherAlphabet: openssl makes the one, other tools the other,
// some without its end.
func TestEncryptionKeyInEitherAlphabet(t *testing.T) {
	t.Parallel()
	key := append(bytes.Repeat([]byte{0xfb, 0xe0}, 15), 0xff, 0xff)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for _, key := range [][]byte{key, bytes.Repeat([]byte{0xfb, 0xef, 0xbe, 0}, 8), make([]byte, 32)} {
			k := config.EncryptionKey{Key: config.Secret(encoding.EncodeToString(key))}
			require.Equal(t, key, k.Bytes())
		}
	}
}

func TestWhichFile(t *testing.T) {
	t.Parallel()
	fromVariable, fromFlag := write(t, "listen: :1"), write(t, "listen: :2")

	c, err := config.Read("", []string{"PAYLATCH_CONFIG=" + fromVariable}, nil)
	require.NoError(t, err)
	require.Equal(t, ":1", c.Listen)

	c, err = config.Read(fromFlag, []string{"PAYLATCH_CONFIG=" + fromVariable}, nil)
	require.NoError(t, err)
	require.Equal(t, ":2", c.Listen)

	_, err = config.Read(filepath.Join(t.TempDir(), "none.yaml"), nil, nil)
	require.ErrorContains(t, err, "none.yaml")
}

func TestExpand(t *testing.T) {
	t.Parallel()
	env := []string{"A=one", "B=${A}", "LIST=[x, y]", "YAML=a: {b: c}"}
	for text, want := range map[string]string{
		"${A}":        "one",
		"x${A}y${A}z": "xoneyonez",
		"${B}":        "${A}",
		"a$b$$c$":     "a$b$$c$",
		"$${A}":       "${A}",
		"$A":          "$A",
		"'${YAML}'":   "a: {b: c}",
		"${YAML}":     "a: {b: c}",
		"'$${A'":      "${A",
	} {
		c, err := config.Read(write(t, "auth: {issuer: \n"+text+"\n}"), env, nil)
		require.NoError(t, err, text)
		require.Equal(t, want, c.Auth.Issuer, text)
	}
	c, err := config.Read(write(t, "accounts: [{name: a, kind: stripe, webhook_secrets: '${LIST}'}]"), env, nil)
	require.NoError(t, err)
	require.Equal(t, []config.Secret{"x", "y"}, c.Accounts[0].WebhookSecrets)
}

func TestForeignVariablesAreLeftAlone(t *testing.T) {
	t.Parallel()
	_, err := config.Read("", []string{
		"PAYLATCH_TEST_DATABASE_URL=x", "PAYLATCH_TESTDB_OWNER=x", "PAYLATCH_TOOLS=x", "PAYLATCH_VECTORS=x", "HOME=/", "broken",
		"PAYLATCH_SERVICE_HOST=10.0.0.1", "PAYLATCH_SERVICE_PORT=8080", "PAYLATCH_SERVICE_PORT_HTTP=8080",
		"PAYLATCH_PORT=tcp://10.0.0.1:8080", "PAYLATCH_PORT_8080_TCP_ADDR=10.0.0.1", "PAYLATCH_SANDBOX_PORT_9090_TCP=x",
	}, nil)
	require.NoError(t, err)
}

func TestDurationsInDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "2160h": 90 * 24 * time.Hour} {
		c, err := config.Read("", []string{"PAYLATCH_SILENT_AFTER=" + text}, nil)
		if want == 0 {
			require.ErrorContains(t, err, "silent_after", text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, c.SilentAfter, text)
	}
	for _, text := range []string{"d", "-1d", "1.5d", "1dd", "1d5", "99999d"} {
		_, err := config.Read("", []string{"PAYLATCH_SILENT_AFTER=" + text}, nil)
		require.ErrorContains(t, err, "silent_after: must be a duration", text)
	}
}
