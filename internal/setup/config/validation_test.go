package config_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

const good = "auth: {hs256_secret: " + secret + "}\n" + oneAccount

const oneAccount = needed + "accounts: [{name: a, kind: stripe, api_key: sk}]\n"

// needed is the required keys of the service, with the environment test.
const needed = "environment: test\ndatabase_url: postgres://db/x?sslmode=require\nencryption_keys: [{id: k1, key: " + encryptionKey + "}]\n"

func TestEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	m := validationErrors(t, `
listen: nowhere
databse_url: postgres://x
auth: {hs256_secret: tooshort, jwks_url: "ftp://x"}
default_account: nobody
accounts: []
idempotency: {wait: 5, lease: 10s, quota: {new_keys: many}}
provider_timeout: 10s
reconcile: [1]
log: {level: loud}
trusted_proxies: [10.0.0.0/99]
encryption_keys: [{id: k1, key: c2hvcnQ=}]
`, "PAYLATCH_LISTENN=:1", "PAYLATCH_PROVIDER_TIMEOUT=30s")
	want := []string{
		"PAYLATCH_LISTENN: no such variable; did you mean PAYLATCH_LISTEN?",
		"idempotency.wait: must be a duration with its unit, such as 500ms, 10s, 5m or 90d",
		"idempotency.quota.new_keys: must be a whole number",
		"reconcile: must be a mapping (key: value)",
		"trusted_proxies[0]: must be an address or a network, such as 10.0.0.0/8",
		"databse_url: no such key; did you mean database_url?",
		"auth.hs256_secret: is refused in live, because its tokens may have any role: use auth.hs256 instead, such as [{id: a, secret: …, roles: [customer, service]}]",
		"listen: must be host:port, such as 127.0.0.1:8080 or :8080",
		"encryption_keys[0].key: must be the base64 of 32 bytes; `openssl rand -base64 32` makes one",
		"auth.jwks_url: must be an address that begins with https:// or http://",
		"auth.issuer: is required with jwks_url: the iss of the issuer's tokens",
		"auth.audience: is required with jwks_url: without it paylatch would accept tokens for other services; register a name for this service at the issuer",
		"provider_timeout: must be shorter than idempotency.lease (10s): a call must end before another runner takes over",
		"log.level: must be one of trace, debug, info, warn, error, disabled",
		"default_account: is not among the accounts ()",
		"database_url: is missing: set a PostgreSQL, such as postgres://user:password@host/database; only `paylatch dev` starts its own",
		"accounts: is missing: configure at least one account at a provider",
	}
	require.Equal(t, want, []string(m))
	require.Equal(t, strings.Join(want, "\n"), m.Error())
}

// without is good less one of its keys.
func without(key string) string {
	return regexp.MustCompile("(?m)^"+key+":.*\n").ReplaceAllString(good, "")
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ yaml, want string }{
		"no way to check tokens":    {oneAccount, "auth: set hs256, jwks_url or issuers"},
		"a role for no prices":      {good + "orders: {created_by: [service, support]}", "orders.created_by[1]: must be one of service, customer"},
		"a right that is none":      {good + "orders: {customers_may: [capture_manual, confirm_parts]}", "orders.customers_may[1]: must be one of capture_manual, cancel_hold, confirm, confirm_part; did you mean confirm_part?"},
		"an app's script":           {good + "orders: {return_schemes: [myshop, javascript]}", "orders.return_schemes[1]: must be the scheme of an app"},
		"an app's address":          {good + "orders: {return_schemes: ['myshop://paid']}", "orders.return_schemes[0]: must be the scheme of an app"},
		"neither true nor false":    {good[:len(good)-3] + ", offered: yes}]\n", "accounts[0].offered: must be true or false"},
		"unset variable":            {good + "log: {level: '${NOT_SET}'}", "log.level: the environment variable NOT_SET is not set"},
		"empty variable":            {good + "log: {level: '${EMPTY}'}", "log.level: the environment variable EMPTY is not set"},
		"unset in a list":           {good + "trusted_proxies: [10.0.0.0/8, '${NOT_SET}']", "trusted_proxies[1]: the environment variable NOT_SET is not set"},
		"not a name":                {good + "data_dir: '${A:-b}'", "data_dir: ${…} must hold the name"},
		"reference without an end":  {good + "data_dir: '${A'", "data_dir: ${…} must hold the name"},
		"no mapping":                {"- a", "the file must contain a mapping"},
		"text for a mapping":        {"auth: x\n" + oneAccount, "auth: must be a mapping"},
		"mapping for a text":        {good + "listen: {a: b}", "listen: must be a single value"},
		"text for a list":           {good + "trusted_proxies: 10.0.0.0/8", "trusted_proxies: must be a list"},
		"empty item":                {good + "trusted_proxies: ['']", "trusted_proxies[0]: is empty"},
		"twice":                     {good + "listen: :1\nlisten: :2", "listen: occurs twice; remove one of the two (line 7)"},
		"an alias of itself":        {good + "trusted_proxies: &a [*a]", "nested too deeply"},
		"two documents":             {good + "---\nlisten: :1", "the file has more than one document"},
		"tabs":                      {"\tlisten: :1", "the file is not YAML: yaml: found character"},
		"no time zone":              {good + "time_zone: Mars/Base", "time_zone: must be a time zone of the IANA database, such as Europe/Berlin or UTC"},
		"the machine's time zone":   {good + "time_zone: Local", "time_zone: must be a time zone of the IANA database, such as Europe/Berlin or UTC"},
		"another reused status":     {good + "idempotency: {reused_status: 400}", "idempotency.reused_status: must be 409 or 422"},
		"negative":                  {good + "idempotency: {wait: -1s}", "idempotency.wait: must not be negative"},
		"zero":                      {good + "reconcile: {every: 0s}", "reconcile.every: must be longer than 0"},
		"no life":                   {good[:len(good)-3] + ", expiry: {slow: 0s}}]\n", "accounts[0].expiry.slow: must be longer than 0"},
		"fewer than none":           {good[:len(good)-3] + ", rate_limit: {per_second: -1}}]\n", "accounts[0].rate_limit.per_second: must not be negative"},
		"no time to count in":       {good + "idempotency: {quota: {per: 999us}}", "idempotency.quota.per: must be at least 1ms"},
		"a burst of nothing":        {good[:len(good)-3] + ", rate_limit: {burst: 5}}]\n", "accounts[0].rate_limit.burst: has no effect without per_second"},
		"origin in other letters":   {good + "cors_origins: ['https://bücher.example']", "cors_origins[0]: must be an origin"},
		"origin without a port":     {good + "cors_origins: ['https://shop.example:99999']", "cors_origins[0]: must be an origin"},
		"origin with 0 first":       {good + "cors_origins: ['https://shop.example:08443']", "cors_origins[0]: must be an origin"},
		"no keys":                   {good + "idempotency: {quota: {new_keys: 0}}", "new_keys: must be at least 1"},
		"database":                  {without("database_url") + "database_url: mysql://x", "database_url: must be postgres://"},
		"the way of queries":        {without("database_url") + "database_url: postgres://u:p@h/db?default_query_exec_mode=simple_protocol", "database_url: default_query_exec_mode=simple_protocol changes query results"},
		"a certificate alone":       {needed + "tls: {cert_file: a.pem}", "tls.key_file: is required with cert_file"},
		"clients' certificates":     {needed + "tls: {client_ca_file: a.pem}", "tls.cert_file: is required"},
		"a pooler alone":            {needed + "database: {pooler: transaction}", "database.direct_url: is missing"},
		"another pooler":            {needed + "database: {pooler: session}", "database.pooler: must be one of none, transaction"},
		"no reason":                 {needed + "database: {durability: storage}", "database.durability_reason: is missing"},
		"an empty reason":           {needed + "database: {durability: storage, durability_reason: ' '}", "database.durability_reason: is missing"},
		"a reason for nothing":      {needed + "database: {durability_reason: Aurora}", "database.durability_reason: is only for"},
		"no such durability":        {needed + "database: {durability: hope}", "database.durability: must be"},
		"a standby that is none":    {needed + "database: {read_url: mysql://x}", "database.read_url: must be postgres://"},
		"database's option":         {without("database_url") + "database_url: postgres://u:p@h/db?pool_max_conns=ten", "database_url: must be postgres://"},
		"database, key and value":   {without("database_url") + "database_url: host=h password=a b", "database_url: must be postgres://"},
		"no waiters":                {good + "max_waiters: 0", "max_waiters: must be at least 1"},
		"origin with a path":        {good + "cors_origins: [https://shop.example, 'https://shop.example/']", "cors_origins[1]: must be an origin"},
		"origin without a scheme":   {good + "cors_origins: [shop.example]", "cors_origins[0]: must be an origin"},
		"origin in upper case":      {good + "cors_origins: ['https://Shop.example']", "cors_origins[0]: must be an origin"},
		"origin of everybody":       {good + "cors_origins: ['*']", "cors_origins[0]: must be an origin"},
		"origins by a pattern":      {good + "cors_origins: ['https://*.example']", "cors_origins[0]: must be an origin"},
		"origin with its own port":  {good + "cors_origins: ['https://shop.example:443']", "cors_origins[0]: must be an origin"},
		"origin with half a port":   {good + "cors_origins: ['https://shop.example:']", "cors_origins[0]: must be an origin"},
		"as long as the lease":      {good + "provider_timeout: 30s", "provider_timeout: must be shorter than idempotency.lease (30s)"},
		"traces to no address":      {good + "tracing: {endpoint: collector}", "tracing.endpoint: must be an address"},
		"traces with a user":        {good + "tracing: {endpoint: 'http://u:p@collector:4318'}", "tracing.endpoint: must be an address without user, query or fragment"},
		"traces by another way":     {good + "tracing: {protocol: grpc}", "tracing.protocol: must be one of http/protobuf"},
		"more than all traces":      {good + "tracing: {sample: 10}", "tracing.sample: must be from 0 to 1"},
		"no share of traces":        {good + "tracing: {sample: NaN}", "tracing.sample: must be from 0 to 1"},
		"some traces":               {good + "tracing: {sample: some}", "tracing.sample: must be a number, such as 0.1"},
		"a header without a value":  {good + "tracing: {headers: secret}", "tracing.headers: must be name=value"},
		"no such format":            {good + "log: {format: xml}", "log.format: must be one of json, console"},
		"origin with a user":        {good + "cors_origins: ['https://u:p@shop.example']", "cors_origins[0]: must be an origin"},
		"no environment":            {without("environment") + "environment: prod", "environment: must be one of live, test, dev"},
		"operations without a port": {good + "operations_listen: here", "operations_listen: must be host:port"},
		"operations at the API's":   {good + "operations_listen: 127.0.0.1:8080", "operations_listen: equals listen"},
		"port":                      {good + "listen: '127.0.0.1:99999'", "listen: must be host:port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := validationErrors(t, tc.yaml, "EMPTY=")
			require.Contains(t, m[0], tc.want)
		})
	}
}

func TestLogsAreKeptForAMonthAtLeast(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"retention.audit", "retention.log"} {
		variable := "PAYLATCH_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		require.Contains(t, validationErrors(t, good, variable+"=719h"), key+": must be at least 720h0m0s (30 days)")
		_, err := config.Load(write(t, good), []string{variable + "=30d"})
		require.NoError(t, err)
	}
}

// A duration may not be zero, and a count may not be negative.
func TestTimesAndCountsHaveALeast(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"idempotency.lease", "idempotency.quota.per", "provider_timeout", "reconcile.after", "reconcile.every",
		"retention.event_bytes", "retention.events", "silent_after", "shutdown_timeout",
	} {
		variable := "PAYLATCH_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		require.Contains(t, validationErrors(t, good, variable+"=0s"), key+": must be longer than 0")
	}
	for key, want := range map[string]string{
		"expiry: {awaiting_customer: 0s}": "expiry.awaiting_customer: must be longer than 0", "expiry: {authorized: 0s}": "expiry.authorized: must be longer than 0",
		"expiry: {slow: 0s}": "expiry.slow: must be longer than 0", "breaker: {open_for: 0s}": "breaker.open_for: must be longer than 0",
		"breaker: {failures: -1}": "breaker.failures: must not be negative", "rate_limit: {per_second: -1}": "rate_limit.per_second: must not be negative",
		"rate_limit: {burst: -1}": "rate_limit.burst: must not be negative",
	} {
		require.Equal(t, config.ValidationErrors{"accounts[0]." + want}, validationErrors(t, good[:len(good)-3]+", "+key+"}]\n"))
	}
}

func TestMistakesOfTheConsolesSignIn(t *testing.T) {
	t.Parallel()
	const (
		issuer   = "issuer: 'https://id.example', "
		client   = "client_id: paylatch, "
		redirect = "redirect_url: 'https://pay.example/support/sign-in/callback', "
	)
	_, err := config.Load(write(t, good+"console: {oidc: {"+issuer+client+redirect+"}}"), nil)
	require.NoError(t, err)
	for yaml, want := range map[string]string{
		client:            "console.oidc.issuer: is missing: without it nobody can sign in",
		redirect:          "console.oidc.issuer: is missing: without it nobody can sign in",
		issuer + redirect: "console.oidc.client_id: is missing: without it the provider can't identify paylatch",
		issuer + client:   "console.oidc.redirect_url: must be the service's public address, and end with /support/sign-in/callback",
		issuer + client + redirect + "scopes: [profile]":                       "console.oidc.scopes: must contain openid",
		"issuer: id.example, " + client + redirect:                             "console.oidc.issuer: must be an address that begins with https:// or http://",
		issuer + client + "redirect_url: pay.example/support/sign-in/callback": "console.oidc.redirect_url: must be an address that begins with https:// or http://",
	} {
		require.Equal(t, config.ValidationErrors{want}, validationErrors(t, good+"console: {oidc: {"+yaml+"}}"))
	}
}

func TestOneMistakeIsToldOnce(t *testing.T) {
	t.Parallel()
	m := validationErrors(t, needed+`
auth: {hs256_secret: "${NOT_SET}"}
accounts: [{name: a, kind: standard, webhook_secrets: ["${NOT_SET_EITHER}"]}]
idempotency: {lease: soon}
provider_timeout: 40s
`)
	require.Equal(t, config.ValidationErrors{
		"auth.hs256_secret: the environment variable NOT_SET is not set",
		"accounts[0].webhook_secrets[0]: the environment variable NOT_SET_EITHER is not set",
		"idempotency.lease: must be a duration with its unit, such as 500ms, 10s, 5m or 90d",
	}, m)
}

func TestMistakesShowNoSecret(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{
		"forgotten blank":   "accounts: [{name: a, kind: stripe, api_key:sk_live_HUSH}]",
		"alias":             "accounts: [{name: a, kind: stripe, api_key: *sk_live_HUSH}]",
		"tag":               "provider_timeout: !!int sk_live_HUSH",
		"wrong type":        "provider_timeout: sk_live_HUSH",
		"wrong kind":        "accounts: [{name: sk_live_HUSH, kind: sk_live_HUSH, api_key: x}]",
		"wrong place":       "accounts: [sk_live_HUSH]",
		"short":             "auth: {hs256_secret: sk_live_HUSH}",
		"database":          "database_url: 'postgres://u:sk_live_HUSH%zz@db/x'",
		"database, no port": "database_url: 'http://u:sk_live_HUSH@db:x'",
		"database, quoted":  `database_url: 'host=h user=u password=''it\\''s sk_live_HUSH'' sslmode=on'`,
		"url":               "accounts: [{name: a, kind: sandbox, base_url: 'http://u:sk_live_HUSH%zz@x'}]",
		"verifier":          "accounts: [{name: a, kind: standard, webhook_secrets: [whsec_sk_live_HUSH%%%]}]",
		"key":               "encryption_keys: [{id: sk_live_HUSH!, key: sk_live_HUSH}]",
		"quoted":            "listen: \"sk_live_HUSH",
		"ring":              "auth: {hs256: [{id: sk_live_HUSH!, secret: sk_live_HUSH, roles: [sk_live_HUSH]}]}",
		"live":              "accounts: [{name: a, kind: stripe, api_key: sk_test_HUSH}, {name: b, kind: tbank, terminal_key: HUSHDEMO, webhook_secrets: [HUSH]}]",
		"list in the text":  "accounts: '[{sk_live_HUSH'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := validationErrors(t, yaml)
			require.NotContains(t, m.Error(), "HUSH")
		})
	}
}

func FuzzFileNeverPanics(f *testing.F) {
	f.Add(whole)
	f.Add("a: &a [*a]\n<<: *a")
	f.Add("accounts: '[{'")
	f.Fuzz(func(t *testing.T, yaml string) {
		c, err := config.Load(write(t, yaml), nil)
		require.NotNil(t, c)
		if err == nil {
			require.NotEmpty(t, c.Accounts)
		}
	})
}
